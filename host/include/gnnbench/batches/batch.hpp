#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/batches/source.hpp>
#include <gnnbench/batches/ahead.hpp>
#include <gnnbench/batches/subgraph.hpp>
#include <gnnbench/batches/vertices.hpp>
#include <gnnbench/strategy.hpp>

namespace gnnbench {

/// A subgraph as training multiplies by it, normalised by itself.
struct BatchMatrices {
    Csr forward;                  ///< Â of the subgraph
    std::optional<Csr> backward;  ///< its transpose; none where Â is symmetric
};

/// What one step trains on, on the host: a subgraph and its vertices' data.
struct Batch {
    std::int64_t item = -1;
    BatchVertices vertices;  ///< a row or column of the matrices is a position here
    std::shared_ptr<const BatchMatrices> matrices;
    std::int64_t samples = 0;  ///< train vertices whose loss counts

    std::int64_t rows() const { return vertices.rows(); }
};

struct BatchSettings {
    bool features = true;  ///< false: their values are left out, for a back end that holds none
    /// λ: Â's diagonal is multiplied by 1 + λ. (Cluster-GCN, equation 11: Ã + λ diag(Ã))
    double diagonal_enhancement = 0;
};

/// Why a strategy on batches does not support a setting; empty if it does.
std::string batches_why_unsupported(const Setting& setting);

/// What no set of `count` of the given rows has more of: the entries of those with the most, each in up to `columns`
/// columns. `degrees`: a row's entries.
std::int64_t most_entries(std::vector<std::int64_t> degrees, std::int64_t count, std::int64_t columns);

/// No batch of a source has more nonzeros of Â: where sets are fixed, edges between vertices of one set, counted, and a
/// diagonal; else the edges of the most connected vertices. A problem has one source: where ranks share its set-up, they
/// count once.
std::int64_t most_batch_nonzeros(const Problem& problem, const BatchSource& source);

/// Prepares batches of a dataset on the host. The matrices of sets that come again are made once, at construction, and
/// kept: 12 bytes for each entry within a set, twice where Â is not symmetric. Ranks that share a problem's set-up share
/// them.
class BatchMaker {
public:
    /// `problem`'s data and `source` must outlive it.
    BatchMaker(const Problem& problem, const BatchSource& source, const BatchSettings& settings);
    /// Not from two threads at once.
    std::unique_ptr<Batch> make(std::int64_t item);

private:
    struct FixedSet {
        std::vector<GlobalId> vertices;
        std::shared_ptr<const BatchMatrices> matrices;
    };
    struct FixedSets;
    FixedSet set_of(std::int64_t item);
    FixedSet normalised(Subgraph subgraph) const;

    DatasetView data_;
    ModelSpec model_;
    BatchSettings settings_;
    const BatchSource& source_;
    SubgraphMaker subgraphs_;
    std::shared_ptr<const std::vector<FixedSet>> fixed_;  ///< by BatchSource::fixed_set
};

/// Prepares the next batch while the previous one trains. `maker` must outlive it.
inline PreparedAhead<Batch> prepared_ahead(BatchMaker& maker, Trace& trace) {
    return {[&maker](std::int64_t item) { return maker.make(item); }, trace};
}

}  // namespace gnnbench
