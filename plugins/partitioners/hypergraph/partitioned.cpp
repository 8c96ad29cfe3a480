#include "partitioned.hpp"

#include <atomic>
#include <bit>

#include <omp.h>

namespace gnnbench::hypergraph {

Partitioned::Partitioned(const Hypergraph& h, PartId parts, std::vector<PartId> part_of)
    : h_(&h),
      parts_(parts),
      part_bits_(static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(parts - 1)))),
      part_mask_((std::uint32_t{1} << part_bits_) - 1),
      part_of_(std::move(part_of)),
      part_weight_(static_cast<std::size_t>(parts)),
      nets_(h.net_count()) {
    for (Id v = 0; v < h.vertex_count(); ++v)
        part_weight_[static_cast<std::size_t>(part_of_[v])] += h.vertex_weight[v];
    // A table is no longer than a list could be, and found by part; nor could a list count more pins.
    const std::uint64_t most_listed =
        std::min(std::uint64_t{1} << (32 - part_bits_), 2 * static_cast<std::uint64_t>(parts) - 1);
    std::uint64_t words = 0;
    for (Id net = 0; net < h.net_count(); ++net) {
        const bool tabled = h.net_size(net) > most_listed;
        nets_[net] = {.first = words, .tabled = tabled, .met = 0, .weight = h.net_weight[net]};
        words += tabled ? static_cast<Id>(parts) : std::min(h.net_size(net), static_cast<Id>(parts));
    }
    words_.resize(words);
    const auto nets = static_cast<std::int64_t>(h.net_count());
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::int64_t net = 0; net < nets; ++net)
        for (const Id pin : h.pins_of(static_cast<Id>(net))) add_pin(static_cast<Id>(net), part_of_[pin]);
}

void Partitioned::move_all(std::span<const Move> moves, std::span<NetWeight> gains, std::vector<char>& touched) {
    std::fill(gains.begin(), gains.end(), 0);
#pragma omp parallel
    {
        const auto threads = static_cast<std::int64_t>(omp_get_num_threads());
        const auto first = static_cast<Id>(h_->net_count() * std::int64_t{omp_get_thread_num()} / threads);
        const auto last = static_cast<Id>(h_->net_count() * (std::int64_t{omp_get_thread_num()} + 1) / threads);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const auto nets = h_->nets_of(moves[i].vertex);
            const PartId from = part_of_[moves[i].vertex], to = moves[i].to;
            NetWeight gain = 0;
            for (auto net = std::lower_bound(nets.begin(), nets.end(), first); net != nets.end() && *net < last;
                 ++net) {
                const Id left = remove_pin(*net, from), there = add_pin(*net, to);
                if (left == 0) gain += nets_[*net].weight;
                if (there == 1) gain -= nets_[*net].weight;
                if (left <= 1 || there <= 2) touched[*net] = 1;
            }
            if (gain != 0) std::atomic_ref(gains[i]).fetch_add(gain, std::memory_order_relaxed);
        }
    }
    for (const Move& m : moves) {
        const Weight weight = h_->vertex_weight[m.vertex];
        part_weight_[static_cast<std::size_t>(part_of_[m.vertex])] -= weight;
        part_weight_[static_cast<std::size_t>(m.to)] += weight;
        part_of_[m.vertex] = m.to;
    }
}

std::int64_t Partitioned::connectivity_minus_one() const {
    std::int64_t sum = 0;
    for (const Net& net : nets_) sum += std::int64_t{net.weight} * (net.met - 1);
    return sum;
}

std::int64_t connectivity_minus_one(const Hypergraph& h, std::span<const PartId> part_of, PartId parts) {
    std::vector<Id> last_net(static_cast<std::size_t>(parts), h.net_count());
    std::int64_t sum = 0;
    for (Id net = 0; net < h.net_count(); ++net) {
        std::int64_t met = 0;
        for (const Id pin : h.pins_of(net)) {
            Id& last = last_net[static_cast<std::size_t>(part_of[pin])];
            met += last != net;
            last = net;
        }
        sum += h.net_weight[net] * (met - 1);
    }
    return sum;
}

}  // namespace gnnbench::hypergraph
