// Trials of shell scripts under the real mpiexec, which runs any program.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "core/owned_folder.hpp"
#include "launch/child.hpp"
#include "launch/interrupt.hpp"
#include "launch/trial.hpp"
#include "launch/trial_processes.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

/// Tells trials apart as a UUID does, within this machine.
std::string new_trial_id() {
    static int count = 0;
    return "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

/// A folder with a worker script; `$RANK` is the rank.
struct Script {
    fs::path folder = fs::temp_directory_path() / ("gnnbench-launch-" + new_trial_id());
    explicit Script(const std::string& body) {
        fs::create_directory(folder);
        std::ofstream(folder / "worker") << "#!/bin/sh\nRANK=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n" << body << '\n';
        chmod((folder / "worker").c_str(), 0755);
    }
    ~Script() { fs::remove_all(folder); }
    TrialLaunch launch(int ranks, double timeout_s = 30) const {
        return {.trial = new_trial_id(),
                .worker = folder / "worker",
                .request = "request.json",
                .log_file = folder / "log",
                .ranks = ranks,
                .threads_per_rank = 1,
                .timeout_s = timeout_s};
    }
};

std::optional<Mpiexec> mpiexec_or_skip() {
    try {
        return find_mpiexec();
    } catch (const EnvironmentError& error) {
        WARN("skipped: " << error.what());
        return std::nullopt;
    }
}

double seconds_until_gone(const std::string& trial, double limit_s) {
    const auto begin = std::chrono::steady_clock::now();
    double passed = 0;
    while (!processes_of_trial(trial).empty() && passed < limit_s) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return passed;
}

/// Waits until so many of the trial's processes run this program, for at most 10 s.
void until_running(const std::string& trial, const std::string& program, std::ptrdiff_t wanted) {
    const auto running = [&] {
        const std::vector<pid_t> pids = processes_of_trial(trial);
        return std::count_if(pids.begin(), pids.end(), [&](pid_t pid) {
            std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
            std::string name;
            std::getline(comm, name);
            return name == program;
        });
    };
    for (int i = 0; i < 200 && running() < wanted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    REQUIRE(running() >= wanted);
}

const auto nothing = [] { return false; };

}  // namespace

TEST_CASE("a launcher that is not there is an environment error, and names itself") {
    setenv("GNNBENCH_MPIEXEC", "/nowhere/mpiexec", 1);
    CHECK_THROWS_WITH(find_mpiexec(), Catch::Contains("no mpiexec found") && Catch::Contains("/nowhere/mpiexec"));
    setenv("GNNBENCH_MPIEXEC", "/bin/false", 1);
    CHECK_THROWS_AS(find_mpiexec(), EnvironmentError);
    unsetenv("GNNBENCH_MPIEXEC");
    const Script script("exit 0");
    CHECK_THROWS_AS(launch_trial({"/nowhere/mpiexec", MpiFlavour::open_mpi, ""}, script.launch(1), nothing),
                    EnvironmentError);
}

TEST_CASE("a log that cannot be written is an environment error") {
    const Script script("exit 0");
    TrialLaunch launch = script.launch(1);
    launch.log_file = "/nowhere/log";
    CHECK_THROWS_WITH(launch_trial({"/bin/true", MpiFlavour::unknown, ""}, launch, nothing),
                      Catch::Contains("/nowhere/log"));
}

TEST_CASE("a rank's exit code, and what it printed, are kept") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("echo \"words of rank $RANK\" >&2; [ $RANK = 1 ] && exit 3; exit 0");
    const LaunchEnd end = launch_trial(*mpiexec, script.launch(2), nothing);
    CHECK(end.status == TrialStatus::failed);
    CHECK(end.exit_code == 3);
    CHECK(end.log_tail.find("words of rank 1") != std::string::npos);
}

