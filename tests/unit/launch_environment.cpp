#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/temporary_folder.hpp>

#include "launch/environment.hpp"
#include "launch/machine.hpp"
#include "launch/process_limits.hpp"
#include "launch/shared_folder.hpp"

using namespace gnnbench;

namespace {
bool has(const Environment& variables, const std::string& variable) {
    return std::find(variables.begin(), variables.end(), variable) != variables.end();
}
bool has_name(const Environment& variables, const std::string& name) {
    return std::any_of(variables.begin(), variables.end(),
                       [&](const std::string& v) { return v.starts_with(name + "="); });
}
const Mpiexec open_mpi{"/usr/bin/mpiexec", MpiFlavour::open_mpi, "Open MPI 4.1.4"};
}  // namespace

TEST_CASE("what marks a rank does not reach a trial; the user's own settings do") {
    const Environment ours = {"OMPI_COMM_WORLD_RANK=0",  "PMIX_RANK=0",
                              "OMPI_MCA_orte_hnp_uri=x", "PMI_RANK=1",
                              "HOME=/home/ada",          "OMPI_MCA_btl_tcp_if_include=eth0",
                              "PRTE_LAUNCHED=1",         "PRTE_MCA_rmaps_default_mapping_policy=slot"};
    const Environment result =
        trial_environment(ours, open_mpi, {.ranks = 1, .threads_per_rank = 1, .cores = 4}, "T", "");
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "OMPI_MCA_orte_hnp_uri", "PMI_RANK", "PRTE_LAUNCHED"}) {
        INFO(name);
        CHECK_FALSE(has_name(result, name));
    }
    CHECK(has(result, "HOME=/home/ada"));
    CHECK(has(result, "OMPI_MCA_btl_tcp_if_include=eth0"));
    CHECK(has(result, "PRTE_MCA_rmaps_default_mapping_policy=slot"));
    CHECK(has(result, "GNNBENCH_TRIAL=T"));
}

TEST_CASE("thread counts are the cell's, whatever the environment says") {
    const Environment result = trial_environment({"OMP_NUM_THREADS=64"}, open_mpi, {2, 3, 8}, "T", "");
    CHECK(has(result, "OMP_NUM_THREADS=3"));
    CHECK_FALSE(has(result, "OMP_NUM_THREADS=64"));
    CHECK(has(result, "OPENBLAS_NUM_THREADS=3"));
}

TEST_CASE("ranks yield and oversubscribe only where there are more of them than cores") {
    const Environment fits = trial_environment({}, open_mpi, {2, 2, 4}, "T", "");
    CHECK_FALSE(has_name(fits, "OMPI_MCA_mpi_yield_when_idle"));
    CHECK_FALSE(has_name(fits, "OMPI_MCA_rmaps_base_oversubscribe"));
    const Environment crowded = trial_environment({}, open_mpi, {8, 1, 4}, "T", "");
    CHECK(has(crowded, "OMPI_MCA_mpi_yield_when_idle=1"));
    CHECK(has(crowded, "GNNBENCH_YIELD=sleep"));
    CHECK_FALSE(has_name(fits, "GNNBENCH_YIELD"));
    const Mpiexec mpich{"/usr/bin/mpiexec", MpiFlavour::mpich, "MPICH 4.0"};  // which has no setting of its own
    CHECK(has(trial_environment({}, mpich, {8, 1, 4}, "T", ""), "GNNBENCH_YIELD=sleep"));
    CHECK_FALSE(has_name(trial_environment({}, mpich, {2, 2, 4}, "T", ""), "GNNBENCH_YIELD"));
    CHECK(has(crowded, "OMPI_MCA_rmaps_base_oversubscribe=1"));
    const Environment users = trial_environment({"OMPI_MCA_mpi_yield_when_idle=0"}, open_mpi, {8, 1, 4}, "T", "");
    CHECK(has(users, "OMPI_MCA_mpi_yield_when_idle=0"));
    CHECK_FALSE(has(users, "OMPI_MCA_mpi_yield_when_idle=1"));
}

TEST_CASE("threads that wait do not spin where there are more of them than cores") {
    CHECK_FALSE(has_name(trial_environment({}, open_mpi, {2, 2, 4}, "T", ""), "OMP_WAIT_POLICY"));
    for (const RankLoad& crowded : {RankLoad{2, 2, 3}, RankLoad{8, 1, 4}, RankLoad{1, 5, 4}})
        CHECK(has(trial_environment({}, open_mpi, crowded, "T", ""), "OMP_WAIT_POLICY=passive"));
    const Environment users = trial_environment({"OMP_WAIT_POLICY=active"}, open_mpi, {8, 2, 4}, "T", "");
    CHECK(has(users, "OMP_WAIT_POLICY=active"));
    CHECK_FALSE(has(users, "OMP_WAIT_POLICY=passive"));
}

