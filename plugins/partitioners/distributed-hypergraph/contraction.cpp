#include "contraction.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <numeric>

#include "hypergraph/random.hpp"

namespace gnnbench::distributed {
namespace {

/// Own nets in the names of coarse vertices; of those with the same pins the first, with all their weight.
class MergedNets {
public:
    explicit MergedNets(std::size_t at_most) : table_(std::bit_ceil(at_most * 2 + 1), none) {}

    void add(std::span<const Id> pins, NetWeight weight) {
        std::uint64_t print = 0;
        for (const Id pin : pins) print += hypergraph::mixed(pin);
        const std::size_t mask = table_.size() - 1;
        for (std::size_t slot = hypergraph::mixed(print) & mask;; slot = (slot + 1) & mask) {
            if (table_[slot] == none) {
                table_[slot] = static_cast<Id>(nets_.weight.size());
                // By an eighth: twice the room would be more than all that is left of the nets.
                if (nets_.pins.size() + pins.size() > nets_.pins.capacity())
                    nets_.pins.reserve(nets_.pins.size() + nets_.pins.size() / 8 + 1024 + pins.size());
                nets_.pins.insert(nets_.pins.end(), pins.begin(), pins.end());
                nets_.offsets.push_back(std::ssize(nets_.pins));
                nets_.weight.push_back(weight);
                return;
            }
            const Id net = table_[slot];
            const std::span<const Id> others{nets_.pins.data() + nets_.offsets[net],
                                             usize(nets_.offsets[net + std::size_t{1}] - nets_.offsets[net])};
            if (std::ranges::equal(pins, others)) {
                nets_.weight[net] += weight;
                return;
            }
        }
    }
    OwnNets take() && { return std::move(nets_); }

private:
    static constexpr Id none = ~Id{0};
    std::vector<Id> table_;
    OwnNets nets_;
};

/// Of a net's pins, so long that two nets with the same one have the same pins.
struct Fingerprint {
    std::uint64_t first = 0, second = 0;
    auto operator<=>(const Fingerprint&) const = default;
};

struct Known {
    Fingerprint print;
    NetWeight weight = 0;
};

/// Of nets with the same pins on several ranks the first rank's remains, with all their weight. Collective.
OwnNets without_others(const Ranks& ranks, OwnNets nets) {
    Mail<Known> mail(usize(ranks.count()));
    std::vector<int> asked(nets.weight.size());
    for (std::size_t e = 0; e < nets.weight.size(); ++e) {
        Known known{.print = {}, .weight = nets.weight[e]};
        for (std::int64_t i = nets.offsets[e]; i < nets.offsets[e + 1]; ++i) {
            const std::uint64_t pin = hypergraph::mixed(nets.pins[usize(i)]);
            known.print.first += pin;
            known.print.second += hypergraph::mixed(pin);
        }
        asked[e] = static_cast<int>(hypergraph::mixed(known.print.first) % static_cast<unsigned>(ranks.count()));
        mail[usize(asked[e])].push_back(known);
    }
    Received<Known> in = ranks.exchange(mail);
    mail = {};
    std::vector<Id> order(in.values.size());
    std::iota(order.begin(), order.end(), Id{0});
    std::ranges::sort(order, [&](Id a, Id b) {
        return in.values[a].print != in.values[b].print ? in.values[a].print < in.values[b].print : a < b;
    });
    for (std::size_t i = 0, first = 0; i < order.size(); ++i) {
        Known &known = in.values[order[i]], &kept = in.values[order[first]];
        if (i == first || known.print != kept.print) {
            first = i;
            continue;
        }
        kept.weight += known.weight;
        known.weight = 0;
    }
    Mail<NetWeight> answers(usize(ranks.count()));
    for (int r = 0; r < ranks.count(); ++r)
        for (const Known& known : in.from(r)) answers[usize(r)].push_back(known.weight);
    const Received<NetWeight> weights = ranks.exchange(answers);
    std::vector<std::size_t> next(weights.first.begin(), weights.first.end() - 1);
    std::size_t left = 0;  // nets, which move to the front
    std::int64_t begin = 0, kept_pins = 0;
    for (std::size_t e = 0; e < asked.size(); ++e) {
        const std::int64_t end = nets.offsets[e + 1];
        const NetWeight weight = weights.values[next[usize(asked[e])]++];
        if (weight != 0) {
            std::copy(nets.pins.begin() + begin, nets.pins.begin() + end, nets.pins.begin() + kept_pins);
            kept_pins += end - begin;
            nets.weight[left++] = weight;
            nets.offsets[left] = kept_pins;
        }
        begin = end;
    }
    nets.weight.resize(left);
    nets.offsets.resize(left + 1);
    nets.pins.resize(usize(kept_pins));
    return nets;
}

}  // namespace

Numbering numbered(const Ranks& ranks, const Halo& fine, const Clusters& clusters) {
    Numbering n;
    std::vector<Id> number(fine.owned());
    for (Id v = 0; v < fine.owned(); ++v) {
        number[v] = static_cast<Id>(n.weight.size());
        if (clusters.weight[v] > 0) n.weight.push_back(clusters.weight[v]);
    }
    n.first = ranks.numbered(std::ssize(n.weight));
    for (Id& i : number) i += static_cast<Id>(n.first[usize(ranks.rank())]);
    n.coarse_of = asked(ranks, fine.first(), clusters.leader_of, number);
    return n;
}

Level contracted(const Ranks& ranks, const Level& fine, const Numbering& numbering) {
    std::vector<Id> coarse_of = numbering.coarse_of;
    coarse_of.resize(fine.vertices.size());
    fine.vertices.push(ranks, coarse_of);

    MergedNets merged(fine.nets.owned());
    std::vector<Id> pins;
    for (Id e = 0; e < fine.nets.owned(); ++e) {
        pins.clear();
        for (const Id v : fine.pins_of->of(e)) pins.push_back(coarse_of[v]);
        std::ranges::sort(pins);
        pins.erase(std::ranges::unique(pins).begin(), pins.end());
        if (pins.size() > 1) merged.add(pins, fine.net_weight[e]);
    }
    OwnNets nets = std::move(merged).take();
    if (ranks.count() > 1) nets = without_others(ranks, std::move(nets));
    return level_of(ranks, numbering.first, numbering.weight, std::move(nets));
}

}  // namespace gnnbench::distributed