TEST_CASE("a killed rank ends the whole trial") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("[ $RANK = 1 ] && kill -9 $$; sleep 1000");
    const TrialLaunch launch = script.launch(3);
    const LaunchEnd end = launch_trial(*mpiexec, launch, nothing);
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.signal == SIGKILL);
    // For a program that makes no MPI call Open MPI does not always say which rank it was.
    CHECK_THAT(end.reason, Catch::EndsWith("rank was killed by signal 9 (SIGKILL)") ||
                               Catch::Equals("rank 1 was killed by signal 9 (SIGKILL)"));
    CHECK(processes_of_trial(launch.trial).empty());
}

TEST_CASE("ranks get their threads, their argument and nothing of an outer launcher") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("echo \"$RANK of ${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE}: $OMP_NUM_THREADS threads, $1\"");
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    setenv("PMIX_NAMESPACE", "nested", 1);
    TrialLaunch launch = script.launch(2);
    launch.threads_per_rank = 3;
    int watched = 0;
    const LaunchEnd end = launch_trial(*mpiexec, launch, [&] {
        ++watched;
        return false;
    });
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMIX_NAMESPACE");
    INFO(end.reason << "; log: " << end.log_tail);
    CHECK(end.status == TrialStatus::ok);
    CHECK(watched > 0);
    CHECK(end.log_tail.find("1 of 2: 3 threads, request.json") != std::string::npos);
}

TEST_CASE("past its limit a trial is gone within 5 s, even where ranks ignore SIGTERM") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("trap '' TERM; while true; do sleep 0.1; done");
    const TrialLaunch launch = script.launch(2, 1.0);
    const LaunchEnd end = launch_trial(*mpiexec, launch, nothing);
    CHECK(end.status == TrialStatus::timeout);
    CHECK(end.wall_s < 1.0 + 5.0);
    CHECK(processes_of_trial(launch.trial).empty());
}

TEST_CASE("a late step has a limit of its own, from the trial's own end on") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("sleep 1000");
    TrialLaunch launch = script.launch(1, 1000.0);
    launch.late_step_timeout_s = 0.5;
    const LaunchEnd end = launch_trial(*mpiexec, launch, [] { return true; });
    CHECK(end.status == TrialStatus::timeout);
    CHECK(end.in_late_step);
    CHECK(end.wall_s < 0.5 + 5.0);
    CHECK_THAT(end.reason, Catch::Contains("no end after 0.5 s, the limit of the step after the last epoch"));

    launch = script.launch(1, 0.5);
    launch.late_step_timeout_s = 1000.0;
    const LaunchEnd before = launch_trial(*mpiexec, launch, nothing);
    CHECK(before.status == TrialStatus::timeout);
    CHECK_FALSE(before.in_late_step);
}

TEST_CASE("a watcher that throws leaves no process behind") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("sleep 1000");
    const TrialLaunch launch = script.launch(2);
    const auto full_disk = [&] {
        if (processes_of_trial(launch.trial).size() >= 3) throw EnvironmentError("disk full");
        return false;
    };
    CHECK_THROWS_AS(launch_trial(*mpiexec, launch, full_disk), EnvironmentError);
    CHECK(processes_of_trial(launch.trial).empty());
}

TEST_CASE("Ctrl-C ends a trial as interrupted") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("sleep 1000");
    const TrialLaunch launch = script.launch(2);
    const InterruptGuard guard;
    const LaunchEnd end = launch_trial(*mpiexec, launch, [] { return raise(SIGINT) != 0; });
    CHECK(end.status == TrialStatus::interrupted);
    CHECK(end.wall_s < 5.0);
    CHECK(processes_of_trial(launch.trial).empty());
}