TEST_CASE("what launcher and ranks share is where it can be removed") {
    const Environment result = trial_environment({}, open_mpi, {1, 1, 4}, "T", "/dev/shm/x");
    CHECK(has(result, "OMPI_MCA_orte_tmpdir_base=/dev/shm/x"));
    CHECK(has(result, "OMPI_MCA_btl_vader_backing_directory=/dev/shm/x"));
    CHECK_FALSE(has_name(trial_environment({}, open_mpi, {1, 1, 4}, "T", ""), "OMPI_MCA_orte_tmpdir_base"));
}

TEST_CASE("ranks of one host start where nothing reaches other hosts") {
    const Mpiexec open_mpi{"/usr/bin/mpiexec", MpiFlavour::open_mpi, "Open MPI 4.1.4"};
    const RankLoad load{.ranks = 2, .threads_per_rank = 1, .cores = 2};
    CHECK(has(local_trial_environment({}, open_mpi, load, "T", ""), "OMPI_MCA_plm_rsh_agent=ssh : rsh : true"));
    const Environment users = local_trial_environment({"OMPI_MCA_plm_rsh_agent=oarsh"}, open_mpi, load, "T", "");
    CHECK(has(users, "OMPI_MCA_plm_rsh_agent=oarsh"));
    CHECK_FALSE(has_name(trial_environment({}, open_mpi, load, "T", ""), "OMPI_MCA_plm_rsh_agent"));
}

TEST_CASE("ranks of one host open no ports, unless the user's settings say so") {
    const RankLoad load{2, 1, 4};
    CHECK(has(local_trial_environment({}, open_mpi, load, "T", ""), "OMPI_MCA_btl=^tcp,openib,ofi"));
    for (const std::string& v : local_trial_environment({"LD_PRELOAD=/lib/mine.so"}, open_mpi, load, "T", ""))
        if (v.starts_with("LD_PRELOAD=")) CHECK(v.ends_with("/lib/mine.so"));
    const Mpiexec later{"/usr/bin/mpiexec", MpiFlavour::open_mpi, "Open MPI 5.0.3"};
    CHECK_FALSE(has_name(local_trial_environment({}, later, load, "T", ""), "LD_PRELOAD"));
    // Ranks that listen on loopback alone cannot be reached at the address that TCP advertises: they would wait for ever.
    const Environment users = local_trial_environment({"OMPI_MCA_btl=self,tcp"}, open_mpi, load, "T", "");
    CHECK(has(users, "OMPI_MCA_btl=self,tcp"));
    CHECK_FALSE(has(users, "OMPI_MCA_btl=^tcp,openib,ofi"));
    CHECK_FALSE(has_name(users, "LD_PRELOAD"));
    CHECK(has(users, "OMPI_MCA_osc=^ucx"));  // which would make no window over TCP
    CHECK_FALSE(has_name(local_trial_environment({}, open_mpi, load, "T", ""), "OMPI_MCA_osc"));
    CHECK_FALSE(has_name(local_trial_environment({"OMPI_MCA_btl=tcp"}, later, load, "T", ""), "OMPI_MCA_osc"));
}

TEST_CASE("a host that is gone is noticed within a minute, unless the user's settings say otherwise") {
    const auto seconds = [](const Environment& variables, const std::string& name) {
        const std::string prefix = "OMPI_MCA_oob_tcp_keepalive_" + name + '=';
        for (const std::string& v : variables)
            if (v.starts_with(prefix)) return std::stoi(v.substr(prefix.size()));
        return -1;
    };
    const Environment ours = trial_environment({}, open_mpi, {2, 1, 4}, "T", "");
    CHECK(seconds(ours, "time") > 0);
    CHECK(seconds(ours, "time") + seconds(ours, "intvl") * seconds(ours, "probes") < 60);
    CHECK(seconds(trial_environment({"OMPI_MCA_oob_tcp_keepalive_time=300"}, open_mpi, {2, 1, 4}, "T", ""),
                  "time") == 300);
}

