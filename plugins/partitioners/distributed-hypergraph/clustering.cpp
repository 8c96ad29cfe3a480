// Size-constrained label propagation (Meyerhenke, Sanders & Schulz, SEA 2014) over ranks, in sub-rounds between which
// labels of ghosts are exchanged, as in Sanders & Seemaier, "Distributed Deep Multilevel Graph Partitioning", Euro-Par
// 2023. There a vertex sees its neighbours' labels. Here it shares nets whose pins other ranks have, so the owner of a net
// tells of it only the labels that most of its pins have. The owner of a cluster's leader admits those who want to join,
// so that the weight is kept exactly.
#include "clustering.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "hypergraph/random.hpp"
#include "net_words.hpp"

namespace gnnbench::distributed {
namespace {

using hypergraph::mixed;

constexpr int sub_rounds = 16;
constexpr std::size_t told_labels = 8;  ///< of a net
constexpr std::int64_t rating_unit = std::int64_t{1} << 20;

struct Request {
    Id leader, vertex;  ///< global ids
    Weight weight;
};

/// Sums by label, in a table that is as large as the largest number of labels took.
class Ratings {
public:
    void add(Id label, std::int64_t rating) {
        if (met_.size() * 2 >= slots_.size()) grow();
        const std::size_t at = place_of(label);
        if (slots_[at].rating == 0) {
            slots_[at].label = label;
            met_.push_back(at);
        }
        slots_[at].rating += rating;
    }
    /// Calls use(label, sum), and forgets them.
    template <class Use>
    void take(Use&& use) {
        for (const std::size_t at : met_) {
            use(slots_[at].label, slots_[at].rating);
            slots_[at] = {};
        }
        met_.clear();
    }

private:
    struct Slot {
        Id label = 0;
        std::int64_t rating = 0;  ///< 0: free
    };
    std::size_t place_of(Id label) const {
        std::size_t at = mixed(label) & (slots_.size() - 1);
        while (slots_[at].rating != 0 && slots_[at].label != label) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<Slot> before(slots_.size() * 2);
        std::swap(before, slots_);
        for (std::size_t& at : met_) {
            const Slot slot = before[at];
            at = place_of(slot.label);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(256);
    std::vector<std::size_t> met_;  ///< slots that are not free
};

class Clustering {
public:
    Clustering(const Ranks& ranks, const Level& level, const ClusteringLimits& limits, std::uint64_t seed)
        : ranks_(ranks),
          level_(level),
          limits_(limits),
          seed_(seed),
          label_(level.vertices.size()),
          weight_(level.vertex_weight),
          members_(level.vertices.owned(), 1),
          moving_(level.vertices.owned()),
          moved_(level.vertices.size()),
          touched_(level.nets.owned(), 1),
          told_(level.nets.size()),
          clusters_(level.vertices.all()) {
        for (Id v = 0; v < level.vertices.size(); ++v) label_[v] = level.vertices.global(v);
    }

    Clusters run() {
        for (int turn = 0; turn < sub_rounds && clusters_ > limits_.clusters; ++turn) {
            tell_labels();
            const std::vector<Id> wishes = choose(turn);
            join(wishes);
        }
        label_.resize(level_.vertices.owned());
        return {std::move(label_), std::move(weight_), clusters_};
    }

private:
    /// The words of a net: a label and how many pins have it, for the labels that most have.
    void tell_labels() {
        struct Told {
            Id label, pins;
        };
        std::vector<Id> labels;
        std::vector<Told> counted;
        std::vector<std::uint32_t> words;
        for (Id e = 0; e < level_.nets.owned(); ++e) {
            if (!touched_[e]) continue;
            if (level_.net_size[e] > limits_.net_size || level_.net_size[e] < 2) {
                touched_[e] = 0;
                continue;
            }
            labels.clear(), counted.clear(), words.clear();
            for (const Id v : level_.pins_of->of(e)) labels.push_back(label_[v]);
            std::ranges::sort(labels);
            for (const Id label : labels) {
                if (counted.empty() || counted.back().label != label) counted.push_back({label, 0});
                ++counted.back().pins;
            }
            if (counted.size() > told_labels) {
                std::ranges::nth_element(
                    counted, counted.begin() + told_labels, [&](const Told& a, const Told& b) {
                        return a.pins != b.pins ? a.pins > b.pins : mixed(seed_, a.label) < mixed(seed_, b.label);
                    });
                counted.resize(told_labels);
            }
            for (const Told& t : counted) words.insert(words.end(), {t.label, t.pins});
            told_.set(e, words);
        }
        told_.push_changed(ranks_, level_.nets, touched_, [](Id) {});
        std::ranges::fill(touched_, 0);
    }

    /// For each own vertex the leader that it wants to follow; its own where it stays. Only those move that are alone.
    std::vector<Id> choose(int turn) {
        std::vector<Id> wishes(label_.begin(), label_.begin() + level_.vertices.owned());
        std::ranges::fill(moving_, 0);
        for (Id v = 0; v < level_.vertices.owned(); ++v) {
            const Id own = level_.vertices.global(v);
            if (label_[v] != own || members_[v] != 1) continue;
            const bool refused = refusals_.contains(v);
            if (!refused && mixed(seed_, own) % sub_rounds != static_cast<unsigned>(turn)) continue;
            wishes[v] = favourite(v, own);
            moving_[v] = wishes[v] != own;
            if (refused && !moving_[v]) refusals_.erase(v);
        }
        return wishes;
    }

    /// r(v, C) = Σ over nets e of v: ω(e) / (|e| − 1) · |e ∩ C|, in integers, which add up to the same in any order.
    Id favourite(Id v, Id own) {
        for (const Id e : level_.nets_of->of(v)) {
            const auto words = told_.of(e);
            if (words.empty()) continue;
            const std::int64_t r = rating_unit / (level_.net_size[e] - 1) * level_.net_weight[e];
            for (std::size_t i = 0; i < words.size(); i += 2)
                if (words[i] != own) ratings_.add(words[i], r * words[i + 1]);
        }
        const auto refused = refusals_.find(v);
        const auto refuses = [&](Id label) {
            return refused != refusals_.end() &&
                   std::ranges::find(refused->second, label) != refused->second.end();
        };
        Id best = own;
        std::int64_t best_rating = 0;
        ratings_.take([&](Id label, std::int64_t rating) {
            if (rating < best_rating || refuses(label)) return;
            if (rating > best_rating || mixed(seed_, label) < mixed(seed_, best))
                best = label, best_rating = rating;
        });
        return best;
    }

    void join(const std::vector<Id>& wishes) {
        Mail<Request> mail(usize(ranks_.count()));
        for (Id v = 0; v < wishes.size(); ++v)
            if (moving_[v])
                mail[usize(level_.vertices.owner(wishes[v]))].push_back(
                    {wishes[v], level_.vertices.global(v), level_.vertex_weight[v]});
        const Received<Request> requests = ranks_.exchange(mail);
        Mail<char> answers(mail.size());
        const std::vector<char> admitted = admit(requests.values);
        for (int r = 0; r < ranks_.count(); ++r)
            answers[usize(r)].assign(admitted.begin() + static_cast<std::ptrdiff_t>(requests.first[usize(r)]),
                                     admitted.begin() + static_cast<std::ptrdiff_t>(requests.first[usize(r) + 1]));
        const Received<char> answer = ranks_.exchange(answers);
        std::ranges::fill(moved_, 0);
        std::int64_t joined = 0;
        for (int r = 0; r < ranks_.count(); ++r)
            for (std::size_t i = 0; i < mail[usize(r)].size(); ++i) {
                const Id v = mail[usize(r)][i].vertex - level_.vertices.own_first();
                if (!answer.from(r)[i]) {
                    refusals_[v].push_back(mail[usize(r)][i].leader);
                    continue;
                }
                refusals_.erase(v);
                label_[v] = mail[usize(r)][i].leader;
                weight_[v] = 0, members_[v] = 0;
                moved_[v] = 1;
                ++joined;
            }
        clusters_ -= ranks_.sum(joined);
        level_.vertices.push_changed(ranks_, label_, moved_, [&](Id ghost) { moved_[ghost] = 1; });
        for (Id e = 0; e < level_.nets.owned(); ++e)
            for (const Id v : level_.pins_of->of(e))
                if (moved_[v]) {
                    touched_[e] = 1;
                    break;
                }
    }

    /// In an order that does not depend on who asked first. Nobody follows a leader that wants to leave itself.
    std::vector<char> admit(const std::vector<Request>& requests) {
        std::vector<std::size_t> order(requests.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            const Request &x = requests[a], &y = requests[b];
            if (x.leader != y.leader) return x.leader < y.leader;
            const std::uint64_t of_x = mixed(seed_, x.vertex), of_y = mixed(seed_, y.vertex);
            return of_x != of_y ? of_x < of_y : x.vertex < y.vertex;
        });
        std::vector<char> admitted(requests.size());
        for (const std::size_t i : order) {
            const Id leader = requests[i].leader - level_.vertices.own_first();
            if (moving_[leader] || members_[leader] == 0 ||
                weight_[leader] + requests[i].weight > limits_.cluster_weight)
                continue;
            weight_[leader] += requests[i].weight;
            ++members_[leader];
            admitted[i] = 1;
        }
        return admitted;
    }

    const Ranks& ranks_;
    const Level& level_;
    const ClusteringLimits& limits_;
    std::uint64_t seed_;
    std::vector<Id> label_;       ///< of own vertices and ghosts: the leader's global id
    std::vector<Weight> weight_;  ///< of the clusters that own vertices lead
    std::vector<Id> members_;     ///< the same
    std::vector<char> moving_;    ///< own vertices that want to leave in this sub-round
    std::vector<char> moved_;     ///< own vertices and ghosts that have
    std::vector<char> touched_;   ///< own nets of which a pin has moved
    NetWords told_;
    Ratings ratings_;
    /// Of own vertices that wanted to move and found no room: the leaders that had none. They try others in the next
    /// sub-rounds.
    std::unordered_map<Id, std::vector<Id>> refusals_;
    std::int64_t clusters_;
};

}  // namespace

Clusters cluster(const Ranks& ranks, const Level& level, const ClusteringLimits& limits, std::uint64_t seed) {
    return Clustering(ranks, level, limits, seed).run();
}

}  // namespace gnnbench::distributed
