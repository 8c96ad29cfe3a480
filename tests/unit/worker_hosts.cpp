// What ranks make sure of before a trial; over several hosts: tests/endtoend/hosts.sh, hosts_faults.sh.
#include <cstdlib>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "worker/hosts.hpp"

using namespace gnnbench;

TEST_CASE("two hosts of one name are named; ranks of one host, and names that nobody compares, are not") {
    const RankPlace a{"node", "0", "boot1 net:[1]"}, b{"node", "1", "boot1 net:[1]"},
        c{"other", "0", "boot2 net:[1]"};
    CHECK(why_names_clash({}).empty());
    CHECK(why_names_clash({a, b, c}).empty());
    CHECK_THAT(why_names_clash({a, b, {"node", "0", "boot2 net:[1]"}}),
               Catch::Contains("ranks 0 and 2") && Catch::Contains("'node'") && Catch::Contains("--hostname"));
    // Slurm daemons of one host, each with a first rank: Slurm gives them names of their own.
    CHECK(why_names_clash({a, {"node", "0", "boot1 net:[1]"}}).empty());
    // Containers of one host under one launcher have different numbers there.
    CHECK(why_names_clash({a, {"node", "1", "boot1 net:[2]"}}).empty());
    // Other launchers than Open MPI's say no number.
    CHECK(why_names_clash({{"node", "", "boot1 net:[1]"}, {"node", "", "boot2 net:[1]"}}).empty());
}

TEST_CASE("how long hosts are waited for grows with the ranks, and can be chosen") {
    unsetenv("GNNBENCH_HOST_LIMIT");
    CHECK(host_limit_s(1) >= 60);  // a new file may take a minute to appear on NFS
    CHECK(host_limit_s(1000) > host_limit_s(10));
    setenv("GNNBENCH_HOST_LIMIT", "2.5", 1);
    CHECK(host_limit_s(1000) == 2.5);
    for (const char* wrong : {"0", "-1", "2s", "soon"}) {
        setenv("GNNBENCH_HOST_LIMIT", wrong, 1);
        CHECK_THROWS_WITH(host_limit_s(1), Catch::Contains("GNNBENCH_HOST_LIMIT") && Catch::Contains(wrong));
    }
    unsetenv("GNNBENCH_HOST_LIMIT");
}
