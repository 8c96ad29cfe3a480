// Greedy rebalancing by relative gain, as in Maas, Gottesbüren & Seemaier, "Parallel Unconstrained Local Search for
// Partitioning Irregular Graphs", ALENEX 2024. Serial: little weight has to move.
#include "rebalance.hpp"

#include <algorithm>

namespace gnnbench::hypergraph {
namespace {

struct Candidate {
    double value;
    Id vertex;
};

/// Heavy vertices first where a move gains, light ones where it costs.
double relative_gain(double gain, Weight weight) {
    return gain > 0 ? gain * static_cast<double>(weight) : gain / static_cast<double>(weight);
}

std::vector<Candidate> movable(const Partitioned& p, Weight limit, std::span<const BestMove> best) {
    const Hypergraph& h = p.hypergraph();
    std::vector<Candidate> all;
    for (Id v = 0; v < h.vertex_count(); ++v)
        if (p.part_weight(p.part_of(v)) > limit)
            all.push_back({relative_gain(best[v].to < 0 ? -best[v].held : best[v].gain, h.vertex_weight[v]), v});
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
        return a.value != b.value ? a.value > b.value : a.vertex < b.vertex;
    });
    return all;
}

PartId lightest(const Partitioned& p) {
    PartId to = 0;
    for (PartId q = 1; q < p.parts(); ++q)
        if (p.part_weight(q) < p.part_weight(to)) to = q;
    return to;
}

}  // namespace

bool rebalance(Partitioned& p, Weight limit, std::span<const BestMove> best, std::vector<char>& touched) {
    if (p.heaviest() <= limit) return true;
    const Hypergraph& h = p.hypergraph();
    BestMoveFinder finder(p.parts());
    std::vector<BestMove> found;
    if (best.empty()) {
        found.resize(h.vertex_count());
        for (Id v = 0; v < h.vertex_count(); ++v) found[v] = finder.find(p, v);
        best = found;
    }
    const std::vector<Candidate> candidates = movable(p, limit, best);
    const auto mark = [&](Id net, Id left, Id there) {
        if (left <= 1 || there <= 2) touched[net] = 1;
    };
    // First to parts that its nets meet; then, where none of them has room, to any part that has.
    for (const bool anywhere : {false, true})
        for (const Candidate& c : candidates) {
            const Id v = c.vertex;
            const Weight weight = h.vertex_weight[v];
            if (p.part_weight(p.part_of(v)) <= limit) continue;
            PartId to = finder.find(p, v, [&](PartId q) { return p.part_weight(q) + weight <= limit; }).to;
            if (to < 0 && anywhere) {
                to = lightest(p);
                if (p.part_weight(to) + weight >= p.part_weight(p.part_of(v))) continue;
            }
            if (to >= 0) p.move(v, to, mark);
        }
    return p.heaviest() <= limit;
}

}  // namespace gnnbench::hypergraph
