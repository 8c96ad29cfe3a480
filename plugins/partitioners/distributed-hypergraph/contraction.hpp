#pragma once
#include "clustering.hpp"

namespace gnnbench::distributed {

struct Contraction {
    Level coarse;
    std::vector<Id> coarse_of;  ///< of own fine vertices: global id of the coarse vertex
};

/// Every cluster becomes a vertex of its leader's rank. Nets lose repeated pins and vanish with one pin left; those with
/// the same pins become one. Collective.
Contraction contract(const Ranks& ranks, const Level& fine, const Clusters& clusters);

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
