#include <chrono>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "launch/program.hpp"

using namespace gnnbench;

namespace {

struct Heard {
    ProgramEnd end;
    std::vector<std::string> lines;
};

/// What a shell script prints, up to `most` lines.
Heard heard(const std::string& script, std::size_t most = 100, double limit_s = 0) {
    Heard h;
    h.end = read_lines(
        {"/bin/sh", "-c", script}, unranked_environment(),
        [&](std::string_view line) {
            h.lines.emplace_back(line);
            return h.lines.size() < most;
        },
        limit_s, "/dev/null");
    return h;
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a program that cannot be started is an error of the environment") {
    CHECK_THROWS_AS(read_lines({"/no/such/program"}, {}, [](std::string_view) { return true; }), EnvironmentError);
    CHECK_FALSE(find_program("no-such-program-anywhere"));
    CHECK_FALSE(find_program("/etc"));
    CHECK(find_program("sh"));
    CHECK(find_program("/bin/sh") == "/bin/sh");
}

TEST_CASE("how a program ended is told") {
    CHECK(heard("exit 3").end.exit_code == 3);
    CHECK(heard("kill -SEGV $$").end.signal == SIGSEGV);
    const Heard well = heard("echo one; echo; printf two");
    CHECK(well.lines == std::vector<std::string>{"one", "", "two"});
    CHECK(well.end.exit_code == 0);
    CHECK_FALSE(well.end.stopped);
}

TEST_CASE("a program is stopped where nothing more is wanted, or too late") {
    Heard enough;
    CHECK(seconds_of([&] { enough = heard("echo one; echo two; sleep 60", 1); }) < 10);
    CHECK(enough.lines == std::vector<std::string>{"one"});
    CHECK(enough.end.stopped);
    CHECK_FALSE(enough.end.timed_out);

    Heard late;
    CHECK(seconds_of([&] { late = heard("echo one; exec sleep 60", 100, 0.5); }) < 10);
    CHECK(late.lines == std::vector<std::string>{"one"});
    CHECK(late.end.timed_out);

    // It closes its output and goes on.
    CHECK(seconds_of([&] { late = heard("exec >&-; exec sleep 60", 100, 0.5); }) < 10);
    CHECK(late.end.timed_out);
}

TEST_CASE("what is nested in a trial does not see its ranks") {
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("GNNBENCH_TRIAL", "some", 1);
    const Heard h = heard("echo ${OMPI_COMM_WORLD_RANK:-none} $GNNBENCH_TRIAL");
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("GNNBENCH_TRIAL");
    CHECK(h.lines == std::vector<std::string>{"none some"});
}
