#include "coarsest.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hypergraph/balance.hpp"
#include "hypergraph/multilevel.hpp"
#include "hypergraph/partitioned.hpp"
#include "hypergraph/random.hpp"

namespace gnnbench::distributed {
namespace {

using hypergraph::mixed;

constexpr int tries = 4;

std::span<const Id> pins_of(const OwnNets& nets, std::size_t net) {
    return {nets.pins.data() + nets.offsets[net], usize(nets.offsets[net + 1] - nets.offsets[net])};
}

/// The nets of all ranks on each, with their pins' global ids, or about the share of them that `most_pins` allows.
OwnNets gathered_nets(const Ranks& ranks, const Level& level, std::int64_t most_pins, std::uint64_t seed) {
    const double share =
        static_cast<double>(most_pins) / static_cast<double>(std::max<std::int64_t>(1, level.pins));
    std::vector<Id> words;  // of each net its size, weight and pins
    for (Id e = 0; e < level.nets.owned(); ++e) {
        if (level.net_size[e] < 2) continue;
        const std::size_t begin = words.size();
        words.insert(words.end(), {level.net_size[e], static_cast<Id>(level.net_weight[e])});
        std::uint64_t print = 0;
        for (const Id v : level.pins_of->of(e)) {
            words.push_back(level.vertices.global(v));
            print += mixed(words.back());
        }
        if (share < 1 && static_cast<double>(mixed(seed, print) >> 11) * 0x1p-53 >= share) {
            words.resize(begin);
            continue;
        }
        std::sort(words.begin() + static_cast<std::ptrdiff_t>(begin) + 2, words.end());
    }
    OwnNets nets;
    const Received<Id> all = ranks.all_gather(words);
    words = {};
    for (std::size_t at = 0; at < all.values.size(); at += 2 + all.values[at]) {
        const auto pins = std::span(all.values).subspan(at + 2, all.values[at]);
        nets.pins.insert(nets.pins.end(), pins.begin(), pins.end());
        nets.offsets.push_back(std::ssize(nets.pins));
        nets.weight.push_back(static_cast<NetWeight>(all.values[at + 1]));
    }
    return nets;
}

/// The same at any number of ranks: nets lie in the order of their pins, equal ones are merged.
hypergraph::Hypergraph whole(const Ranks& ranks, const Level& level, std::int64_t most_pins, std::uint64_t seed) {
    hypergraph::Hypergraph h;
    h.vertex_weight = ranks.all_gather(level.vertex_weight).values;
    h.total_weight = level.total_weight;
    const OwnNets nets = gathered_nets(ranks, level, most_pins, seed);
    std::vector<std::size_t> order(nets.weight.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::ranges::lexicographical_compare(pins_of(nets, a), pins_of(nets, b));
    });
    h.net_offsets.push_back(0);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto pins = pins_of(nets, order[i]);
        if (i > 0 && std::ranges::equal(pins, pins_of(nets, order[i - 1]))) {
            h.net_weight.back() += nets.weight[order[i]];
            continue;
        }
        h.pins.insert(h.pins.end(), pins.begin(), pins.end());
        h.net_offsets.push_back(std::ssize(h.pins));
        h.net_weight.push_back(nets.weight[order[i]]);
    }
    index_vertices(h);
    return h;
}

/// What `pack` attains, or `limit` where that is more: the least that the partitioner may be asked for.
Weight attainable(const hypergraph::Hypergraph& h, PartId parts, Weight limit) {
    std::vector<Weight> load(usize(parts));
    const std::vector<PartId> packed = hypergraph::pack(h, parts);
    for (Id v = 0; v < h.vertex_count(); ++v) load[usize(packed[v])] += h.vertex_weight[v];
    return std::max(limit, *std::ranges::max_element(load));
}

}  // namespace

std::vector<PartId> partition_whole(const Ranks& ranks, const Level& level, PartId parts, Weight limit,
                                    std::int64_t most_pins, std::uint64_t seed) {
    const hypergraph::Hypergraph h = whole(ranks, level, most_pins, mixed(seed));
    const Weight allowed = attainable(h, parts, limit);
    std::vector<PartId> best;
    std::int64_t best_cut = std::numeric_limits<std::int64_t>::max(), best_try = tries;
    for (int i = ranks.rank(); i < tries; i += ranks.count()) {
        std::vector<PartId> found =
            partition_multilevel(h, parts, allowed, hypergraph::fast, mixed(seed, usize(i)));
        const std::int64_t cut = connectivity_minus_one(h, found, parts);
        if (cut < best_cut) best_cut = cut, best_try = i, best = std::move(found);
    }
    // The best of all, of equal ones the first; its rank sends the others their vertices' parts.
    const Received<std::int64_t> all = ranks.all_gather(std::vector{best_cut, best_try});
    int winner = 0;
    for (int r = 1; r < ranks.count(); ++r)
        if (std::ranges::lexicographical_compare(all.from(r), all.from(winner))) winner = r;
    Mail<PartId> mail(usize(ranks.count()));
    if (ranks.rank() == winner)
        for (std::size_t r = 0; r < mail.size(); ++r)
            mail[r].assign(best.begin() + level.vertices.first()[r], best.begin() + level.vertices.first()[r + 1]);
    return ranks.exchange(mail).values;
}

}  // namespace gnnbench::distributed