TEST_CASE("a host killed with SIGKILL takes its trial along") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    const Script script("trap '' TERM; exec setpriv --pdeathsig KILL sleep 1000");  // as die_with_parent() does
    const TrialLaunch launch = script.launch(3);
    const pid_t host = fork();
    if (host == 0) {
        launch_trial(*mpiexec, launch, nothing);
        _exit(0);
    }
    until_running(launch.trial, "sleep", 3);  // a rank that has not come past setpriv yet would be left
    kill(host, SIGKILL);
    waitpid(host, nullptr, 0);
    CHECK(seconds_until_gone(launch.trial, 10) < 5.0);
    clean_up_trial(launch.trial, 2);
    CHECK_FALSE(fs::exists("/dev/shm/gnnbench-" + launch.trial));
}

TEST_CASE("folders of a killed process are removed by whoever comes next, others are left") {
    const std::string pid = std::to_string(getpid());
    const fs::path place = GENERATE(fs::path("/dev/shm"), temporary_files());
    if (access(place.c_str(), W_OK) != 0) return;
    const auto remove_left = [&] {
        if (place == "/dev/shm") remove_left_shared_memory();
        remove_left_temporary_folders();
    };
    const fs::path dead = place / ("gnnbench-dead-" + pid), alive = place / ("gnnbench-alive-" + pid),
                   young = place / ("gnnbench-young-" + pid), old = place / ("gnnbench-old-" + pid),
                   data = place / ("gnnbench-data-" + pid);
    for (const fs::path& folder : {dead, alive, young, old, data}) fs::create_directory(folder);
    std::ofstream(data / "kept") << "by its user";
    const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
    for (const fs::path& folder : {old, data}) fs::last_write_time(folder, yesterday);
    const pid_t owner = fork();
    if (owner == 0) {
        own_folder(dead);
        raise(SIGKILL);
    }
    waitpid(owner, nullptr, 0);
    const int mine = own_folder(alive);
    REQUIRE(mine >= 0);
    remove_left();
    CHECK_FALSE(fs::exists(dead));
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(alive));
    CHECK(fs::exists(young));          // being made: it has no owner yet
    CHECK(fs::exists(data / "kept"));  // not ours: it has files and never had an owner
    close(mine);
    remove_left();
    CHECK_FALSE(fs::exists(alive));
    fs::remove_all(young);
    fs::remove_all(data);
}

TEST_CASE("a program's output leaves no file, however this process ends") {
    const fs::path folder = fs::temp_directory_path() / ("gnnbench-output-test-" + std::to_string(getpid()));
    fs::create_directory(folder);
    const auto in_tmp = [] {
        return std::count_if(fs::directory_iterator("/tmp"), fs::directory_iterator(), [](const auto& entry) {
            return entry.path().filename().string().starts_with("gnnbench-output-") && !entry.is_directory();
        });
    };
    const auto before = in_tmp();
    const pid_t host = fork();
    if (host == 0) {
        setenv("TMPDIR", folder.c_str(), 1);
        run_program({"/bin/sleep", "100"}, current_environment(), 100);
        _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(in_tmp() == before);
    kill(host, SIGKILL);
    waitpid(host, nullptr, 0);
    CHECK(fs::is_empty(folder));
    fs::remove(folder);
    CHECK(run_program({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, current_environment(), 10).text ==
          "out\nerr\n");
}

TEST_CASE("a trial leaves nothing in shared memory, even where its launcher was killed") {
    const auto mpiexec = mpiexec_or_skip();
    if (!mpiexec) return;
    // Hydra's mpiexec starts ranks through a proxy.
    const Script script(
        "p=$PPID; case $(cat /proc/$p/comm) in hydra*) p=$(cut -d' ' -f4 /proc/$p/stat) ;; esac\n"
        "[ $RANK = 0 ] && kill -9 $p; sleep 1000");
    const TrialLaunch launch = script.launch(2);
    const LaunchEnd end = launch_trial(*mpiexec, launch, nothing);
    CHECK(end.reason == "mpiexec was killed by signal 9 (SIGKILL)");
    CHECK(processes_of_trial(launch.trial).empty());
    CHECK_FALSE(fs::exists("/dev/shm/gnnbench-" + launch.trial));
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left, dead or alive
}
