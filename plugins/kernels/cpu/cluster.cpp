#include "cluster.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

constexpr int half_rounds = 8;
/// Entries of a long row that vote: enough to see where most of it is.
constexpr std::int64_t most_votes = 48;

std::uint32_t scrambled(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

/// Calls f(column) for the entries of row v that vote.
void for_votes(const Csr& a, std::size_t v, auto&& f) {
    const std::int64_t begin = a.indptr[v], end = a.indptr[v + 1];
    const std::int64_t step = std::max<std::int64_t>(1, (end - begin) / most_votes);
    for (std::int64_t j = begin; j < end; j += step) f(usize(a.indices[usize(j)]));
}

/// The votes of one row by cluster, in a hash table that stays in the first cache: an array by cluster would be another
/// random access to memory for each vote.
class Ballot {
public:
    /// The cluster that contains most entries of row v. Ties go to v's own, else to the same one for all threads.
    std::int32_t winner(const Csr& a, std::size_t v, const std::vector<std::int32_t>& label) {
        std::size_t seen = 0;
        for_votes(a, v, [&](std::size_t u) {
            if (u == v) return;
            Slot& slot = slot_of(label[u]);
            if (slot.votes++ == 0) seen_[seen++] = &slot;
        });
        std::int32_t best = label[v];
        std::uint64_t best_rank = slot_of(best).rank() | 0xFFFFFFFFu;
        for (std::size_t i = 0; i < seen; ++i)
            if (const std::uint64_t r = seen_[i]->rank(); r > best_rank) best = seen_[i]->label, best_rank = r;
        for (std::size_t i = 0; i < seen; ++i) seen_[i]->votes = 0;
        return best;
    }

private:
    struct Slot {
        std::int32_t label = 0;
        std::uint32_t votes = 0, scrambled = 0;  ///< free without votes
        std::uint64_t rank() const { return std::uint64_t{votes} << 32 | scrambled; }
    };

    /// The cluster's slot, or the one it shall have.
    Slot& slot_of(std::int32_t label) {
        const std::uint32_t hash = scrambled(static_cast<std::uint32_t>(label));
        for (std::size_t i = hash % slots_.size();; i = (i + 1) % slots_.size()) {
            Slot& slot = slots_[i];
            if (slot.votes > 0 && slot.label != label) continue;
            if (slot.votes == 0) slot = {label, 0, hash};
            return slot;
        }
    }

    /// A row has at most this many votes: for_votes skips none of fewer than twice most_votes.
    static constexpr std::size_t most_seen = 2 * usize(most_votes);
    std::array<Slot, 4 * most_seen> slots_{};
    std::array<Slot*, most_seen> seen_{};
};

double share_inside(const Csr& a, const std::vector<std::int32_t>& label, int threads) {
    std::int64_t inside = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : inside)
    for (std::size_t v = 0; v < label.size(); ++v)
        for (auto j = usize(a.indptr[v]); j < usize(a.indptr[v + 1]); ++j)
            inside += label[usize(a.indices[j])] == label[v];
    return a.nonzeros() > 0 ? static_cast<double>(inside) / static_cast<double>(a.nonzeros()) : 0;
}

}  // namespace

ClusterOrder cluster_order(const Csr& a, std::int64_t most, int threads) {
    const auto n = usize(a.rows);
    std::vector<std::int32_t> label(n), wish(n), size(n, 1);
    std::iota(label.begin(), label.end(), 0);
    for (int round = 0; round < half_rounds; ++round) {
        const auto chooses = [&](std::size_t v) {
            return (scrambled(static_cast<std::uint32_t>(v)) + static_cast<unsigned>(round)) % 2 == 0;
        };
#pragma omp parallel num_threads(threads)
        {
            Ballot ballot;
#pragma omp for schedule(dynamic, 4096)
            for (std::size_t v = 0; v < n; ++v) wish[v] = chooses(v) ? ballot.winner(a, v, label) : label[v];
        }
        for (std::size_t v = 0; v < n; ++v) {
            const auto from = usize(label[v]), to = usize(wish[v]);
            if (from == to || size[to] >= most) continue;
            --size[from];
            ++size[to];
            label[v] = wish[v];
        }
    }
    ClusterOrder out;
    out.inside = share_inside(a, label, threads);
    // A counting sort by cluster.
    std::vector<std::int64_t> at(n + 1);
    for (const std::int32_t l : label) ++at[usize(l) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    out.vertex_at.resize(n);
    for (std::size_t v = 0; v < n; ++v) out.vertex_at[usize(at[usize(label[v])]++)] = static_cast<std::int32_t>(v);
    return out;
}

}  // namespace gnnbench::cpu
