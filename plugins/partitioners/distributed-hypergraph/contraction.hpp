#pragma once
#include "clustering.hpp"

namespace gnnbench::distributed {

/// A numbering of clusters: each becomes a vertex of its leader's rank, in the order of the leaders.
struct Numbering {
    std::vector<Id> coarse_of;        ///< of own fine vertices: global id of the coarse vertex
    std::vector<std::int64_t> first;  ///< of the coarse vertices: length ranks + 1
    std::vector<Weight> weight;       ///< of own coarse vertices
};
Numbering numbered(const Ranks& ranks, const Halo& fine, const Clusters& clusters);

/// The hypergraph of the coarse vertices. Nets lose repeated pins and vanish with one pin left; those with the same pins
/// become one. Collective.
Level contracted(const Ranks& ranks, const Level& fine, const Numbering& numbering);

/// For each of `ids`, which any rank may own, what its owner has for it in `values`. Collective.
template <class T>
std::vector<T> asked(const Ranks& ranks, const std::vector<std::int64_t>& first, const std::vector<Id>& ids,
                     const std::vector<T>& values) {
    Mail<Id> questions(usize(ranks.count()));
    std::vector<int> owners;
    for (const Id id : ids) {
        owners.push_back(
            static_cast<int>(std::upper_bound(first.begin(), first.end(), std::int64_t{id}) - first.begin()) - 1);
        questions[usize(owners.back())].push_back(id);
    }
    const Received<Id> in = ranks.exchange(questions);
    Mail<T> answers(questions.size());
    for (int r = 0; r < ranks.count(); ++r)
        for (const Id id : in.from(r)) answers[usize(r)].push_back(values[id - usize(first[usize(ranks.rank())])]);
    const Received<T> told = ranks.exchange(answers);
    std::vector<std::size_t> next(told.first.begin(), told.first.end() - 1);
    std::vector<T> result;
    result.reserve(ids.size());
    for (const int owner : owners) result.push_back(told.values[next[usize(owner)]++]);
    return result;
}

}  // namespace gnnbench::distributed
