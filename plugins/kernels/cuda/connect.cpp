#include <set>

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

// The deprecated C++ bindings do not compile cleanly and are not used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <nccl.h>

#include "check.hpp"
#include "device.hpp"
#include "transports.hpp"

namespace gnnbench::cuda {
namespace {

std::string host_name() {
    char text[256] = {};
    gethostname(text, sizeof text - 1);
    return text;
}

/// Whether two ranks of the group have one device.
bool devices_shared(const ProcessGroup& group, int device) {
    const auto all = group.all_gather(host_name() + " " + device_address(device));
    return std::set<std::string>(all.begin(), all.end()).size() < all.size();
}

std::string nccl_version() {
    int v = 0;
    check(ncclGetVersion(&v), "ncclGetVersion");
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

}  // namespace

bool mpi_knows_cuda() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

Connection connect_ranks(const ProcessGroup& group, TransportChoice choice, int device, Streams& streams,
                         std::shared_ptr<PinnedPool> pinned) {
    const bool shared = devices_shared(group, device);
    const auto by_host = [&](bool direct, std::string note) -> Connection {
        return {make_host_transport(make_mpi_transport(group), streams, std::move(pinned), direct),
                std::move(note)};
    };
    if (choice == TransportChoice::mpi) {
        if (!mpi_knows_cuda())
            throw EnvironmentError("transport: mpi needs an MPI library that accepts device memory; " +
                                   ProcessGroup::library() +
                                   " says that it does not (transport: staged goes through host memory)");
        return by_host(true, "mpi (device memory for messages, host memory for collectives)");
    }
    if (choice == TransportChoice::staged) return by_host(false, "staged");
    if (group.size() == 1) return by_host(false, "none (one rank)");
    if (choice == TransportChoice::automatic && shared) return by_host(false, "staged (ranks share a device)");
    if (shared) {
        // NCCL takes ranks of one device for a mistake unless it believes them on different hosts; sockets then
        // carry all.
        const std::string id = fmt::format("{}-{}", host_name(), group.rank());
        setenv("NCCL_HOSTID", id.c_str(), 0);
    }
    const int rank = group.rank();
    return {make_nccl_transport(group.split(0, rank), streams),
            fmt::format("nccl {}{}", nccl_version(), shared ? " (ranks share a device)" : "")};
}

}  // namespace gnnbench::cuda
