#include "started_ranks.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::bench {
namespace {

namespace fs = std::filesystem;

/// A folder for what the host tells the ranks and what they answer, gone in the end.
struct Exchange {
    fs::path folder = fs::temp_directory_path() / fmt::format("gnnbench-bench-{}", getpid());
    Exchange() { fs::create_directories(folder); }
    ~Exchange() {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
};

}  // namespace

nlohmann::json by_ranks(const Mpiexec& mpiexec, const std::string& program, int ranks, nlohmann::json request) {
    const Exchange files;
    const fs::path asked = files.folder / "request.json", result = files.folder / "result.json";
    request["result"] = result.string();
    std::ofstream(asked) << request;
    const LaunchEnd end = launch_trial(mpiexec,
                                       {.trial = fmt::format("bench-{}-{}", getpid(), ranks),
                                        .worker = fs::read_symlink("/proc/self/exe").parent_path() / program,
                                        .request = asked,
                                        .log_file = files.folder / "log",
                                        .ranks = ranks,
                                        .threads_per_rank = 1,
                                        .timeout_s = 3600},
                                       [] { return false; });
    if (end.status != TrialStatus::ok)
        throw EnvironmentError(
            fmt::format("{} ranks ended as {}: {}\n{}", ranks, to_text(end.status), end.reason, end.log_tail));
    return nlohmann::json::parse(std::ifstream(result));
}

}  // namespace gnnbench::bench
