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

}  // namespace gnnbench::simulation
