// Which processors concurrent trials have, and that their processes stay on them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "launch/child.hpp"
#include "launch/core_pool.hpp"
#include "launch/machine.hpp"

using namespace gnnbench;

namespace {

bool ready(std::future<CoreLease>& lease) {
    return lease.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready;
}

}  // namespace

TEST_CASE("leases are disjoint, and what is given back is given again") {
    CorePool pool({0, 4, 1, 5});
    CoreLease a = pool.take(2);
    CHECK(a.cpus() == std::vector{0, 4});
    {
        const CoreLease b = pool.take(1);
        CHECK(b.cpus() == std::vector{1});
    }
    CHECK(pool.take(2).cpus() == std::vector{1, 5});
    CHECK(pool.take(0).cpus() == std::vector{1});  // a trial runs somewhere
    const CoreLease moved = std::move(a);
    CHECK(moved.cpus() == std::vector{0, 4});
    CHECK(pool.take(2).cpus() == std::vector{1, 5});
}

TEST_CASE("a trial that needs more than there is gets all") {
    CorePool pool({0, 1, 2});
    CHECK(pool.take(64).cpus() == std::vector{0, 1, 2});
}

TEST_CASE("a trial that needs all is not passed by small ones") {
    CorePool pool({0, 1});
    auto first = std::make_unique<CoreLease>(pool.take(1));
    auto all = std::async(std::launch::async, [&] { return pool.take(2); });
    CHECK_FALSE(ready(all));
    auto small = std::async(std::launch::async, [&] { return pool.take(1); });  // one is free, but it came later
    CHECK_FALSE(ready(small));
    first.reset();
    REQUIRE(ready(all));
    CHECK_FALSE(ready(small));
    CHECK(all.get().cpus() == std::vector{0, 1});
    REQUIRE(ready(small));
    CHECK(small.get().cpus().size() == 1);
}

TEST_CASE("no processor is leased twice at a time") {
    CorePool pool({0, 1, 2, 3, 4});
    std::atomic<int> used[5] = {};
    std::atomic<int> doubly = 0;
    std::vector<std::jthread> takers;
    for (int t = 0; t < 4; ++t)
        takers.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i) {
                const CoreLease lease = pool.take(1 + (t + i) % 4);
                for (const int cpu : lease.cpus()) doubly += used[cpu].fetch_add(1) > 0;
                for (const int cpu : lease.cpus()) used[cpu].fetch_sub(1);
            }
        });
    takers.clear();
    CHECK(doubly == 0);
}

TEST_CASE("there are as many processors as usable cores, each once") {
    const std::vector<int> cpus = usable_cpus();
    CHECK(static_cast<int>(cpus.size()) == usable_cores());
    CHECK(std::set(cpus.begin(), cpus.end()).size() == cpus.size());
}

TEST_CASE("a child and its children are bound to its processors; another is not") {
    const std::vector<int> cpus = usable_cpus();
    const auto file = std::filesystem::temp_directory_path() / ("gnnbench-cores-" + std::to_string(getpid()));
    const auto allowed = [&](std::span<const int> bound) {
        std::filesystem::remove(file);
        {
            ChildProcess child({"/bin/sh", "-c", "sh -c 'grep Cpus_allowed_list /proc/self/status'"},
                               current_environment(), file.string(), SIGKILL, bound);
            while (!child.wait(0.1)) {
            }
        }
        std::ifstream in(file);
        std::string key, list;
        in >> key >> list;
        return list;
    };
    CHECK(allowed(std::span(cpus).last(1)) == std::to_string(cpus.back()));
    if (cpus.size() > 1) CHECK(allowed({}) != std::to_string(cpus.back()));
    CHECK_THROWS_WITH(allowed(std::vector{1023}), Catch::Contains("cannot start"));
    std::filesystem::remove(file);
}
