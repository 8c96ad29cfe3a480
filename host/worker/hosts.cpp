#include "worker/hosts.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/owned_folder.hpp"
#include "launch/mpiexec.hpp"
#include "mpi/mpi.hpp"
#include "record/journal.hpp"

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// "eth0 10.0.0.7, docker0 172.17.0.1": the interfaces that MPI may choose from.
std::string networks() {
    std::vector<std::string> found;
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return "unknown networks";
    for (const ifaddrs* i = all; i; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
        char text[INET_ADDRSTRLEN] = {};
        const auto* address = reinterpret_cast<const sockaddr_in*>(i->ifa_addr);
        inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        found.push_back(fmt::format("{} {}", i->ifa_name, text));
    }
    ::freeifaddrs(all);
    return found.empty() ? "no network" : fmt::format("{}", fmt::join(found, ", "));
}

std::string advice() {
    const bool open_mpi = flavour_from(mpi_library()) == MpiFlavour::open_mpi;
    return fmt::format(
        "{} has {}; check that the other hosts answer there, and name the network that joins them with {}",
        host_name(), networks(),
        open_mpi ? "OMPI_MCA_btl_tcp_if_include (an interface, or as 10.0.0.0/24)"
                 : "UCX_NET_DEVICES or FI_TCP_IFACE (an interface)");
}

/// One line of a file; empty where there is none.
std::string first_line_of(const char* path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

/// This boot of this kernel, and the network namespace.
std::string kernel_identity() {
    std::error_code ignored;
    return first_line_of("/proc/sys/kernel/random/boot_id") + ' ' +
           fs::read_symlink("/proc/self/ns/net", ignored).string();
}

}  // namespace

double host_limit_s(int ranks) {
    const std::string chosen = variable("GNNBENCH_HOST_LIMIT");
    double limit_s = 0;
    const auto end = std::from_chars(chosen.data(), chosen.data() + chosen.size(), limit_s);
    const bool valid = end.ec == std::errc() && end.ptr == chosen.data() + chosen.size() && limit_s > 0;
    if (!chosen.empty() && !valid)
        throw EnvironmentError("GNNBENCH_HOST_LIMIT must be a number of seconds above 0; found '" + chosen + "'");
    return valid ? limit_s : 75 + 0.1 * ranks;
}

void require_contact(const ProcessGroup& world, double limit_s) {
    using Clock = std::chrono::steady_clock;
    using namespace std::chrono_literals;
    std::unique_ptr<Greetings> greetings;
    const auto start = Clock::now();
    try {
        greetings = Greetings::among(world);
    } catch (const CommunicationError& e) {
        throw CommunicationError(
            fmt::format("rank {} on host {} {}; {}", world.rank(), host_name(), e.what(), advice()));
    }
    while (!greetings->all_heard()) {
        const auto waited = Clock::now() - start;
        if (waited > 20us)
            std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 5us, 1000us));
        if (waited < std::chrono::duration<double>(limit_s)) continue;
        const std::vector<int> missing = greetings->missing();
        // A rank that has heard all, but was not heard: those that have not heard it say so.
        if (missing.empty()) std::this_thread::sleep_for(1s);
        throw CommunicationError(fmt::format(
            "rank {} on host {} and rank {} do not reach each other by MPI: nothing came within {:g} s; {}",
            world.rank(), host_name(),
            missing.empty() ? std::string("another") : fmt::format("{}", fmt::join(missing, ", ")), limit_s,
            advice()));
    }
}

std::string why_names_clash(const std::vector<RankPlace>& by_rank) {
    for (std::size_t i = 0; i < by_rank.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const RankPlace &a = by_rank[j], &b = by_rank[i];
            if (a.host != b.host || a.local_rank.empty() || a.local_rank != b.local_rank || a.kernel == b.kernel)
                continue;
            return fmt::format(
                "ranks {} and {} are on different hosts that are both called '{}'; Open MPI tells hosts apart by "
                "their names, and its ranks would wait for ever: give each host a name of its own (hostname, or "
                "--hostname of a container)",
                j, i, a.host);
        }
    return {};
}

void require_distinct_names(const ProcessGroup& world) {
    std::vector<RankPlace> places;
    for (const std::string& text : world.all_gather(host_name() + '\n' + variable("OMPI_COMM_WORLD_LOCAL_RANK") +
                                                    '\n' + kernel_identity())) {
        const std::size_t first = text.find('\n'), second = text.find('\n', first + 1);
        places.push_back(
            {text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)});
    }
    if (const std::string why = why_names_clash(places); !why.empty()) throw EnvironmentError(why);
}

void tidy_shared_files(const std::string& trial) {
    const fs::path folder = variable("OMPI_MCA_orte_tmpdir_base");
    if (variable("OMPI_COMM_WORLD_LOCAL_RANK") != "0" || trial.empty() || folder.filename() != "gnnbench-" + trial)
        return;
    // gnnbench owns the folder on its own host, and removes it there. The mark lasts as long as this process.
    if (own_folder(folder) < 0) return;
    std::error_code ignored;
    for (const fs::path& left : abandoned_folders(folder.parent_path())) fs::remove_all(left, ignored);
}

}  // namespace gnnbench
