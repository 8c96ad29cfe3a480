// Jet (Gilbert, Madduri, Boman & Rajamanickam, SIAM J. Sci. Comput. 46, 2024) over ranks, as Sanders & Seemaier describe
// it for graphs ("Distributed Unconstrained Local Search for Multilevel Graph Partitioning", 2024), for connectivity−1.
// Every vertex chooses its move from one state; the owners of nets compute what each would gain after those that gain
// more have moved; those that lose stay.
#include "jet.hpp"

#include <algorithm>
#include <bit>

#include "hypergraph/random.hpp"
#include "rebalance.hpp"

namespace gnnbench::distributed {
namespace {

using hypergraph::JetRound;
using hypergraph::mixed;

constexpr Id waking_net = 64;
constexpr double abort_cut_ratio = 1.05;

/// What a vertex wants: to = −1 where it stays.
struct Wish {
    PartId to = -1;
    NetWeight gain = 0;
};

/// Gains in classes, the best first: 12 of powers of two, zero, 11 of losses.
constexpr std::size_t gain_classes = 24;
std::size_t class_of(NetWeight gain) {
    const auto log = [](NetWeight g) {
        return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(g))) - 1;
    };
    if (gain > 0) return 11 - std::min<std::size_t>(11, log(gain));
    return gain == 0 ? 12 : 13 + std::min<std::size_t>(10, log(-gain));
}

class Jet {
public:
    Jet(const Ranks& ranks, Partitioned& partition, Weight limit, std::uint64_t seed)
        : ranks_(ranks),
          p_(partition),
          level_(partition.level()),
          limit_(limit),
          soft_limit_(limit),
          seed_(seed),
          best_move_(level_.vertices.owned()),
          stale_(level_.vertices.owned(), 1),
          locked_(level_.vertices.owned()),
          wish_(level_.vertices.size()),
          gain_(level_.vertices.size()),
          pins_in_(usize(p_.parts())),
          finder_(p_.parts()) {
        remember();
    }

