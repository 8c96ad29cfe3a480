#include "run/code_digest.hpp"

#include <dlfcn.h>

#include <fstream>
#include <memory>
#include <vector>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>
#include <gnnbench/usize.hpp>

#include "launch/mpiexec.hpp"
#include "launch/worker_program.hpp"

namespace gnnbench {
namespace {

/// The library that a function of core's came from.
std::filesystem::path core_library() {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void*>(&did_you_mean), &info) && info.dli_fname ? info.dli_fname : "";
}

/// Of the MPI whose ranks would run.
std::filesystem::path worker_program() {
    try {
        return find_worker(mpi_at_hand().flavour);
    } catch (const EnvironmentError&) {  // a plan needs none; who runs trials says that it is missing
        return {};
    }
}

}  // namespace

std::string content_digest(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (file.empty() || !in) return {};
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
    XXH3_128bits_reset(state.get());
    std::vector<char> block(1 << 20);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
        XXH3_128bits_update(state.get(), block.data(), usize(in.gcount()));
    const XXH128_hash_t h = XXH3_128bits_digest(state.get());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

CodeDigests::CodeDigests(const PluginSource& plugins)
    : plugins_(plugins), core_(content_digest(core_library())), worker_(content_digest(worker_program())) {}

std::string CodeDigests::of_plugin(PluginKind kind, const PluginChoice& plugin) {
    if (plugin.is_program()) return {};
    const auto [known, fresh] = known_.try_emplace({kind, plugin.name});
    if (fresh)
        if (const auto facts = plugins_.find(kind, plugin.name)) known->second = content_digest(facts->file);
    return known->second;
}

nlohmann::json CodeDigests::of(const Cell& cell) {
    nlohmann::json code = nlohmann::json::object();
    const auto note = [&](const char* what, const std::string& digest) {
        if (!digest.empty()) code[what] = digest;
    };
    // A program's version is the digest of its files' contents.
    note("scheme", cell.scheme.is_program() ? cell.scheme.version : of_plugin(PluginKind::strategy, cell.scheme));
    note("partitioner", of_plugin(PluginKind::partitioner, cell.partitioner));
    note("kernel", of_plugin(PluginKind::kernel, cell.kernel));
    note("core", core_);
    note("worker", worker_);
    return code;
}

}  // namespace gnnbench
