// Recursive bisection with net splitting (Çatalyürek & Aykanat 1999): a cut net lives on in both halves with the pins
// it has there, so that the cuts of all bisections add up to connectivity−1.
#include "recursive_bisection.hpp"

#include <cmath>

#include "bisection.hpp"
#include "random.hpp"

namespace gnnbench::hypergraph {
namespace {

/// The vertices of one side, with what they have of the nets.
Hypergraph half(const Hypergraph& h, const std::vector<PartId>& side, PartId which, std::vector<Id>& original) {
    Hypergraph part;
    std::vector<Id> local(h.vertex_count());
    original.clear();
    for (Id v = 0; v < h.vertex_count(); ++v) {
        if (side[v] != which) continue;
        local[v] = static_cast<Id>(original.size());
        original.push_back(v);
        part.vertex_weight.push_back(h.vertex_weight[v]);
        part.total_weight += h.vertex_weight[v];
    }
    part.net_offsets.push_back(0);
    for (Id e = 0; e < h.net_count(); ++e) {
        const std::int64_t first = part.pin_count();
        for (const Id v : h.pins_of(e))
            if (side[v] == which) part.pins.push_back(local[v]);
        if (part.pin_count() - first < 2) {
            part.pins.resize(static_cast<std::size_t>(first));
            continue;
        }
        part.net_weight.push_back(h.net_weight[e]);
        part.net_offsets.push_back(part.pin_count());
    }
    index_vertices(part);
    return part;
}

void divide(Hypergraph& h, PartId parts, PartId first_part, Weight limit, int tries, std::uint64_t seed,
            const std::vector<Id>& original, std::vector<PartId>& part_of) {
    if (parts == 1 || h.vertex_count() == 0) {
        for (const Id v : original) part_of[v] = first_part;
        return;
    }
    const PartId left = (parts + 1) / 2, right = parts - left;
    // What all levels below may lose together is given to each in equal shares: (1 + ε')^depth = 1 + ε.
    const double room = static_cast<double>(limit) * parts / static_cast<double>(h.total_weight);
    const double share = std::pow(std::max(room, 1.0), 1 / std::ceil(std::log2(parts)));
    BisectionGoal goal{.target = {}, .limit = {}, .tries = tries};
    for (const int side : {0, 1}) {
        const PartId of_side = side == 0 ? left : right;
        const double target = static_cast<double>(h.total_weight) * of_side / parts;
        goal.target[side] = static_cast<Weight>(std::ceil(target));
        goal.limit[side] = std::max(goal.target[side], static_cast<Weight>(target * share));
    }
    const std::vector<PartId> side = bisect(h, goal, seed);
    for (const PartId which : {0, 1}) {
        std::vector<Id> inside;
        Hypergraph part = half(h, side, which, inside);
        for (Id& v : inside) v = original[v];
        divide(part, which == 0 ? left : right, which == 0 ? first_part : first_part + left, limit, tries,
               mixed(seed, static_cast<std::uint64_t>(which) + 1), inside, part_of);
    }
}

}  // namespace

std::vector<PartId> bisect_recursively(Hypergraph& h, PartId parts, Weight limit, int tries, std::uint64_t seed) {
    std::vector<PartId> part_of(h.vertex_count());
    std::vector<Id> all(h.vertex_count());
    for (Id v = 0; v < h.vertex_count(); ++v) all[v] = v;
    divide(h, parts, 0, limit, tries, seed, all, part_of);
    return part_of;
}

}  // namespace gnnbench::hypergraph
