#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/simulation/expected_graph.hpp>

#include "data/expectation.hpp"
#include "spec/cell.hpp"

namespace gnnbench {

/// A dataset that is only expected, as ranks see one. Its arrays are addresses without memory, so that sizes are those of
/// the whole dataset and a stray read ends the process with a fault.
class ExpectedWorkload {
public:
    explicit ExpectedWorkload(ExpectedDataset dataset);
    ~ExpectedWorkload();
    ExpectedWorkload(const ExpectedWorkload&) = delete;
    ExpectedWorkload& operator=(const ExpectedWorkload&) = delete;

    const ExpectedDataset& dataset() const { return dataset_; }
    const DatasetView& view() const { return view_; }
    /// Vertices that are trained on, if they are as many as generators make by default.
    std::int64_t train_vertices() const;

private:
    template <class T>
    std::span<const T> reserve(std::int64_t count);

    struct Reserved {
        void* data;
        std::size_t bytes;
    };
    ExpectedDataset dataset_;
    std::vector<Reserved> reserved_;
    DatasetView view_;
};

/// The graph under this cell's partitioner, in so many parts.
ExpectedGraph expected_under(const ExpectedDataset& dataset, const Cell& cell, Part parts);
/// So many parts of it, of which only sizes are known.
IndexMap expected_parts(const ExpectedGraph& graph, Part parts);

/// Sums over all pairs of parts. Standard deviations of blocks add up as if all were wrong together.
struct ExpectedQuality {
    PartitionQuality quality;             ///< its connectivity − 1 is the rows that all parts need of others
    double halo_sd = 0, nonzeros_sd = 0;  ///< two standard deviations ÷ mean, at most: of the halo, of a block
    std::optional<PartImbalance> imbalance = {};  ///< nothing: parts are alike, as none was told
};
ExpectedQuality expected_quality(const ExpectedGraph& graph, const IndexMap& parts, bool loops);
/// "expected graph: volumes are expectations ± 0.3%", for tables.
std::string interval_text(const ExpectedQuality& quality, const ExpectedDataset& dataset, bool local);

}  // namespace gnnbench
