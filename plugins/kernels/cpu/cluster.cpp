#include "cluster.hpp"

#include <algorithm>
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

/// One thread's count of votes by cluster; all zero between rows.
class Ballot {
public:
    explicit Ballot(std::size_t clusters) : votes_(clusters) {}

    /// The cluster that contains most entries of row v. Ties go to v's own, else to the same one for all threads.
    std::int32_t winner(const Csr& a, std::size_t v, const std::vector<std::int32_t>& label) {
        seen_.clear();
        for_votes(a, v, [&](std::size_t u) {
            if (u == v) return;
            if (votes_[usize(label[u])]++ == 0) seen_.push_back(label[u]);
        });
        std::int32_t best = label[v];
        std::uint64_t best_rank = rank(best) | 0xFFFFFFFFu;
        for (const std::int32_t l : seen_)
            if (const std::uint64_t r = rank(l); r > best_rank) best = l, best_rank = r;
        for (const std::int32_t l : seen_) votes_[usize(l)] = 0;
        return best;
    }

private:
    std::uint64_t rank(std::int32_t l) const {
        return std::uint64_t{votes_[usize(l)]} << 32 | scrambled(static_cast<std::uint32_t>(l));
    }
    std::vector<std::uint32_t> votes_;
    std::vector<std::int32_t> seen_;
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
            Ballot ballot(n);
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
