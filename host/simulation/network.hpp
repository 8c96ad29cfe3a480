#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/simulation/machine.hpp>
#include <gnnbench/transport.hpp>

namespace gnnbench::simulation {

enum class Collective : std::uint8_t { broadcast, reduce, all_reduce, all_gather, reduce_scatter, barrier };
std::string_view to_text(Collective c);

/// Key of Links::measured: "all_reduce", or "all_reduce_later" in the non-blocking form; "exchange" has one form.
std::string measured_key(Collective c, Wait wait);

/// How a group lies on a machine.
struct Placement {
    int ranks = 1;
    int nodes = 1;           ///< on which it has ranks
    int most_on_a_node = 1;  ///< ranks
    int distance = 1;        ///< between neighbouring ranks; the least
    double within = 0;       ///< bytes per second over a hop between devices of a node, where they are slowest
};
Placement placement_of(const Machine& machine, std::span<const int> ranks);

/// Of ranks in a ring: the root, the rank where a broadcast ends or a reduction begins, and those between. All are between
/// where there is no root.
struct ByPlace {
    double root = 0, between = 0, end = 0;
    friend ByPlace operator*(double factor, const ByPlace& p) {
        return {factor * p.root, factor * p.between, factor * p.end};
    }
};

/// One collective operation while nothing else runs.
struct CollectiveCost {
    double latency_s = 0;
    double transfer_s = 0;
    ByPlace memory_rate = {};  ///< bytes per second, of a rank's memory, during the transfer
    double network_rate = 0;   ///< bytes per second that leave each of its nodes, during the transfer
};

/// NCCL's rings: nodes of the group one after another, in each node as many rings as the links or the network cards of
/// the group's devices carry. A ring moves (k−1)/k of the bytes over each of its hops (all-gather, reduce-scatter),
/// twice that (all-reduce), or all of them (broadcast, reduce). Small all-reduces take a tree, with 2 log₂ nodes steps.
/// Of machines with Links::nccl_capability algorithm, protocol and latency are NCCL's choice (nccl.hpp), of those with
/// Links::mpi MPI's (mpi.hpp). Links::groups stand for links and cards. Within a node, a time that was measured of two devices
/// stands for all that; more of them take a tree of such pairs.
/// `total_bytes`: of the whole operation, as in docs/volumes.md.
CollectiveCost cost_of(Collective collective, Wait wait, double total_bytes, const Placement& group,
                       const Machine& machine, NetworkModel model);

/// Reads and writes of a rank's memory for each byte that passes a hop of a group's rings. A message is a broadcast in a group
/// of two.
ByPlace memory_per_hop_byte(Collective c, int ranks, const Links& links);

/// Bytes per second of one device's links, in one direction, to others of a group with so many ranks on a node, where
/// nothing is known of pairs.
double bandwidth_within(const Machine& machine, int ranks_on_node);

/// Bytes per second of the links between two devices of a node, by Links::pairs; 0: none joins them.
double bandwidth_between(const Machine& machine, int device, int other);

}  // namespace gnnbench::simulation
