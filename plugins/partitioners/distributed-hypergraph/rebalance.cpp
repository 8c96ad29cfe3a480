// Greedy rebalancing by relative gain over ranks (Sanders & Seemaier, Euro-Par 2023): each rank names the best vertices of
// the parts that are too heavy, as many as would do alone; all ranks then make the same choice among them.
#include "rebalance.hpp"

#include <algorithm>
#include <limits>

namespace gnnbench::distributed {
namespace {

struct Candidate {
    double value;
    Weight weight;
    Id vertex;  ///< global id
    PartId from, to;
};

bool before(const Candidate& a, const Candidate& b) {
    return a.value != b.value ? a.value > b.value : a.vertex < b.vertex;
}

/// Heavy vertices first where a move gains, light ones where it costs.
double relative_gain(const BestMove& m, Weight weight) {
    const double gain = m.to < 0 ? -m.held : m.gain;
    return gain > 0 ? gain * static_cast<double>(weight) : gain / static_cast<double>(weight);
}

/// Sorts, and keeps for each part the best up to what it has too much.
void keep_best(const Partitioned& p, Weight limit, std::vector<Candidate>& all) {
    std::ranges::sort(all, before);
    std::vector<Weight> load(p.part_weights());
    std::erase_if(all, [&](const Candidate& c) {
        Weight& left = load[usize(c.from)];
        if (left <= limit) return true;
        left -= c.weight;
        return false;
    });
}

/// Of this rank.
std::vector<Candidate> best_to_leave(const Partitioned& p, Weight limit, BestMoveFinder& finder) {
    const Level& level = p.level();
    std::vector<Candidate> all;
    for (Id v = 0; v < level.vertices.owned(); ++v) {
        const PartId from = p.part_of(v);
        if (p.part_weight(from) <= limit) continue;
        const Weight weight = level.vertex_weight[v];
        const BestMove m = finder.find(p, v, [&](PartId q) { return p.part_weight(q) + weight <= limit; });
        all.push_back({relative_gain(m, weight), weight, level.vertices.global(v), from, m.to});
    }
    keep_best(p, limit, all);
    return all;
}

}  // namespace

bool rebalance(const Ranks& ranks, Partitioned& p, Weight limit) {
    constexpr int rounds = 24, rounds_to_neighbours = 4;
    BestMoveFinder finder(p.parts());
    for (int round = 0; round < rounds && p.heaviest() > limit; ++round) {
        std::vector<Candidate> all = ranks.all_gather(best_to_leave(p, limit, finder)).values;
        keep_best(p, limit, all);  // what is there may not depend on how many ranks named some
        // First to parts that a vertex' nets meet; then, where none of them has room, to any part that has.
        std::vector<Weight> load = p.part_weights();
        std::vector<Partitioned::Move> moves;
        bool any = false;
        for (const Candidate& c : all) {
            if (load[usize(c.from)] <= limit) continue;
            PartId to = c.to >= 0 && load[usize(c.to)] + c.weight <= limit ? c.to : -1;
            if (to < 0 && round >= rounds_to_neighbours) {
                to = static_cast<PartId>(std::ranges::min_element(load) - load.begin());
                if (load[usize(to)] + c.weight >= load[usize(c.from)]) continue;
            }
            if (to < 0) continue;
            any = true;
            load[usize(c.from)] -= c.weight, load[usize(to)] += c.weight;
            if (p.level().vertices.owns(c.vertex))
                moves.push_back({c.vertex - p.level().vertices.own_first(), to});
        }
        if (any) p.move(moves);
        if (!any && round >= rounds_to_neighbours) break;
    }
    return p.heaviest() <= limit;
}

void fill_empty_parts(const Ranks& ranks, Partitioned& p) {
    const Halo& vertices = p.level().vertices;
    std::vector<std::int64_t> size(usize(p.parts()));
    for (Id v = 0; v < vertices.owned(); ++v) ++size[usize(p.part_of(v))];
    size = ranks.sum(size);
    BestMoveFinder finder(p.parts());
    for (PartId empty = 0; empty < p.parts(); ++empty) {
        if (size[usize(empty)] > 0) continue;
        PartId from = -1;
        for (PartId q = 0; q < p.parts(); ++q)
            if (size[usize(q)] > 1 && (from < 0 || p.part_weight(q) > p.part_weight(from))) from = q;
        if (from < 0) return;  // fewer vertices than parts
        std::vector<Candidate> mine;
        for (Id v = 0; v < vertices.owned(); ++v) {
            if (p.part_of(v) != from) continue;
            const BestMove m = finder.find(p, v, [](PartId) { return false; });
            const Candidate c{-static_cast<double>(m.held), p.level().vertex_weight[v], vertices.global(v), from,
                              empty};
            if (mine.empty())
                mine.push_back(c);
            else if (before(c, mine[0]))
                mine[0] = c;
        }
        std::vector<Candidate> all = ranks.all_gather(mine).values;
        const Candidate best = *std::ranges::min_element(all, before);
        std::vector<Partitioned::Move> moves;
        if (vertices.owns(best.vertex)) moves.push_back({best.vertex - vertices.own_first(), empty});
        p.move(moves);
        --size[usize(from)], ++size[usize(empty)];
    }
}

}  // namespace gnnbench::distributed
