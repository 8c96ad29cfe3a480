#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "launch/trial.hpp"

using namespace gnnbench;

namespace {
// waitpid's encoding: exit codes in the second byte, signals in the first.
constexpr int exited(int code) { return code << 8; }

EndSigns signs_of(int status, std::string log = {}) {
    EndSigns signs;
    signs.wait_status = status;
    signs.log_tail = std::move(log);
    return signs;
}
}  // namespace

TEST_CASE("an exit code is a failure, with the code in its reason") {
    const LaunchEnd end = classify(signs_of(exited(7)));
    CHECK(end.status == TrialStatus::failed);
    CHECK(end.exit_code == 7);
    CHECK(end.signal == 0);
    CHECK(end.reason == "exit code 7");
}

TEST_CASE("mpiexec's 128 + signal is a crash") {
    const LaunchEnd end = classify(signs_of(exited(139)));
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.signal == SIGSEGV);
    CHECK(end.reason == "a rank was killed by signal 11 (SIGSEGV)");
}

TEST_CASE("Open MPI's log names the rank that a signal ended") {
    const LaunchEnd end = classify(signs_of(
        exited(137), "mpirun noticed that process rank 3 with PID 0 on node n1 exited on signal 9 (Killed).\n"));
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.reason == "rank 3 was killed by signal 9 (SIGKILL)");
}

TEST_CASE("Hydra's log names the signal where its exit code does not") {
    const LaunchEnd end =
        classify(signs_of(exited(9), "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"));
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.signal == SIGKILL);
}

TEST_CASE("Open MPI 5 breaks the line before the signal") {
    const LaunchEnd end = classify(signs_of(
        exited(139),
        "prterun noticed that process rank 12 with PID 7 on node n1 exited on\nsignal 11 (Segmentation\n"));
    CHECK(end.reason == "rank 12 was killed by signal 11 (SIGSEGV)");
}

TEST_CASE("the launcher's own words are part of the reason, unless they say nothing") {
    const std::string rule(74, '-');
    const std::string nothing =
        rule + "\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code.\n" + rule + "\n";
    CHECK(launcher_words(nothing).empty());
    CHECK(classify(signs_of(exited(1), nothing)).reason == "exit code 1");
    const std::string slots = "a rank's line\n" + rule +
                              "\nThere are not enough slots available in the system to satisfy the 4\nslots "
                              "that were requested.  Either request fewer, or more.\n" +
                              rule + "\n";
    CHECK(launcher_words(nothing + slots) ==
          "There are not enough slots available in the system to satisfy the 4 slots that were requested");
    CHECK(
        classify(signs_of(exited(1), slots)).reason.starts_with("exit code 1; the launcher said: There are not"));
    EndSigns late = signs_of(exited(1), "[vm:1] PMIX ERROR: OUT-OF-RESOURCE in file a.c at line 208\nmore\n");
    late.timed_out = true;
    late.timeout_s = 9;
    CHECK(classify(late).reason ==
          "no end after 9 s, the trial's limit; its processes were killed; the launcher said: "
          "PMIX ERROR: OUT-OF-RESOURCE in file a.c at line 208");
    CHECK(launcher_words(rule + "\n" + std::string(1000, 'x')).empty());
}

TEST_CASE("a host that mpirun lost is named, and what ssh said of one that cannot be reached") {
    const std::string rule(75, '-');
    CHECK(launcher_words(
              rule +
              "\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[61437,0],0] on node n1\n"
              "  Remote daemon: [[61437,0],1] on node n2\n\nThis is usually due to either a failure of the TCP\n" +
              rule + "\n") == "host n2 does not answer any more: it went down, or the network to it did");
    const std::string message =
        rule + "\nORTE was unable to reliably start one or more daemons.\nThis is usual.\n" + rule + "\n";
    CHECK(launcher_words("ssh: connect to host n2 port 22: No route to host\n" + message) ==
          "ORTE was unable to reliably start one or more daemons (ssh: connect to host n2 port 22: No route to "
          "host)");
    CHECK(launcher_words(message) == "ORTE was unable to reliably start one or more daemons");
}

TEST_CASE("a file beyond the limit on its size is named as the cause of the signal") {
    CHECK(
        classify(signs_of(exited(128 + SIGXFSZ))).reason ==
        "a rank was killed by signal 25 (SIGXFSZ), because a file grew beyond the limit on its size (ulimit -f)");
}

TEST_CASE("what a rank prints like a launcher's message is no signal where its numbers cannot be") {
    for (const char* line :
         {"rank 99999999999 exited on signal 9 (Killed)", "rank 1 exited on signal 99999999999999999999",
          "rank one exited on signal 9", "rank 1 exited on", "EXIT STRING: (signal 99999999999999999999)",
          "EXIT STRING: Killed", "EXIT STRING: (signal "}) {
        INFO(line);
        const LaunchEnd end = classify(signs_of(exited(7), line));
        CHECK(end.reason == "exit code 7");
    }
    CHECK(classify(signs_of(exited(7), "rank one; rank 2 exited on signal 6\n")).reason ==
          "rank 2 was killed by signal 6 (SIGABRT)");
}

TEST_CASE("SIGKILL while the OOM killer struck is out of memory; another signal is not") {
    EndSigns signs = signs_of(exited(137));
    signs.oom_killed = true;
    CHECK(classify(signs).status == TrialStatus::oom);
    signs.wait_status = exited(139);
    CHECK(classify(signs).status == TrialStatus::crashed);
}

TEST_CASE("a signal to mpiexec itself is told apart") {
    const LaunchEnd end = classify(signs_of(SIGKILL));
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.reason == "mpiexec was killed by signal 9 (SIGKILL)");
}

TEST_CASE("what we did to a trial comes before what that did to its exit code") {
    EndSigns signs = signs_of(exited(143));
    signs.timed_out = true;
    signs.timeout_s = 12;
    CHECK(classify(signs).status == TrialStatus::timeout);
    CHECK(classify(signs).reason.find("12 s") != std::string::npos);
    signs.interrupted = true;
    CHECK(classify(signs).status == TrialStatus::interrupted);
}

TEST_CASE("a log's tail starts at a line and is valid UTF-8") {
    const std::string path =
        std::filesystem::temp_directory_path() / ("gnnbench-tail-" + std::to_string(getpid()));
    std::ofstream(path) << "first line\nsecond \xff\xc3\xa9 line\x01\n";
    CHECK(tail_of(path) == "first line\nsecond ?\xc3\xa9 line?\n");
    CHECK(tail_of(path, 20) == "second ?\xc3\xa9 line?\n");
    std::filesystem::remove(path);
    CHECK(tail_of(path).empty());
}
