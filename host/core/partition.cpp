#include <gnnbench/partition.hpp>

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {

Partitioner::~Partitioner() = default;
std::string Partitioner::outside_input(const Params&) const { return {}; }

std::string why_not_alike(const PartitionNeed& need) {
    return need.column_parts > 0 ? "orders rows and columns alike; this scheme needs columns partitioned apart"
                                 : "";
}

std::string why_not_alike_and_filled(const GraphSize& graph, const PartitionNeed& need) {
    if (need.parts > 1 && need.parts > graph.vertices)
        return fmt::format("cannot make {} parts of {} vertices", need.parts, graph.vertices);
    return why_not_alike(need);
}

namespace {

void check_parts(std::span<const Part> part_of, Part parts, std::int64_t vertices, const char* what) {
    if (std::ssize(part_of) != vertices)
        throw LogicError(fmt::format("a partition gives parts to {} {}; the graph has {} vertices", part_of.size(),
                                     what, vertices));
    const auto wrong = std::ranges::find_if(part_of, [&](Part p) { return p < 0 || p >= parts; });
    if (wrong != part_of.end())
        throw LogicError(fmt::format("a partition of {} parts holds part {}, of vertex {}", parts, *wrong,
                                     wrong - part_of.begin()));
}

void check_order(std::span<const std::int32_t> order, std::int64_t vertices) {
    if (order.empty()) return;
    if (std::ssize(order) != vertices)
        throw LogicError(fmt::format("a partition orders {} vertices of {}", order.size(), vertices));
    std::vector<bool> seen(usize(vertices));
    for (const std::int32_t v : order) {
        if (v < 0 || v >= vertices) throw LogicError(fmt::format("a partition's order holds vertex {}", v));
        if (seen[usize(v)]) throw LogicError(fmt::format("a partition's order holds vertex {} twice", v));
        seen[usize(v)] = true;
    }
}

}  // namespace

void check_partition(const Partition& partition, const PartitionNeed& need, std::int64_t vertices) {
    if (partition.parts != need.parts)
        throw LogicError(fmt::format("a partition has {} parts; {} were asked for", partition.parts, need.parts));
    check_parts(partition.part_of, need.parts, vertices, "vertices");
    if (need.column_parts > 0)
        check_parts(partition.column_part_of, need.column_parts, vertices, "columns");
    else if (!partition.column_part_of.empty())
        throw LogicError("a partition divides the columns apart, which nobody asked for");
    check_order(partition.order, vertices);
}

IndexMap::IndexMap(const Partition& partition)
    : offsets_(usize(partition.parts) + 1), part_of_(partition.part_of) {
    check_parts(part_of_, partition.parts, std::ssize(part_of_), "vertices");
    check_order(partition.order, std::ssize(part_of_));
    for (const Part p : part_of_) ++offsets_[usize(p) + 1];
    for (std::size_t p = 1; p < offsets_.size(); ++p) offsets_[p] += offsets_[p - 1];
    std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
    local_.resize(part_of_.size());
    order_.resize(part_of_.size());
    for (std::size_t i = 0; i < part_of_.size(); ++i) {
        const std::size_t v = partition.order.empty() ? i : usize(partition.order[i]);
        const auto p = usize(part_of_[v]);
        const std::int64_t position = next[p]++;
        local_[v] = LocalId{static_cast<std::int32_t>(position - offsets_[p])};
        order_[usize(position)] = GlobalId{static_cast<std::int64_t>(v)};
    }
}

std::int64_t IndexMap::largest() const {
    std::int64_t most = 0;
    for (Part p = 0; p < parts(); ++p) most = std::max(most, size(p));
    return most;
}

std::span<const GlobalId> IndexMap::owned(Part p) const {
    return std::span(order_).subspan(usize(offset(p)), usize(size(p)));
}

PartitionQuality measure_quality(const GraphView& graph, const Partition& partition) {
    const auto n = usize(graph.vertices());
    const auto parts = usize(partition.parts);
    const auto& column_part = partition.column_part_of.empty() ? partition.part_of : partition.column_part_of;
    std::vector<std::int64_t> vertices(parts), nonzeros(parts);
    std::vector<std::vector<std::int32_t>> rows_of(parts);
    for (std::size_t v = 0; v < n; ++v) {
        const auto p = usize(partition.part_of[v]);
        ++vertices[p];
        nonzeros[p] += graph.indptr[v + 1] - graph.indptr[v];
        rows_of[p].push_back(static_cast<std::int32_t>(v));
    }
    PartitionQuality q;
    // Part by part: seen[j] = the last part whose rows hold column j, so each (column, part) counts once.
    std::vector<Part> seen(n, -1);
    for (std::size_t p = 0; p < parts; ++p) {
        for (const std::int32_t row : rows_of[p]) {
            const auto v = usize(row);
            for (std::int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                const auto j = usize(graph.indices[usize(e)]);
                if (column_part[j] == static_cast<Part>(p)) continue;
                ++q.edge_cut;
                if (seen[j] != static_cast<Part>(p)) {
                    seen[j] = static_cast<Part>(p);
                    ++q.connectivity_minus_one;
                }
            }
        }
    }
    const auto imbalance = [parts](const std::vector<std::int64_t>& sizes, std::int64_t total) {
        const std::int64_t most = *std::max_element(sizes.begin(), sizes.end());
        return total == 0 ? 1.0
                          : static_cast<double>(most) * static_cast<double>(parts) / static_cast<double>(total);
    };
    if (parts > 0) {
        q.vertex_imbalance = imbalance(vertices, graph.vertices());
        q.nonzero_imbalance = imbalance(nonzeros, graph.edges());
    }
    return q;
}

}  // namespace gnnbench
