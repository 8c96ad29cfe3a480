#pragma once
#include <cstdint>

#include "simulation/network.hpp"

namespace gnnbench::simulation {

enum class NcclAlgorithm : std::uint8_t { tree, ring };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };

/// What NCCL expects of a collective by one of its algorithms and protocols.
struct NcclTime {
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    double latency_s;
    double bandwidth;  ///< bytes of the whole operation per second
    double seconds(double total_bytes) const { return latency_s + total_bytes / bandwidth; }
};

/// NCCL's choice and what it expects of it: the least time over its rings and trees and over its protocols LL (8 bytes of
/// data and flag at a time), LL128 (120 of 128 bytes are data) and Simple (chunks, with a wait for each), by its own model
/// (NVIDIA/nccl, src/graph/tuning.cc at v2.19.3-1: ncclTopoTuneModel, ncclTopoGetAlgoTime). `carried`: bytes per second over
/// a hop of the group's rings. A barrier is an all-reduce of nothing. Of a group of two ranks or more.
/// Its limits for each channel are left out: they are 17.8 GB/s and more, which no channel of a machine here carries. So
/// are collectives in switches.
NcclTime nccl_choice(Collective collective, double total_bytes, const Placement& group, const Links& links,
                     double carried);

/// Reads and writes of a rank's memory for each byte that passes a hop of NCCL's rings, counted in src/device/*.h at
/// v2.19.3-1. A rank does not write into the next one's matrices: it copies what it sends into chunks, from which the next
/// one copies it into its own matrices and chunks. They lie with the sender where that one's memory is read over NVLink
/// (compute capability 8.0: src/graph/paths.cc, src/transport/p2p.cc), else with the receiver. That the chunks are found in
/// the device's cache is not counted on (docs/decisions/nccl-chunks.md).
ByPlace nccl_memory_per_hop_byte(Collective collective, int ranks, int capability);

}  // namespace gnnbench::simulation
