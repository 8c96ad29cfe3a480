#include "turned.hpp"

#include <algorithm>
#include <numeric>

#include <gnnbench/partition.hpp>

namespace gnnbench::distributed {
namespace {

struct Pin {
    Id list, member;  ///< global ids: in the list of `list` is `member`
};

/// Calls use(list, member) for each pin whose list this rank owns: those that others have come in rounds of bounded size.
/// Collective.
template <class Use>
void for_each_pin(const Ranks& ranks, const Incidence& lists, Id own_first, const std::vector<std::int64_t>& first,
                  Use&& use) {
    constexpr std::int64_t most_at_once = std::int64_t{1} << 16;
    const std::int64_t rounds = ranks.maximum((std::ssize(lists.ids) + most_at_once - 1) / most_at_once);
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
            mail[usize(owner)].push_back({member, own_first + static_cast<Id>(list)});
        }
        for (const Pin& p : ranks.exchange(mail).values) use(p.list, p.member);
    }
}

}  // namespace

Incidence turned(const Ranks& ranks, const Incidence& lists, Id own_first,
                 const std::vector<std::int64_t>& first) {
    const auto first_member = static_cast<Id>(first[usize(ranks.rank())]);
    const Id members = static_cast<Id>(first[usize(ranks.rank()) + 1]) - first_member;
    Incidence result;
    result.offsets.assign(members + std::size_t{1}, 0);
    // Pins travel twice, to be counted and to be placed, so that they are never held beside the result.
    for_each_pin(ranks, lists, own_first, first,
                 [&](Id list, Id) { ++result.offsets[list - first_member + std::size_t{1}]; });
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    result.ids.resize(usize(result.offsets.back()));
    std::vector<std::int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
    for_each_pin(ranks, lists, own_first, first,
                 [&](Id list, Id member) { result.ids[usize(next[list - first_member]++)] = member; });
    for (Id list = 0; list < members; ++list)
        std::sort(result.ids.begin() + result.offsets[list],
                  result.ids.begin() + result.offsets[list + std::size_t{1}]);
    return result;
}

std::vector<std::int64_t> first_rows(const Ranks& ranks, const GraphView& graph) {
    std::vector<std::int64_t> first(usize(ranks.count()) + 1);
    for (int r = 0; r < ranks.count(); ++r) first[usize(r) + 1] = rows_of_rank(graph, ranks.count(), r).last;
    return first;
}

Incidence rows_with_diagonal(const Ranks& ranks, const GraphView& graph) {
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
    }
    return own;
}

}  // namespace gnnbench::distributed
