// The column-net model (Çatalyürek & Aykanat 1999) over ranks: a rank owns consecutive vertices and the nets of their
// columns, and has ghosts of the nets that its vertices are pins of and of the pins of its nets.
#include "level.hpp"

#include <algorithm>
#include <numeric>

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

struct Pin {
    Id list, member;  ///< global ids: in the list of `list` is `member`
};

/// Pins that others own, sent in rounds of bounded size. Collective.
std::vector<Pin> pins_from_others(const Ranks& ranks, const Incidence& lists, Id own_first,
                                  const std::vector<std::int64_t>& first) {
    constexpr std::int64_t most_at_once = std::int64_t{1} << 18;
    const std::int64_t rounds = ranks.maximum((std::ssize(lists.ids) + most_at_once - 1) / most_at_once);
    std::vector<Pin> all;
    std::size_t list = 0;
    for (std::int64_t round = 0; round < rounds; ++round) {
        Mail<Pin> mail(usize(ranks.count()));
        const std::int64_t last = std::min((round + 1) * most_at_once, std::ssize(lists.ids));
        for (std::int64_t i = round * most_at_once; i < last; ++i) {
            while (lists.offsets[list + 1] <= i) ++list;
            const Id member = lists.ids[usize(i)];
            const auto owner =
                static_cast<int>(std::upper_bound(first.begin(), first.end(), std::int64_t{member}) -
                                 first.begin()) -
                1;
            if (owner != ranks.rank()) mail[usize(owner)].push_back({member, own_first + static_cast<Id>(list)});
        }
        const Received<Pin> in = ranks.exchange(mail);
        all.insert(all.end(), in.values.begin(), in.values.end());
    }
    return all;
}

/// From `lists` (list i is global id own_first + i, members are global ids), the lists of the members that this rank owns.
/// Collective.
Incidence turned(const Ranks& ranks, const Incidence& lists, Id own_first,
                 const std::vector<std::int64_t>& first) {
    const auto first_member = static_cast<Id>(first[usize(ranks.rank())]);
    const Id members = static_cast<Id>(first[usize(ranks.rank()) + 1]) - first_member;
    const std::vector<Pin> others = pins_from_others(ranks, lists, own_first, first);
    const auto for_each_pin = [&](auto&& use) {
        for (std::size_t i = 0; i + 1 < lists.offsets.size(); ++i)
            for (const Id member : lists.of(static_cast<Id>(i)))
                if (member - first_member < members) use(member - first_member, own_first + static_cast<Id>(i));
        for (const Pin& p : others) use(p.list - first_member, p.member);
    };
    Incidence result;
    result.offsets.assign(members + std::size_t{1}, 0);
    for_each_pin([&](Id list, Id) { ++result.offsets[list + std::size_t{1}]; });
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    result.ids.resize(usize(result.offsets.back()));
    std::vector<std::int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
    for_each_pin([&](Id list, Id member) { result.ids[usize(next[list]++)] = member; });
    for (Id list = 0; list < members; ++list)
        std::sort(result.ids.begin() + result.offsets[list],
                  result.ids.begin() + result.offsets[list + std::size_t{1}]);
    return result;
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
    std::vector<std::int64_t> first(usize(ranks.count()) + 1);
    for (int r = 0; r < ranks.count(); ++r) first[usize(r) + 1] = rows_of_rank(graph, ranks.count(), r).last;
    const RowRange rows = rows_of_rank(graph, ranks.count(), ranks.rank());
    Incidence own;
    own.offsets.reserve(usize(rows.count()) + 1);
    own.ids.reserve(usize(graph.indptr[usize(rows.last)] - graph.indptr[usize(rows.first)] + rows.count()));
    for (std::int64_t v = rows.first; v < rows.last; ++v) {
        bool diagonal = false;
        for (std::int64_t e = graph.indptr[usize(v)]; e < graph.indptr[usize(v) + 1]; ++e) {
            const std::int64_t column = graph.indices[usize(e)];
            if (!diagonal && column > v) own.ids.push_back(static_cast<Id>(v)), diagonal = true;
            diagonal = diagonal || column == v;
            own.ids.push_back(static_cast<Id>(column));
        }
        if (!diagonal) own.ids.push_back(static_cast<Id>(v));
        own.offsets.push_back(std::ssize(own.ids));
        level.vertex_weight.push_back(unit_weights ? 1 : own.size(static_cast<Id>(v - rows.first)));
    }
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
