// Size-constrained label propagation (Meyerhenke, Sanders & Schulz, SEA 2014) over ranks, in sub-rounds between which
// labels of ghosts are exchanged, as in Sanders & Seemaier, "Distributed Deep Multilevel Graph Partitioning", Euro-Par
// 2023. There a vertex sees its neighbours' labels. Here it shares nets whose pins other ranks have, so it asks the owner of
// a net, who tells only the labels that most of its pins have: for some vertices at a time, since what a rank keeps of its
// ghosts decides how large a graph may be. The owner of a cluster's leader admits those who want to join, so that the
// weight is kept exactly.
#include "clustering.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "hypergraph/random.hpp"

namespace gnnbench::distributed {
namespace {

using hypergraph::mixed;

constexpr int sub_rounds = 16;
constexpr std::size_t told_labels = 8;  ///< of a net
constexpr std::size_t asked_at_once = std::size_t{1}
                                      << 16;  ///< nets of some vertices, the same one counted for each
constexpr std::int64_t rating_unit = std::int64_t{1} << 20;

/// A label, and how many pins of a net have it.
struct Told {
    Id label, pins;
};

/// What the owners of some nets told.
struct ToldNets {
    std::vector<Id> nets;  ///< local ids, ascending
    std::vector<std::size_t> begin;
    std::vector<std::uint8_t> count;
    std::vector<Told> told;
    std::span<const Told> of(Id net) const {
        const auto i = usize(std::ranges::lower_bound(nets, net) - nets.begin());
        return {told.data() + begin[i], count[i]};
    }
};

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
          moved_(level.vertices.owned()),
          clusters_(level.vertices.all()) {
        for (Id v = 0; v < level.vertices.size(); ++v) label_[v] = level.vertices.global(v);
    }

    Clusters run() {
        for (int turn = 0; turn < sub_rounds && clusters_ > limits_.clusters; ++turn) {
            join(choose(turn));
        }
        label_.resize(level_.vertices.owned());
        return {std::move(label_), std::move(weight_), clusters_};
    }

private:
    bool tells(Id net) const { return level_.net_size[net] >= 2 && level_.net_size[net] <= limits_.net_size; }

    /// Of an own net the labels that most pins have.
    void tell(Id net, std::vector<Told>& out) {
        labels_.clear(), counted_.clear();
        for (const Id v : level_.pins_of->of(net)) labels_.push_back(label_[v]);
        std::ranges::sort(labels_);
        for (const Id label : labels_) {
            if (counted_.empty() || counted_.back().label != label) counted_.push_back({label, 0});
            ++counted_.back().pins;
        }
        if (counted_.size() > told_labels) {
            std::ranges::nth_element(counted_, counted_.begin() + told_labels, [&](const Told& a, const Told& b) {
                return a.pins != b.pins ? a.pins > b.pins : mixed(seed_, a.label) < mixed(seed_, b.label);
            });
            counted_.resize(told_labels);
        }
        out.insert(out.end(), counted_.begin(), counted_.end());
    }

    /// Asks the owners of these nets, ascending and each once. Collective.
    ToldNets ask(std::vector<Id> nets) {
        const Halo& halo = level_.nets;
        const auto local_first = [&](int rank) {
            return rank == ranks_.rank() ? 0 : halo.owned() + halo.run(rank);
        };
        const auto position = [&](Id net) { return usize(std::ranges::lower_bound(nets, net) - nets.begin()); };
        std::vector<std::size_t> first, last;  // by rank: where its nets lie in `nets`
        Mail<Id> questions(usize(ranks_.count()));
        for (int r = 0; r < ranks_.count(); ++r) {
            const bool mine = r == ranks_.rank();
            first.push_back(position(local_first(r)));
            last.push_back(position(mine ? halo.owned() : halo.owned() + halo.run(r + 1)));
            for (std::size_t i = first.back(); i < last.back(); ++i)
                questions[usize(r)].push_back(nets[i] - local_first(r));
        }
        const Received<Id> asked = ranks_.exchange(questions);
        questions = {};
        Mail<Told> told(usize(ranks_.count()));
        Mail<std::uint8_t> counts(told.size());
        for (int r = 0; r < ranks_.count(); ++r)
            for (const Id place : asked.from(r)) {
                const std::size_t before = told[usize(r)].size();
                tell(r == ranks_.rank() ? place : halo.copies(r)[place], told[usize(r)]);
                counts[usize(r)].push_back(static_cast<std::uint8_t>(told[usize(r)].size() - before));
            }
        const Received<std::uint8_t> counted = ranks_.exchange(counts);
        Received<Told> answers = ranks_.exchange(told);
        ToldNets result{std::move(nets), {}, {}, std::move(answers.values)};
        result.begin.resize(result.nets.size());
        result.count.resize(result.nets.size());
        for (std::size_t r = 0; r < told.size(); ++r)
            for (std::size_t i = first[r], at = answers.first[r]; i < last[r]; ++i) {
                result.begin[i] = at;
                result.count[i] = counted.values[counted.first[r] + i - first[r]];
                at += result.count[i];
            }
        return result;
    }

    /// For each own vertex the leader that it wants to follow; its own where it stays. Only those move that are alone.
    /// Collective.
    std::vector<Id> choose(int turn) {
        std::vector<Id> wishes(label_.begin(), label_.begin() + level_.vertices.owned());
        std::ranges::fill(moving_, 0);
        std::vector<Id> choosing;
        for (Id v = 0; v < level_.vertices.owned(); ++v) {
            const Id own = level_.vertices.global(v);
            if (label_[v] != own || members_[v] != 1) continue;
            if (mixed(seed_, own) % sub_rounds == static_cast<unsigned>(turn) || refusals_.contains(v))
                choosing.push_back(v);
        }
        std::size_t next = 0;
        while (ranks_.maximum(next < choosing.size()) > 0) {
            std::vector<Id> nets;
            const std::size_t begin = next;
            for (; next < choosing.size() && nets.size() < asked_at_once; ++next)
                std::ranges::copy_if(level_.nets_of->of(choosing[next]), std::back_inserter(nets),
                                     [&](Id e) { return tells(e); });
            std::ranges::sort(nets);
            nets.erase(std::ranges::unique(nets).begin(), nets.end());
            const ToldNets told = ask(std::move(nets));
            for (const Id v : std::span(choosing).subspan(begin, next - begin)) {
                const Id own = level_.vertices.global(v);
                wishes[v] = favourite(v, own, told);
                moving_[v] = wishes[v] != own;
                if (!moving_[v]) refusals_.erase(v);
            }
        }
        return wishes;
    }

    /// r(v, C) = Σ over nets e of v: ω(e) / (|e| − 1) · |e ∩ C|, in integers, which add up to the same in any order.
    Id favourite(Id v, Id own, const ToldNets& told) {
        for (const Id e : level_.nets_of->of(v)) {
            if (!tells(e)) continue;
            const std::int64_t r = rating_unit / (level_.net_size[e] - 1) * level_.net_weight[e];
            for (const auto& [label, pins] : told.of(e))
                if (label != own) ratings_.add(label, r * pins);
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
        level_.vertices.push_changed(ranks_, label_, moved_, [](Id) {});
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
    std::vector<char> moved_;     ///< own vertices that have
    Ratings ratings_;
    std::vector<Id> labels_;     ///< of a net's pins
    std::vector<Told> counted_;  ///< of a net
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
