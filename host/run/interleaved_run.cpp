#include "run/interleaved_run.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "launch/child.hpp"
#include "launch/interrupt.hpp"
#include "launch/program.hpp"
#include "record/merge.hpp"
#include "run/tagging.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

/// The program of a build that is given as program or folder.
fs::path program_of(const fs::path& build) {
    if (build.empty()) return fs::read_symlink("/proc/self/exe");
    for (const fs::path& candidate : {build, build / "bin" / "gnnbench", build / "gnnbench"})
        if (find_program(fs::absolute(candidate).string())) return fs::absolute(candidate);
    throw SpecError(fmt::format(
        "expected a build: the program gnnbench, or a folder with bin/gnnbench; found '{}'", build.string()));
}

/// The unranked environment; for another build, also without the variable that names this one's worker.
Environment environment_of(const fs::path& build) {
    Environment environment = unranked_environment();
    if (!build.empty())
        std::erase_if(environment, [](const std::string& v) { return v.starts_with("GNNBENCH_WORKER="); });
    return environment;
}

/// A side's program with a database of its own.
class Side {
public:
    Side(const InterleavedSide& side, const InterleavedRequest& request, const std::string& data_dir,
         fs::path database)
        : environment_(environment_of(side.build)), database_(std::move(database)) {
        const ExperimentChoice& e = side.experiment;
        command_ = {program_of(side.build).string(), "run", e.file.string(), "--quiet", "--tag", side.tag};
        command_.insert(command_.end(), {"--database", database_.string()});
        if (!e.profile.empty()) command_.insert(command_.end(), {"--profile", e.profile});
        for (const std::string& one : e.overrides) command_.insert(command_.end(), {"--set", one});
        if (!request.where.empty()) command_.insert(command_.end(), {"--where", request.where});
        if (!request.verify) command_.emplace_back("--no-verify");
        if (e.allow_programs) command_.emplace_back("--allow-programs");
        if (!data_dir.empty()) command_.insert(command_.end(), {"--data-dir", data_dir});
    }

    /// Measures what is missing of the first `trials` trials of each cell; its exit code, 128 + signal where one ended
    /// it. Its table is dropped; what goes wrong is on our stderr.
    int measure(std::int64_t trials) const {
        std::vector<std::string> command = command_;
        command.insert(command.end(), {"--set", fmt::format("trials={}", trials)});
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere < 0) throw EnvironmentError("cannot open /dev/null");
        ChildProcess child(command, environment_, nowhere, STDERR_FILENO);
        ::close(nowhere);
        std::optional<int> status;
        for (bool told = false; !(status = child.wait(0.5));) {
            if (!InterruptGuard::requested() || told) continue;
            child.signal_group(SIGINT);  // it keeps what is measured, as it does for its own user
            told = true;
        }
        return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
    }
    const fs::path& database() const { return database_; }

private:
    Environment environment_;
    fs::path database_;
    std::vector<std::string> command_;
};

/// Exit code 1 is a cell that failed: it has no pair, and the others go on.
void require_it_ran(int code, const std::string& tag) {
    if (code == 2)
        throw SpecError(fmt::format("side {} cannot run: its program found wrong input, as it says above", tag));
    if (code > 1)
        throw EnvironmentError(fmt::format("side {} cannot run: its program ended with exit code {}", tag, code));
}

}  // namespace

bool run_interleaved(const InterleavedRequest& request, const RunPlaces& places, Progress& progress) {
    for (const InterleavedSide* side : {&request.a, &request.b}) check_tag(side->tag);
    if (request.a.tag == request.b.tag)
        throw SpecError(fmt::format("expected two tags that differ; found '{}' twice", request.a.tag));
    const TemporaryFolder scratch("interleave");
    const Side a(request.a, request, places.data_dir, scratch.path() / "a.sqlite"),
        b(request.b, request, places.data_dir, scratch.path() / "b.sqlite");
    Database database(places.database);
    const InterruptGuard interrupts;
    for (std::int64_t trial = 0; trial < request.trials; ++trial) {
        RandomStream random(request.seed, Draw::sample, static_cast<std::uint32_t>(trial));
        const bool b_begins = random.below(2) == 1;
        for (const bool of_b : {b_begins, !b_begins}) {
            const Side& side = of_b ? b : a;
            const std::string& tag = (of_b ? request.b : request.a).tag;
            progress.status(fmt::format("[{}/{}] {}", trial + 1, request.trials, tag));
            const int code = side.measure(trial + 1);
            if (fs::exists(side.database())) import_results(database, side.database());
            if (InterruptGuard::requested()) return false;
            require_it_ran(code, tag);
        }
        progress.message(fmt::format("[{0}/{1}] trial {2} of {3} and {4}", trial + 1, request.trials, trial + 1,
                                     (b_begins ? request.b : request.a).tag,
                                     (b_begins ? request.a : request.b).tag));
    }
    return true;
}

}  // namespace gnnbench
