// The column-net model (Çatalyürek & Aykanat 1999) over ranks: a rank owns consecutive vertices and the nets of their
// columns, and has ghosts of the nets that its vertices are pins of and of the pins of its nets.
#include "level.hpp"

#include <algorithm>

#include "turned.hpp"

namespace gnnbench::distributed {
namespace {

/// Replaces global ids by local ones. Collective.
Halo localise(const Ranks& ranks, std::vector<std::int64_t> first, std::vector<Id>& ids) {
    const auto own_first = static_cast<Id>(first[usize(ranks.rank())]);
    const Id owned = static_cast<Id>(first[usize(ranks.rank()) + 1]) - own_first;
    IdSet ghosts(first.back());
    for (const Id id : ids)
        if (id - own_first >= owned) ghosts.add(id);
    ghosts.index();
    for (Id& id : ids) id = id - own_first < owned ? id - own_first : owned + ghosts.below(id);
    return {ranks, std::move(first), ghosts.listed()};
}

/// Sizes, weights and sums, from own nets' weights. Collective.
void complete(const Ranks& ranks, Level& level) {
    const Id own_nets = level.nets.owned();
    level.net_size.resize(level.nets.size());
    for (Id e = 0; e < own_nets; ++e) level.net_size[e] = level.pins_of->size(e);
    level.net_weight.resize(level.nets.size());
    level.nets.push(ranks, level.net_size);
    level.nets.push(ranks, level.net_weight);
    Weight weight = 0;
    for (const Weight w : level.vertex_weight) weight += w;
    std::int64_t largest_net = 0, most_nets = 0;
    for (Id e = 0; e < own_nets; ++e) largest_net = std::max<std::int64_t>(largest_net, level.net_size[e]);
    for (Id v = 0; v < level.vertices.owned(); ++v)
        most_nets = std::max<std::int64_t>(most_nets, level.nets_of->size(v));
    const std::int64_t sums[] = {weight, std::ssize(level.pins_of->ids)};
    const std::vector<std::int64_t> all = ranks.sum(sums);
    level.total_weight = all[0];
    level.pins = all[1];
    level.mesh = ranks.maximum(largest_net) * level.nets.all() <= 4 * level.pins &&
                 ranks.maximum(most_nets) * level.vertices.all() <= 4 * level.pins;
}

}  // namespace

Level column_nets(const Ranks& ranks, const GraphView& graph, bool unit_weights) {
    Level level;
    const std::vector<std::int64_t> first = first_rows(ranks, graph);
    const RowRange rows = rows_of_rank(graph, ranks.count(), ranks.rank());
    Incidence own = rows_with_diagonal(ranks, graph);
    for (Id v = 0; v < rows.count(); ++v) level.vertex_weight.push_back(unit_weights ? 1 : own.size(v));
    Incidence columns;
    if (!graph.symmetric) columns = turned(ranks, own, static_cast<Id>(rows.first), first);
    level.nets = localise(ranks, first, own.ids);
    level.nets_of = std::make_shared<const Incidence>(std::move(own));
    if (graph.symmetric) {
        level.vertices = level.nets;
        level.pins_of = level.nets_of;
    } else {
        level.vertices = localise(ranks, first, columns.ids);
        level.pins_of = std::make_shared<const Incidence>(std::move(columns));
    }
    level.net_weight.assign(level.nets.owned(), 1);
    complete(ranks, level);
    return level;
}

Level level_of(const Ranks& ranks, std::vector<std::int64_t> vertex_first, std::vector<Weight> vertex_weight,
               OwnNets nets) {
    Level level;
    level.vertex_weight = std::move(vertex_weight);
    std::vector<std::int64_t> net_first = ranks.numbered(std::ssize(nets.weight));
    Incidence pins{std::move(nets.offsets), std::move(nets.pins)};
    Incidence own = turned(ranks, pins, static_cast<Id>(net_first[usize(ranks.rank())]), vertex_first);
    level.nets = localise(ranks, std::move(net_first), own.ids);
    level.vertices = localise(ranks, std::move(vertex_first), pins.ids);
    level.nets_of = std::make_shared<const Incidence>(std::move(own));
    level.pins_of = std::make_shared<const Incidence>(std::move(pins));
    level.net_weight = std::move(nets.weight);
    complete(ranks, level);
    return level;
}

}  // namespace gnnbench::distributed
