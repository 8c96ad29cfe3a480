#include "balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::hypergraph {

std::vector<PartId> pack(const Hypergraph& h, PartId parts) {
    std::vector<Id> order(h.vertex_count());
    std::iota(order.begin(), order.end(), Id{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Id a, Id b) { return h.vertex_weight[a] > h.vertex_weight[b]; });
    using Load = std::pair<Weight, PartId>;
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (PartId p = 0; p < parts; ++p) loads.emplace(0, p);
    std::vector<PartId> part_of(h.vertex_count());
    for (const Id v : order) {
        const auto [load, part] = loads.top();
        loads.pop();
        part_of[v] = part;
        loads.emplace(load + h.vertex_weight[v], part);
    }
    return part_of;
}

Weight part_limit(const Hypergraph& h, PartId parts, double imbalance) {
    const Weight mean = (h.total_weight + parts - 1) / parts;
    // 1.15 · 100 is 114.99…, and the imbalance that a message names must do.
    const Weight limit = mean + static_cast<Weight>(imbalance * static_cast<double>(mean) * (1 + 1e-12));
    const auto heaviest = std::max_element(h.vertex_weight.begin(), h.vertex_weight.end());
    if (*heaviest > limit)
        throw Unsupported(
            fmt::format("{} parts can't be balanced within imbalance {}: row {} has {} of {} nonzeros, the "
                        "mean part {}. "
                        "An imbalance of {:.2f} would do, or weights: none, or fewer parts.",
                        parts, imbalance, heaviest - h.vertex_weight.begin(), *heaviest, h.total_weight, mean,
                        std::ceil(100 * (static_cast<double>(*heaviest) / static_cast<double>(mean) - 1)) / 100));

    const std::vector<PartId> packed = pack(h, parts);
    std::vector<Weight> load(static_cast<std::size_t>(parts));
    for (Id v = 0; v < h.vertex_count(); ++v) load[static_cast<std::size_t>(packed[v])] += h.vertex_weight[v];
    return std::max(limit, *std::max_element(load.begin(), load.end()));
}

}  // namespace gnnbench::hypergraph
