#include "cluster.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "memory.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

constexpr int half_rounds = 8;
/// Fewer than one in so many vertices moved in a half round: the others are not worth their time.
constexpr std::size_t few_move = 32;
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

/// The votes of one row, counted by a hash of the cluster in a table that stays in the second cache. Clusters that share
/// a place of it count together; with at most 96 votes in 65,536 places few do, and with 4,096 too many (39% of the
/// bench's sparse graph inside, in place of 45).
class Ballot {
public:
    /// The cluster that contains most entries of row v. Ties go to v's own, else to the same one for all threads.
    std::int32_t winner(const Csr& a, std::size_t v, const HostArray<std::int32_t>& label) {
        // Labels first, all of which are then under way from further caches at once.
        std::size_t votes = 0;
        for_votes(a, v, [&](std::size_t u) {
            label_[votes] = label[u];
            votes += u != v;
        });
        for (std::size_t i = 0; i < votes; ++i) hash_[i] = scrambled(static_cast<std::uint32_t>(label_[i]));
        for (std::size_t i = 0; i < votes; ++i) ++count_[hash_[i] % places];
        std::int32_t best = label[v];
        std::uint64_t best_rank = rank(scrambled(static_cast<std::uint32_t>(best))) | 0xFFFFFFFFu;
        for (std::size_t i = 0; i < votes; ++i)
            if (const std::uint64_t r = rank(hash_[i]); r > best_rank) best = label_[i], best_rank = r;
        for (std::size_t i = 0; i < votes; ++i) count_[hash_[i] % places] = 0;
        return best;
    }

private:
    static constexpr std::size_t places = 65536;
    /// A row has at most this many votes: for_votes skips none of fewer than twice most_votes.
    static constexpr std::size_t most = 2 * usize(most_votes);

    std::uint64_t rank(std::uint32_t hash) const { return std::uint64_t{count_[hash % places]} << 32 | hash; }

    std::array<std::uint8_t, places> count_{};
    std::array<std::int32_t, most + 1> label_{};  ///< v's own may be written behind the last
    std::array<std::uint32_t, most> hash_{};
};

double share_inside(const Csr& a, const HostArray<std::int32_t>& label, int threads) {
    std::int64_t inside = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : inside)
    for (std::size_t v = 0; v < usize(a.rows); ++v)
        for (auto j = usize(a.indptr[v]); j < usize(a.indptr[v + 1]); ++j)
            inside += label[usize(a.indices[j])] == label[v];
    return a.nonzeros() > 0 ? static_cast<double>(inside) / static_cast<double>(a.nonzeros()) : 0;
}

}  // namespace

ClusterOrder cluster_order(const Csr& a, std::int64_t most, int threads) {
    const auto n = usize(a.rows);
    HostArray<std::int32_t> label(n), wish(n);
    std::vector<std::int32_t> size(n, 1);
    std::iota(label.data(), label.data() + n, 0);
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
        std::size_t moved = 0;
        for (std::size_t v = 0; v < n; ++v) {
            const auto from = usize(label[v]), to = usize(wish[v]);
            if (from == to || size[to] >= most) continue;
            --size[from];
            ++size[to];
            label[v] = wish[v];
            ++moved;
        }
        if (moved < n / few_move) break;
    }
    ClusterOrder out;
    out.inside = share_inside(a, label, threads);
    // A counting sort by cluster.
    std::vector<std::int64_t> at(n + 1);
    for (std::size_t v = 0; v < n; ++v) ++at[usize(label[v]) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    out.vertex_at.resize(n);
    for (std::size_t v = 0; v < n; ++v) out.vertex_at[usize(at[usize(label[v])]++)] = static_cast<std::int32_t>(v);
    return out;
}

}  // namespace gnnbench::cpu
