#include <gnnbench/partition.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/undirected.hpp>
#include <gnnbench/vertex_copies.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

Partitioner::~Partitioner() = default;
std::string Partitioner::outside_input(const Params&) const { return {}; }

RowRange rows_of_rank(const GraphView& graph, int ranks, int rank) {
    // Rows up to v weigh v + indptr[v]: a rank begins with the first row that exceeds its share of the whole.
    const std::int64_t whole = graph.vertices() + graph.edges();
    const auto first_of = [&](int r) {
        const std::int64_t share = whole / ranks * r + whole % ranks * r / ranks;
        std::int64_t low = 0, high = graph.vertices();
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (middle + graph.indptr[usize(middle)] < share)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    };
    return {first_of(rank), rank + 1 == ranks ? graph.vertices() : first_of(rank + 1)};
}

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

/// The vertex of a part with the fewest entries in columns of the part; of several the heaviest, then the first.
std::int32_t loosest(const GraphView& graph, const std::vector<Part>& part_of,
                     const std::vector<std::int32_t>& members, const std::vector<std::int64_t>& weight) {
    std::int32_t best = -1;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (const std::int32_t v : members) {
        std::int64_t inside = 0;
        for (auto e = graph.indptr[usize(v)]; e < graph.indptr[usize(v) + 1]; ++e) {
            const std::int32_t column = graph.indices[usize(e)];
            inside += column != v && part_of[usize(column)] == part_of[usize(v)];
        }
        if (inside > fewest || (inside == fewest && weight[usize(v)] <= weight[usize(best)])) continue;
        best = v;
        fewest = inside;
    }
    return best;
}

}  // namespace

void fill_empty_parts(const GraphView& graph, Partition& partition) {
    std::vector<std::int64_t> size(usize(partition.parts));
    for (const Part p : partition.part_of) ++size[usize(p)];
    if (std::ranges::find(size, 0) == size.end()) return;
    const std::vector<std::int64_t> weight = row_nonzeros(graph);
    std::vector<std::vector<std::int32_t>> members(size.size());
    std::vector<std::int64_t> load(size.size());
    for (std::size_t v = 0; v < partition.part_of.size(); ++v) {
        const auto p = usize(partition.part_of[v]);
        members[p].push_back(static_cast<std::int32_t>(v));
        load[p] += weight[v];
    }
    for (std::size_t empty = 0; empty < members.size(); ++empty) {
        if (!members[empty].empty()) continue;
        std::size_t from = members.size();
        for (std::size_t p = 0; p < members.size(); ++p)
            if (members[p].size() > 1 && (from == members.size() || load[p] > load[from])) from = p;
        if (from == members.size()) return;  // fewer vertices than parts
        const std::int32_t v = loosest(graph, partition.part_of, members[from], weight);
        std::erase(members[from], v);
        members[empty].push_back(v);
        load[from] -= weight[usize(v)];
        load[empty] = weight[usize(v)];
        partition.part_of[usize(v)] = static_cast<Part>(empty);
    }
}

