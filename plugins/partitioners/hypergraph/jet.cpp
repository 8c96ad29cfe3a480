// Jet: M. S. Gilbert, K. Madduri, E. G. Boman and S. Rajamanickam, "Jet: Multilevel Graph Partitioning on Graphics
// Processing Units", SIAM J. Sci. Comput. 46 (2024); for hypergraphs and deterministically: R. Krause, L. Gottesbüren
// and N. Maas, "Deterministic Parallel High-Quality Hypergraph Partitioning", 2025.
#include "jet.hpp"

#include <algorithm>
#include <atomic>

#include <omp.h>

#include "gains.hpp"
#include "rebalance.hpp"

namespace gnnbench::hypergraph {
namespace {

constexpr Id waking_net = 64;
constexpr double abort_cut_ratio =
    1.05;  ///< times the best cut: nearly everything moves, at great cost, and is taken back

class Jet {
public:
    Jet(Partitioned& partition, Weight limit)
        : p_(partition),
          h_(partition.hypergraph()),
          limit_(limit),
          soft_limit_(limit),
          best_move_(h_.vertex_count()),
          stale_(h_.vertex_count(), 1),
          locked_(h_.vertex_count(), 0),
          touched_(h_.net_count(), 0),
          finders_(static_cast<std::size_t>(omp_get_max_threads()), BestMoveFinder(p_.parts())) {
        remember();
    }

    /// False if it was too hot to be of use.
    bool run(const JetRound& round) {
        soft_limit_ = limit_ + static_cast<Weight>(round.slack * static_cast<double>(limit_));
        // Without temperature little moves: an iteration costs a fraction, so less progress is worth it.
        const double progress = round.temperature > 0 ? 0.999 : 0.9997;
        std::fill(stale_.begin(), stale_.end(), 1);
        for (int idle = 0; idle < round.patience; ++idle) {
            find_best_moves(0);
            if (!move_promising(round.temperature)) break;
            // Only these are rebalanced; the others' moves are found when the next iteration asks for them.
            if (p_.heaviest() > limit_) find_best_moves(limit_ + 1);
            const bool balanced = rebalance(p_, limit_, best_move_, touched_);
            const std::int64_t cut = p_.connectivity_minus_one();
            const bool better = (balanced && !best_balanced_) || (balanced && cut < best_cut_);
            const double ratio = static_cast<double>(cut) / static_cast<double>(best_cut_);
            if (better && ratio < progress) idle = -1;
            if (better) remember();
            if (!better && ratio > abort_cut_ratio) {
                return_to_best();
                return false;
            }
        }
        return_to_best();
        return true;
    }

private:
    void remember() {
        best_ = p_.assignment();
        best_cut_ = p_.connectivity_minus_one();
        best_balanced_ = p_.heaviest() <= limit_;
    }

    void return_to_best() {
        moves_.clear();
        for (Id v = 0; v < h_.vertex_count(); ++v)
            if (p_.part_of(v) != best_[v]) moves_.push_back({v, best_[v]});
        apply();
    }

    void apply() {
        gains_.resize(moves_.size());
        p_.move_all(moves_, gains_, touched_);
    }

    /// Recomputes the moves of vertices whose nets changed, but for large ones, in parts of at least this weight.
    void find_best_moves(Weight part_weight) {
        const auto nets = static_cast<std::int64_t>(h_.net_count());
        const auto vertices = static_cast<std::int64_t>(h_.vertex_count());
#pragma omp parallel for schedule(dynamic, 1024)
        for (std::int64_t e = 0; e < nets; ++e) {
            char& touched = touched_[static_cast<std::size_t>(e)];
            if (!touched) continue;
            touched = 0;
            // A large net's change wakes thousands of vertices for little; moves are checked by exact gains anyway.
            if (h_.net_size(static_cast<Id>(e)) > waking_net) continue;
            for (const Id v : h_.pins_of(static_cast<Id>(e)))
                std::atomic_ref(stale_[v]).store(1, std::memory_order_relaxed);
        }
#pragma omp parallel for schedule(dynamic, 512)
        for (std::int64_t i = 0; i < vertices; ++i) {
            const Id v = static_cast<Id>(i);
            if (!stale_[v] || p_.part_weight(p_.part_of(v)) < part_weight) continue;
            stale_[v] = 0;
            const Weight w = h_.vertex_weight[v];
            best_move_[v] = finders_[static_cast<std::size_t>(omp_get_thread_num())].find(
                p_, v, [&](PartId q) { return p_.part_weight(q) + w <= soft_limit_; });
        }
    }

    /// Moves in the order of their gain all that gain, or lose little beside what the vertex leaves; then takes back
    /// those that lose by what moved before them. False if nothing moved.
    bool move_promising(double temperature) {
        moves_.clear();
        for (Id v = 0; v < h_.vertex_count(); ++v) {
            const BestMove& m = best_move_[v];
            if (m.to >= 0 && !locked_[v] && (m.gain >= 0 || m.gain > -temperature * m.held))
                moves_.push_back({v, m.to});
        }
        std::sort(moves_.begin(), moves_.end(), [&](const Partitioned::Move& a, const Partitioned::Move& b) {
            const NetWeight of_a = best_move_[a.vertex].gain, of_b = best_move_[b.vertex].gain;
            return of_a != of_b ? of_a > of_b : a.vertex < b.vertex;
        });
        // In this order a part may take up to its soft limit; what finds none there waits.
        std::vector<Weight> weight(static_cast<std::size_t>(p_.parts()));
        for (PartId q = 0; q < p_.parts(); ++q) weight[static_cast<std::size_t>(q)] = p_.part_weight(q);
        std::erase_if(moves_, [&](const Partitioned::Move& m) {
            const Weight w = h_.vertex_weight[m.vertex];
            if (weight[static_cast<std::size_t>(m.to)] + w > soft_limit_) return true;
            weight[static_cast<std::size_t>(m.to)] += w;
            weight[static_cast<std::size_t>(p_.part_of(m.vertex))] -= w;
            return false;
        });
        std::vector<PartId> from(moves_.size());
        for (std::size_t i = 0; i < moves_.size(); ++i) from[i] = p_.part_of(moves_[i].vertex);
        apply();
        std::fill(locked_.begin(), locked_.end(), 0);
        std::size_t back = 0;
        const std::size_t tried = moves_.size();
        for (std::size_t i = 0; i < tried; ++i) {
            if (gains_[i] >= 0)
                locked_[moves_[i].vertex] = 1;
            else
                moves_[back++] = {moves_[i].vertex, from[i]};
        }
        moves_.resize(back);
        apply();
        return back < tried;
    }

    Partitioned& p_;
    const Hypergraph& h_;
    Weight limit_, soft_limit_;
    std::vector<BestMove> best_move_;  ///< length vertices
    std::vector<char> stale_;          ///< length vertices: best_move_ is to be recomputed
    std::vector<char> locked_;         ///< length vertices: moved in the last iteration
    std::vector<char> touched_;        ///< length nets
    std::vector<BestMoveFinder> finders_;
    std::vector<Partitioned::Move> moves_;
    std::vector<NetWeight> gains_;
    std::vector<PartId> best_;  ///< length vertices
    std::int64_t best_cut_ = 0;
    bool best_balanced_ = false;
};

}  // namespace

std::size_t refine_jet(Partitioned& partition, Weight limit, std::span<const JetRound> rounds) {
    Jet jet(partition, limit);
    std::size_t useless_rounds = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i)
        if (!jet.run(rounds[i]) && useless_rounds == i) ++useless_rounds;
    return useless_rounds;
}

}  // namespace gnnbench::hypergraph