    /// False if it was too hot to be of use.
    bool run(const JetRound& round) {
        soft_limit_ = limit_ + static_cast<Weight>(round.slack * static_cast<double>(limit_));
        const double progress = round.temperature > 0 ? 0.999 : 0.9997;
        std::ranges::fill(stale_, 1);
        for (int idle = 0; idle < round.patience; ++idle) {
            find_best_moves();
            if (!move_promising(round.temperature)) break;
            const bool balanced = rebalance(ranks_, p_, limit_);
            const std::int64_t cut = p_.connectivity_minus_one();
            const bool better = (balanced && !best_balanced_) || (balanced && cut < best_cut_);
            const double ratio =
                static_cast<double>(cut) / static_cast<double>(std::max<std::int64_t>(1, best_cut_));
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
        best_ = p_.own_parts();
        best_cut_ = p_.connectivity_minus_one();
        best_balanced_ = p_.heaviest() <= limit_;
    }

    void return_to_best() {
        moves_.clear();
        for (Id v = 0; v < best_.size(); ++v)
            if (p_.part_of(v) != best_[v]) moves_.push_back({v, best_[v]});
        p_.move(moves_);
    }

    /// Of vertices whose nets have changed, but for large ones.
    void find_best_moves() {
        for (Id v = 0; v < level_.vertices.owned(); ++v) {
            if (!stale_[v] && std::ranges::none_of(level_.nets_of->of(v), [&](Id e) {
                    return p_.net_changed(e) && level_.net_size[e] <= waking_net;
                }))
                continue;
            stale_[v] = 0;
            const Weight w = level_.vertex_weight[v];
            best_move_[v] = finder_.find(p_, v, [&](PartId q) { return p_.part_weight(q) + w <= soft_limit_; });
        }
        p_.forget_changes();
    }

    /// Moves all that gain after those that gain more, or did not lose. False if nothing moved anywhere.
    bool move_promising(double temperature) {
        ++iteration_;
        moves_.clear();
        for (Id v = 0; v < level_.vertices.owned(); ++v) {
            const BestMove& m = best_move_[v];
            if (m.to >= 0 && m.to != p_.part_of(v) && !locked_[v] &&
                (m.gain >= 0 || m.gain > -temperature * m.held))
                moves_.push_back({v, m.to});
        }
        leave_out_what_finds_no_room();
        tell_wishes();
        weigh_wishes();
        std::ranges::fill(locked_, 0);
        std::erase_if(moves_, [&](const Partitioned::Move& m) { return gain_[m.vertex] < 0; });
        for (const Partitioned::Move& m : moves_) locked_[m.vertex] = 1;
        std::ranges::fill(wish_, Wish{});
        std::ranges::fill(gain_, 0);
        if (ranks_.sum(std::ssize(moves_)) == 0) return false;
        p_.move(moves_);
        return true;
    }

    /// A part takes the best classes of gain as far as it may get heavier, what leaves it counted; of the class that fits
    /// in part, vertices at random.
    void leave_out_what_finds_no_room() {
        const std::size_t parts = usize(p_.parts());
        std::vector<Weight> wanted(parts * (gain_classes + 1));
        for (const Partitioned::Move& m : moves_) {
            const Weight w = level_.vertex_weight[m.vertex];
            wanted[usize(m.to) * gain_classes + class_of(best_move_[m.vertex].gain)] += w;
            wanted[parts * gain_classes + usize(p_.part_of(m.vertex))] += w;
        }
        wanted = ranks_.sum(wanted);
        std::vector<double> share(parts * gain_classes);
        for (std::size_t q = 0; q < parts; ++q) {
            Weight room = soft_limit_ - p_.part_weight(static_cast<PartId>(q)) + wanted[parts * gain_classes + q];
            for (std::size_t c = 0; c < gain_classes; ++c) {
                const Weight w = wanted[q * gain_classes + c];
                share[q * gain_classes + c] =
                    w <= room ? 1 : static_cast<double>(std::max<Weight>(room, 0)) / static_cast<double>(w);
                room -= w;
            }
        }
        std::erase_if(moves_, [&](const Partitioned::Move& m) {
            const double kept = share[usize(m.to) * gain_classes + class_of(best_move_[m.vertex].gain)];
            if (kept >= 1) return false;
            const std::uint64_t drawn = mixed(mixed(seed_, iteration_), level_.vertices.global(m.vertex));
            return static_cast<double>(drawn >> 11) * 0x1p-53 >= kept;
        });
    }

    void tell_wishes() {
        std::vector<char> wishing(level_.vertices.owned());
        for (const Partitioned::Move& m : moves_) {
            wish_[m.vertex] = {m.to, best_move_[m.vertex].gain};
            wishing[m.vertex] = 1;
        }
        level_.vertices.push_changed(ranks_, wish_, wishing, [](Id) {});
    }

    /// gain_[v]: by how much connectivity−1 falls when v moves after all that gain more.
    void weigh_wishes() {
        std::vector<Id> movers;
        std::vector<PartId> met;
        for (Id e = 0; e < level_.nets.owned(); ++e) {
            const auto pins = level_.pins_of->of(e);
            movers.clear();
            for (const Id v : pins)
                if (wish_[v].to >= 0) movers.push_back(v);
            if (movers.empty()) continue;
            std::ranges::sort(movers, [&](Id a, Id b) {
                return wish_[a].gain != wish_[b].gain ? wish_[a].gain > wish_[b].gain
                                                      : level_.vertices.global(a) < level_.vertices.global(b);
            });
            for (const Id v : pins) ++pins_in_[usize(p_.part_of(v))];
            const NetWeight weight = level_.net_weight[e];
            for (const Id v : movers) {
                if (--pins_in_[usize(p_.part_of(v))] == 0) gain_[v] += weight;
                if (++pins_in_[usize(wish_[v].to)] == 1) gain_[v] -= weight;
            }
            for (const Id v : pins) pins_in_[usize(p_.part_of(v))] = 0;
            for (const Id v : movers) pins_in_[usize(wish_[v].to)] = 0;
        }
        level_.vertices.add_back(ranks_, gain_);
    }

    const Ranks& ranks_;
    Partitioned& p_;
    const Level& level_;
    Weight limit_, soft_limit_;
    std::uint64_t seed_, iteration_ = 0;
    std::vector<BestMove> best_move_;  ///< of own vertices
    std::vector<char> stale_;          ///< of own vertices: best_move_ is to be recomputed
    std::vector<char> locked_;         ///< of own vertices: moved in the last iteration
    std::vector<Wish> wish_;           ///< of own vertices and ghosts
    std::vector<NetWeight> gain_;      ///< the same
    std::vector<Id> pins_in_;          ///< length parts; 0 between uses
    BestMoveFinder finder_;
    std::vector<Partitioned::Move> moves_;
    std::vector<PartId> best_;  ///< of own vertices
    std::int64_t best_cut_ = 0;
    bool best_balanced_ = false;
};

}  // namespace

std::size_t refine_jet(const Ranks& ranks, Partitioned& partition, Weight limit, std::span<const JetRound> rounds,
                       std::uint64_t seed) {
    Jet jet(ranks, partition, limit, seed);
    std::size_t useless_rounds = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i)
        if (!jet.run(rounds[i]) && useless_rounds == i) ++useless_rounds;
    return useless_rounds;
}

}  // namespace gnnbench::distributed
