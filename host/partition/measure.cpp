#include "partition/measure.hpp"

#include <algorithm>
#include <utility>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/vertex_copies.hpp>

namespace gnnbench {
namespace {

/// The vertices of each part, one part after another.
struct Grouped {
    std::vector<std::int64_t> first;     ///< length parts + 1
    std::vector<std::int32_t> vertices;  ///< length vertices
};

Grouped grouped(const Partition& partition) {
    Grouped g{std::vector<std::int64_t>(usize(partition.parts) + 1),
              std::vector<std::int32_t>(partition.part_of.size())};
    for (const Part p : partition.part_of) ++g.first[usize(p) + 1];
    for (std::size_t p = 1; p < g.first.size(); ++p) g.first[p] += g.first[p - 1];
    std::vector<std::int64_t> next(g.first.begin(), g.first.end() - 1);
    for (std::size_t v = 0; v < partition.part_of.size(); ++v)
        g.vertices[usize(next[usize(partition.part_of[v])]++)] = static_cast<std::int32_t>(v);
    return g;
}

}  // namespace

Spread PartitionCost::spread(std::int64_t PartCost::* number) const {
    Spread s;
    for (const PartCost& p : parts) {
        s.mean += static_cast<double>(p.*number) / static_cast<double>(parts.size());
        s.maximum = std::max(s.maximum, p.*number);
    }
    return s;
}

namespace {

/// Of a vertex cut: a copy's row goes to its root, and the root's back to each copy.
PartitionCost cost_of_cut(const GraphView& graph, const Partition& cut, bool between) {
    const auto parts = usize(cut.parts);
    PartitionCost cost;
    cost.parts.resize(parts);
    if (between) cost.rows_between.resize(parts * parts);
    std::vector<bool> copied(usize(graph.vertices()));
    std::vector<std::int64_t> met(parts);  // of whose roots the part at work has copies: that part + 1
    const std::vector<PartQuality> quality = measure_copies(graph, cut, [&](Part p, std::int32_t v) {
        const Part root = cut.part_of[usize(v)];
        const bool first = std::exchange(met[usize(root)], std::int64_t{p} + 1) != std::int64_t{p} + 1;
        for (const auto& [from, to] : {std::pair{p, root}, {root, p}}) {
            PartCost &sends = cost.parts[usize(from)], &receives = cost.parts[usize(to)];
            ++sends.sent_rows, ++receives.received_rows;
            sends.sent_messages += first, receives.received_messages += first;
            if (between) ++cost.rows_between[usize(from) * parts + usize(to)];
        }
        copied[usize(v)] = true;
        ++cost.connectivity_minus_one;
    });
    for (std::size_t p = 0; p < parts; ++p) {
        cost.parts[p].vertices = quality[p].vertices;
        cost.parts[p].nonzeros = quality[p].nonzeros;
        cost.empty_parts += quality[p].vertices == 0;
    }
    cost.backward_connectivity_minus_one = cost.connectivity_minus_one;
    cost.cut_nets = std::ranges::count(copied, true);
    cost.replication = 1 + static_cast<double>(cost.connectivity_minus_one) /
                               static_cast<double>(std::max<std::int64_t>(graph.vertices(), 1));
    return cost;
}

}  // namespace

PartitionCost measure_cost(const GraphView& graph, const Partition& partition, bool between) {
    require(!between || partition.parts <= most_drawn_parts, "too many parts for a matrix of who talks to whom");
    if (!partition.part_of_entry.empty()) return cost_of_cut(graph, partition, between);
    const auto parts = usize(partition.parts);
    const std::vector<Part>& owner = partition.part_of;
    const Grouped rows = grouped(partition);
    PartitionCost cost;
    cost.parts.resize(parts);
    if (between) cost.rows_between.resize(parts * parts);
    std::vector<bool> cut(owner.size());
    // Part by part: the last part that needs a column, so that it counts once; rows from each owner to this part.
    std::vector<Part> needed_by(owner.size(), -1);
    std::vector<std::int64_t> from(parts);
    // For each part, the last row that it needs in the backward product, which has an entry in a column of its own.
    std::vector<std::size_t> needs_row(parts, owner.size());
    for (std::size_t q = 0; q < parts; ++q) {
        PartCost& mine = cost.parts[q];
        for (std::int64_t i = rows.first[q]; i < rows.first[q + 1]; ++i) {
            const auto v = usize(rows.vertices[usize(i)]);
            ++mine.vertices;
            ++mine.nonzeros;  // the diagonal
            for (std::int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                const auto j = usize(graph.indices[usize(e)]);
                mine.nonzeros += j != v;
                if (usize(owner[j]) == q) continue;
                ++cost.edge_cut;
                if (std::size_t& last = needs_row[usize(owner[j])]; last != v) {
                    last = v;
                    ++cost.backward_connectivity_minus_one;
                }
                if (usize(needed_by[j]) == q) continue;
                needed_by[j] = static_cast<Part>(q);
                cut[j] = true;
                ++from[usize(owner[j])];
            }
        }
        cost.empty_parts += mine.vertices == 0;
        for (std::size_t p = 0; p < parts; ++p) {
            if (from[p] == 0) continue;
            mine.received_rows += from[p];
            ++mine.received_messages;
            cost.parts[p].sent_rows += from[p];
            ++cost.parts[p].sent_messages;
            if (between) cost.rows_between[p * parts + q] = from[p];
            from[p] = 0;
        }
        cost.connectivity_minus_one += mine.received_rows;
    }
    cost.cut_nets = std::ranges::count(cut, true);
    return cost;
}

}  // namespace gnnbench
