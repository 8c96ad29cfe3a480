#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gnnbench/batches/source.hpp>
#include <gnnbench/batches/subgraph.hpp>
#include <gnnbench/strategy.hpp>

namespace gnnbench {

/// What one step trains on, on the host: a subgraph, normalised by itself, and its vertices' data.
struct Batch {
    std::int64_t item = -1;
    std::vector<GlobalId> vertices;          ///< ascending; a row of every other member is a position here
    Csr forward;                             ///< Â of the subgraph
    std::optional<Csr> backward;             ///< its transpose; none where Â is symmetric
    std::vector<float> features;             ///< [vertices × f_0], normalised as the model wants
    std::vector<std::int32_t> labels;        ///< of one label a vertex; else none
    std::vector<std::uint8_t> label_matrix;  ///< [vertices × classes] where a vertex may have several; else none
    std::vector<Split> split;
    std::int64_t samples = 0;  ///< train vertices

    std::int64_t rows() const { return static_cast<std::int64_t>(vertices.size()); }
};

struct BatchSettings {
    /// λ: Â's diagonal is multiplied by 1 + λ. (Cluster-GCN, equation 11: Ã + λ diag(Ã))
    double diagonal_enhancement = 0;
};

/// No batch of a source has more nonzeros of Â: where sets are fixed, edges between vertices of one set, counted, and a
/// diagonal; else the edges of the most connected vertices.
std::int64_t most_batch_nonzeros(const Problem& problem, const BatchSource& source);

/// Prepares batches of a dataset on the host. Subgraphs that come again are made once, at construction.
class BatchMaker {
public:
    /// `problem`'s data and `source` must outlive it.
    BatchMaker(const Problem& problem, const BatchSource& source, const BatchSettings& settings);
    /// Not from two threads at once.
    std::unique_ptr<Batch> make(std::int64_t item);

private:
    const Subgraph& subgraph(std::int64_t item);

    DatasetView data_;
    ModelSpec model_;
    BatchSettings settings_;
    const BatchSource& source_;
    SubgraphMaker subgraphs_;
    std::vector<Subgraph> fixed_;  ///< by BatchSource::fixed_set
    Subgraph other_;               ///< the last that is none of them
};

/// Prepares the next batch on a thread of its own while the previous one trains.
class BatchLoader {
public:
    /// Both must outlive it.
    BatchLoader(BatchMaker& maker, Trace& trace) : maker_(maker), trace_(trace) {}
    ~BatchLoader();
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// The batch of `item`, prepared before if it was expected. Time that the caller waits for it is phase `sampling`.
    std::unique_ptr<Batch> take(std::int64_t item);
    /// Starts to prepare what is likely taken next. Another item may be taken instead, which then is prepared while the
    /// caller waits.
    void expect(std::int64_t item);

    std::int64_t taken() const { return taken_; }
    /// Of those, how many had been expected.
    std::int64_t foreseen() const { return foreseen_; }

private:
    std::unique_ptr<Batch> joined();

    BatchMaker& maker_;
    Trace& trace_;
    std::jthread thread_;
    std::int64_t expected_ = -1;
    std::unique_ptr<Batch> prepared_;
    std::exception_ptr error_;
    std::int64_t taken_ = 0, foreseen_ = 0;
};

}  // namespace gnnbench