TEST_CASE("ranks that a resource manager may place on several hosts keep their network") {
    const Environment result = trial_environment({}, open_mpi, {2, 1, 4}, "T", "");
    CHECK_FALSE(has_name(result, "OMPI_MCA_btl"));
    CHECK_FALSE(has_name(result, "LD_PRELOAD"));
}

TEST_CASE("a home that is given is kept") {
    Environment variables{"HOME=/home/ada"};
    add_home(variables);
    CHECK(variables == Environment{"HOME=/home/ada"});
}

TEST_CASE("limits under which ranks hang are named with the way out") {
    CHECK(why_too_low(2, {}).empty());
    CHECK(why_too_low(2, {.open_files = 1024, .address_space_bytes = std::int64_t{8} << 30, .file_bytes = 8 << 20})
              .empty());
    CHECK_THAT(why_too_low(2, {.open_files = 24}), Catch::Contains("open files is 24") &&
                                                       Catch::Contains("42 for 2 ranks") &&
                                                       Catch::Contains("ulimit -n"));
    CHECK_THAT(why_too_low(2, {.address_space_bytes = std::int64_t{300} << 20}),
               Catch::Contains("300 MiB") && Catch::Contains("ulimit -v"));
    CHECK_THAT(why_too_low(2, {.file_bytes = 4 << 20}),
               Catch::Contains("file's size is 4 MiB") && Catch::Contains("ulimit -f"));
}

TEST_CASE("shared files are put into the first place that has room") {
    const TemporaryFolder folder("places");
    const auto small = folder.path() / "file", there = folder.path() / "there";
    std::ofstream(small) << "no folder";
    std::filesystem::create_directory(there);
    CHECK(first_with_room({"/nowhere", small, there}, 1) == there);
    CHECK(first_with_room({"/nowhere", small}, 1).empty());
    CHECK(first_with_room({there}, std::int64_t{1} << 62).empty());
    CHECK(shared_bytes(8) - shared_bytes(2) >= 6 * (std::int64_t{4} << 20));
    CHECK_THROWS_WITH(SharedFolder("test-" + std::to_string(getpid()), 1 << 30, there),
                      Catch::Contains("no folder has room") && Catch::Contains("TMPDIR"));
    std::string made;
    {
        const SharedFolder shared("test-" + std::to_string(getpid()), 2, there);
        made = shared.path();
        struct stat info{};
        REQUIRE(stat(made.c_str(), &info) == 0);
        CHECK((info.st_mode & 0777) == 0700);
    }
    CHECK_FALSE(std::filesystem::exists(made));
}

TEST_CASE("MPICH gets none of Open MPI's settings, and only root the permission to be root") {
    const Mpiexec mpich{"/usr/bin/mpiexec", MpiFlavour::mpich, "MPICH 4.0"};
    for (const std::string& variable : local_trial_environment({}, mpich, {8, 1, 4}, "T", "")) {
        INFO(variable);
        CHECK_FALSE(variable.starts_with("OMPI_"));
    }
    CHECK(has_name(trial_environment({}, open_mpi, {1, 1, 4}, "T", ""), "OMPI_ALLOW_RUN_AS_ROOT") ==
          (geteuid() == 0));
}

TEST_CASE("launchers are told apart by what they print as their version") {
    CHECK(flavour_from("mpiexec (OpenRTE) 4.1.4\n") == MpiFlavour::open_mpi);
    CHECK(version_from("mpiexec (OpenRTE) 4.1.4\n") == "Open MPI 4.1.4");
    CHECK(version_from("mpirun (Open MPI) 5.0.3\n") == "Open MPI 5.0.3");
    CHECK(version_from("HYDRA build details:\n    Version:     4.0.2\n") == "MPICH 4.0.2");
    CHECK(version_from("mpirun (Open MPI) 5.1rc2, build 12") == "Open MPI 5.1");
    CHECK(version_from("HYDRA 4. of 2024") == "MPICH");
    CHECK(flavour_from("something else") == MpiFlavour::unknown);
}

TEST_CASE("a machine is what makes times comparable, the same when asked again") {
    CHECK(to_json(this_machine(open_mpi)) == to_json(this_machine(open_mpi)));
    CHECK_FALSE(to_json(this_machine(open_mpi)).contains("hostname"));
    const Machine here = this_machine(open_mpi);
    CHECK(here.cores >= 1);
    CHECK(here.memory_gib >= 1);
    CHECK_FALSE(here.cpu.empty());
    CHECK(provenance().at("compiler").get<std::string>().size() > 3);
}
