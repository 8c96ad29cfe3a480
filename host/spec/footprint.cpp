#include "spec/footprint.hpp"

namespace gnnbench {

std::int64_t least_memory_bytes(const Cell& cell, const DatasetFacts& dataset) {
    const Question q(cell, dataset);
    const std::int64_t ranks = cell.gpus, element_bytes = cell.precision == "float64" ? 8 : 4;
    const auto share = [&](std::int64_t whole) { return (whole + ranks - 1) / ranks; };
    std::int64_t widths = 0, weights = 0;
    for (std::size_t l = 0; l < q.model.widths.size(); ++l) {
        widths += q.model.widths[l];
        if (l + 1 < q.model.widths.size()) weights += q.model.widths[l] * q.model.widths[l + 1];
    }
    const std::int64_t copies =
        q.train.optimizer == OptimizerKind::sgd ? 2 : 4;            // weights, gradients, two moments
    if (q.model.sparse_features) widths -= q.model.widths.front();  // how many nonzeros X has is not known
    return element_bytes * share(dataset.size.vertices * widths + copies * weights) +
           share(2 * dataset.size.edges);
}

}  // namespace gnnbench