namespace {

/// "vertex" and "vertices".
struct Noun {
    const char *one, *many;
};
constexpr Noun a_vertex{"vertex", "vertices"}, a_column{"column", "columns"}, an_entry{"entry", "entries"};

void check_parts(std::span<const Part> part_of, Part parts, std::int64_t count, const Noun& what) {
    if (std::ssize(part_of) != count)
        throw LogicError(
            fmt::format("a partition gives parts to {} {}; the graph has {}", part_of.size(), what.many, count));
    const auto wrong = std::ranges::find_if(part_of, [&](Part p) { return p < 0 || p >= parts; });
    if (wrong != part_of.end())
        throw LogicError(fmt::format("a partition of {} parts holds part {}, of {} {}", parts, *wrong, what.one,
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

void check_partition(const Partition& partition, const PartitionNeed& need, const GraphSize& graph) {
    if (partition.parts != need.parts)
        throw LogicError(fmt::format("a partition has {} parts; {} were asked for", partition.parts, need.parts));
    check_parts(partition.part_of, need.parts, graph.vertices, a_vertex);
    if (need.column_parts > 0)
        check_parts(partition.column_part_of, need.column_parts, graph.vertices, a_column);
    else if (!partition.column_part_of.empty())
        throw LogicError("a partition divides the columns apart, which nobody asked for");
    check_order(partition.order, graph.vertices);
    if (!need.vertex_cut && !partition.part_of_entry.empty())
        throw LogicError("a partition deals entries to parts, which nobody asked for");
    if (need.vertex_cut) check_parts(partition.part_of_entry, need.parts, graph.edges, an_entry);
}

IndexMap::IndexMap(const Partition& partition) : offsets_(usize(partition.parts) + 1) {
    const std::vector<Part>& part_of = partition.part_of;
    const std::size_t n = part_of.size();
    check_parts(part_of, partition.parts, std::ssize(part_of), a_vertex);
    check_order(partition.order, std::ssize(part_of));
    for (const Part p : part_of) ++offsets_[usize(p) + 1];
    for (std::size_t p = 1; p < offsets_.size(); ++p) offsets_[p] += offsets_[p - 1];
    index_parts();
    by_id_ = std::ranges::is_sorted(partition.order);
    const auto arrays = std::make_shared<std::array<std::vector<std::int32_t>, 3>>();
    auto& [positions, vertices, part_of_entry] = *arrays;
    part_of_entry = partition.part_of_entry;
    if (by_id_ && std::ranges::is_sorted(part_of)) {
        if (!part_of_entry.empty()) places_ = {{}, {}, arrays, part_of_entry};
        return;
    }
    positions.resize(n);
    vertices.resize(n);
    std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t v = partition.order.empty() ? i : usize(partition.order[i]);
        const std::int64_t position = next[usize(part_of[v])]++;
        positions[v] = static_cast<std::int32_t>(position);
        vertices[usize(position)] = static_cast<std::int32_t>(v);
    }
    places_ = {positions, vertices, arrays, part_of_entry};
}

IndexMap::IndexMap(std::vector<std::int64_t> offsets, bool by_id, Places places)
    : offsets_(std::move(offsets)), places_(std::move(places)), by_id_(by_id) {
    index_parts();
}

void IndexMap::index_parts() {
    const std::int64_t n = vertices();
    while ((n >> shift_) > 16 * std::int64_t{parts()} + 1024) ++shift_;
    Part p = 0;
    for (std::int64_t at = 0; at < n; at += std::int64_t{1} << shift_) {
        while (offset(p + 1) <= at) ++p;
        first_part_.push_back(p);
    }
}

std::int64_t IndexMap::largest() const {
    std::int64_t most = 0;
    for (Part p = 0; p < parts(); ++p) most = std::max(most, size(p));
    return most;
}

std::vector<GlobalId> IndexMap::owned(Part p, Part count) const {
    std::vector<GlobalId> vertices;
    vertices.reserve(usize(offset(p + count) - offset(p)));
    for (std::int64_t at = offset(p); at < offset(p + count); ++at) vertices.push_back(vertex_at(at));
    return vertices;
}

std::string why_not_served(const Partitioner& partitioner, const GraphSize& graph, const PartitionNeed& need,
                           const Params& params) {
    if (need.vertex_cut && !partitioner.cuts_vertices())
        return "deals whole vertices to parts; this scheme needs a vertex cut, which deals edges, as libra does";
    if (!need.vertex_cut && partitioner.cuts_vertices())
        return "deals edges to parts and copies vertices; this scheme needs each vertex in one part";
    return partitioner.why_unsupported(graph, need, params);
}

PartQuality measure_part(const GraphView& graph, const IndexMap& index, Part part) {
    if (!index.part_of_entry().empty()) return VertexCopies(graph, index, part).quality();
    PartQuality q;
    std::vector<bool> seen(usize(graph.vertices()));
    for (const GlobalId v : index.owned(part)) {
        ++q.vertices;
        ++q.nonzeros;  // the diagonal
        for (auto e = graph.indptr[usize(value(v))]; e < graph.indptr[usize(value(v)) + 1]; ++e) {
            const GlobalId column{graph.indices[usize(e)]};
            q.nonzeros += column != v;
            if (index.part_of(column) == part) continue;
            ++q.edge_cut;
            q.needed += !seen[usize(value(column))];
            seen[usize(value(column))] = true;
        }
    }
    return q;
}

namespace {

double imbalance(std::int64_t most, Part parts, std::int64_t total) {
    return total == 0 ? 1.0 : static_cast<double>(most) * static_cast<double>(parts) / static_cast<double>(total);
}

PartitionQuality quality_of_cut(const GraphView& graph, const Partition& cut) {
    PartQuality sum, most;
    for (const PartQuality& q : measure_copies(graph, cut)) {
        sum.needed += q.needed;
        sum.vertices += q.vertices;
        sum.nonzeros += q.nonzeros;
        most.vertices = std::max(most.vertices, q.vertices);
        most.nonzeros = std::max(most.nonzeros, q.nonzeros);
    }
    return {.edge_cut = 0,
            .connectivity_minus_one = sum.needed,
            .vertex_imbalance = imbalance(most.vertices, cut.parts, sum.vertices),
            .nonzero_imbalance = imbalance(most.nonzeros, cut.parts, sum.nonzeros)};
}

}  // namespace

PartitionQuality measure_quality(const GraphView& graph, const Partition& partition) {
    if (!partition.part_of_entry.empty()) return quality_of_cut(graph, partition);
    const auto n = usize(graph.vertices());
    const auto parts = usize(partition.parts);
    const auto& column_part = partition.column_part_of.empty() ? partition.part_of : partition.column_part_of;
    std::vector<std::int64_t> vertices(parts), nonzeros(parts);
    std::vector<std::vector<std::int32_t>> rows_of(parts);
    for (std::size_t v = 0; v < n; ++v) {
        const auto p = usize(partition.part_of[v]);
        ++vertices[p];
        rows_of[p].push_back(static_cast<std::int32_t>(v));
    }
    PartitionQuality q;
    // Part by part: seen[j] = the last part whose rows hold column j, so each (column, part) counts once.
    std::vector<Part> seen(n, -1);
    for (std::size_t p = 0; p < parts; ++p) {
        for (const std::int32_t row : rows_of[p]) {
            const auto v = usize(row);
            ++nonzeros[p];  // the diagonal
            for (std::int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                const auto j = usize(graph.indices[usize(e)]);
                nonzeros[p] += j != v;
                if (column_part[j] == static_cast<Part>(p)) continue;
                ++q.edge_cut;
                if (seen[j] != static_cast<Part>(p)) {
                    seen[j] = static_cast<Part>(p);
                    ++q.connectivity_minus_one;
                }
            }
        }
    }
    if (parts > 0) {
        q.vertex_imbalance = imbalance(std::ranges::max(vertices), partition.parts, graph.vertices());
        q.nonzero_imbalance =
            imbalance(std::ranges::max(nonzeros), partition.parts, std::reduce(nonzeros.begin(), nonzeros.end()));
    }
    return q;
}

}  // namespace gnnbench
