#pragma once
#include <memory>
#include <string>

#include <gnnbench/transport.hpp>

#include "cuda_backend.hpp"
#include "library_memory.hpp"
#include "pinned.hpp"
#include "streams.hpp"

namespace gnnbench::cuda {

/// A kernel's transport and its description, for the record.
struct Connection {
    std::unique_ptr<Transport> transport;
    std::string note;
};

/// The requested transport between the ranks of `group`, each with its device. Collective. `automatic` is
/// NCCL, except where ranks share a device, which NCCL refuses, and where there is one rank: then by MPI through
/// host memory. Throws EnvironmentError where ranks have one device and may not. `count`: of the device memory that NCCL takes.
Connection connect_ranks(const ProcessGroup& group, const Options& options, Streams& streams,
                         std::shared_ptr<PinnedPool> pinned, CountMemory count);

/// MPI through page-locked host memory; with `direct`, an MPI that knows CUDA sends and receives device memory
/// itself.
std::unique_ptr<Transport> make_host_transport(std::unique_ptr<Transport> mpi, Streams& streams,
                                               std::shared_ptr<PinnedPool> pinned, bool direct);

/// NCCL on the communication stream. Collective.
std::unique_ptr<Transport> make_nccl_transport(ProcessGroup control, Streams& streams, CountMemory count);

}  // namespace gnnbench::cuda
