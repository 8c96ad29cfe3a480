#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

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

/// Two ranks of this host that have one device; empty if there are none.
std::string local_ranks_of_one_device(const ProcessGroup& group, int device) {
    const auto devices = group.split_by_host().all_gather(device_address(device));
    std::map<std::string, std::size_t> owners;
    for (std::size_t r = 0; r < devices.size(); ++r)
        if (const auto [owner, is_first] = owners.emplace(devices[r], r); !is_first)
            return fmt::format("ranks {} and {} of {} both have device {}", owner->second, r, host_name(),
                               devices[r]);
    return {};
}

/// The same of the first host that has such ranks. Collective.
std::string ranks_of_one_device(const ProcessGroup& group, int device) {
    for (std::string& found : group.all_gather(local_ranks_of_one_device(group, device)))
        if (!found.empty()) return std::move(found);
    return {};
}

std::string nccl_version() {
    int v = 0;
    check(ncclGetVersion(&v), "ncclGetVersion");
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

}  // namespace

Connection connect_ranks(const ProcessGroup& group, const Options& options, Streams& streams,
                         std::shared_ptr<PinnedPool> pinned, CountMemory count) {
    const TransportChoice choice = options.transport;
    const std::string rivals = ranks_of_one_device(group, options.device);
    const bool shared = !rivals.empty();
    if (shared && !options.share_devices)
        throw EnvironmentError("kernel cuda: " + rivals + "; share_devices: true lets ranks share one");
    const auto by_host = [&](bool direct, std::string note) -> Connection {
        return {make_host_transport(make_mpi_transport(group), streams, std::move(pinned), direct),
                std::move(note)};
    };
    if (choice == TransportChoice::mpi) {
        if (!group.device_messages())
            throw EnvironmentError("transport: mpi needs an MPI library that accepts device memory; " +
                                   group.library() +
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
        count = nullptr;  // what the device has less is not only this rank's
    }
    const int rank = group.rank();
    return {make_nccl_transport(group.split(0, rank), streams, std::move(count)),
            fmt::format("nccl {}{}", nccl_version(), shared ? " (ranks share a device)" : "")};
}

}  // namespace gnnbench::cuda
