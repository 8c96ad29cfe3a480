// What Slurm's programs print, as recorded from Slurm 22.05 (and, where said, from its manual), read without Slurm.
#include <algorithm>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "launch/sbatch.hpp"
#include "launch/slurm.hpp"

using namespace gnnbench;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// srun's exit code and what it printed.
EndSigns srun_ended(int code, std::string log) {
    EndSigns signs;
    signs.wait_status = code << 8;  // see waitpid
    signs.log_tail = std::move(log);
    return signs;
}

SlurmCluster cluster(bool gpus) { return {"loop", "22.05.8", {"main", true, 8, 8000, gpus}}; }

bool has(const std::vector<std::string>& options, const std::string& option) {
    return std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace

TEST_CASE("what sinfo cannot tell makes no partition") {
    CHECK(partitions_from("").empty());
    CHECK(partitions_from("slurm_load_partitions: Unable to contact slurm controller\n").empty());
}

TEST_CASE("a partition is as its smallest nodes are") {
    const auto all = partitions_from(
        "main|main*|8|8000|(null)|\n"
        "gpu|gpu|64+|512000+|gpu:a100:4(S:0-1)|\n"
        "gpu|gpu|48|256000|gpu:v100:2|\n"
        "mixed|mixed|32|64000|gpu:2|\n"
        "mixed|mixed|32|64000|(null)|\n");
    REQUIRE(all.size() == 3);
    CHECK(all[0].name == "main");
    CHECK(all[0].is_default);
    CHECK(all[0].cpus == 8);
    CHECK_FALSE(all[0].has_gpus);
    CHECK(all[1].cpus == 48);
    CHECK(all[1].memory_mib == 256000);
    CHECK(all[1].has_gpus);
    CHECK_FALSE(all[2].has_gpus);
}

TEST_CASE("scontrol's settings are found by their whole names") {
    const std::string config =
        "Configuration data as of 2026-11-21T23:41:01\n"
        "AccountingStorageType   = accounting_storage/none\n"
        "ClusterName             = loop\n"
        "SLURM_VERSION           = 22.05.8\n";
    CHECK(config_value(config, "ClusterName") == "loop");
    CHECK(config_value(config, "SLURM_VERSION") == "22.05.8");
    CHECK(config_value(config, "Cluster").empty());
}

TEST_CASE("srun's MPI types, as old and new versions list them") {
    const std::vector<std::string> types = mpi_types_from(
        "MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\n"
        "specific pmix plugin versions available: pmix_v4\n");
    CHECK(has(types, "pmix"));
    CHECK(has(types, "pmi2"));
    CHECK_FALSE(has(types, "pmix_v4"));
    CHECK(has(mpi_types_from("srun: MPI types are...\nsrun: none\nsrun: pmi2\n"), "pmi2"));
}

TEST_CASE("jobs and elements of arrays, as squeue and sacct list them") {
    const auto queue = jobs_from(
        "12_3|gnnbench-1a2b3c4d-0|PENDING|Resources\n"
        "12_0|gnnbench-1a2b3c4d-0|RUNNING|None\n"
        "9|true|CANCELLED|PartitionConfig\n"
        "6|sh|FAILED|NonZeroExitCode\n");
    REQUIRE(queue.size() == 4);
    CHECK(queue[0].id == "12_3");
    CHECK(queue[0].name == "gnnbench-1a2b3c4d-0");
    CHECK_FALSE(queue[0].ended());
    CHECK(queue[0].reason == "Resources");
    CHECK(queue[1].reason.empty());
    CHECK(queue[2].ended());
    CHECK(queue[3].ended());
    // sacct names the user who cancelled, and lists elements that wait as one line, which squeue has one by one.
    const auto former = jobs_from("40|gnnbench-1a2b3c4d-1|CANCELLED by 1000|None\n41_[2-7]|x|PENDING|None\n");
    REQUIRE(former.size() == 1);
    CHECK(former[0].state == "CANCELLED");
    CHECK(jobs_from("slurm_load_jobs error: Invalid job id specified\n").empty());
    CHECK(jobs_from("Slurm accounting storage is disabled\n").empty());
}

TEST_CASE("the number of a submitted job") {
    CHECK(submitted_job("12\n") == "12");
    CHECK(submitted_job("12;cluster\n") == "12");
    CHECK(submitted_job("Your project has 100 hours left.\n4711\n") == "4711");
    CHECK(submitted_job("sbatch: error: Batch job submission failed\n").empty());
}

TEST_CASE("a job's state says what becomes of the trial it left open") {
    const auto kind = [](const char* state) { return end_of_job({"12_3", "gnnbench-x", state, ""}).status; };
    CHECK(kind("OUT_OF_MEMORY") == TrialStatus::oom);
    CHECK(kind("TIMEOUT") == TrialStatus::timeout);
    CHECK(kind("NODE_FAIL") == TrialStatus::failed);
    CHECK(kind("FAILED") == TrialStatus::failed);
    CHECK(kind("CANCELLED") == TrialStatus::interrupted);
    CHECK(kind("PREEMPTED") == TrialStatus::interrupted);
    CHECK(end_of_job({"12_3", "gnnbench-x", "NODE_FAIL", "NodeDown"}).reason ==
          "Slurm's job 12_3 ended NODE_FAIL (NodeDown)");
}

TEST_CASE("what srun says of a refused allocation is the reason") {
    const LaunchEnd end =
        classify_srun(srun_ended(1,
                                 "srun: error: invalid partition specified: nope\n"
                                 "srun: error: Unable to allocate resources: Invalid partition name specified\n"));
    CHECK(end.status == TrialStatus::failed);
    CHECK(end.reason == "Slurm started no ranks: Unable to allocate resources: Invalid partition name specified");
    CHECK_THAT(classify_srun(srun_ended(1,
                                        "srun: error: Unable to create step for job 7: More processors requested "
                                        "than permitted\n"))
                   .reason,
               Contains("More processors requested than permitted"));
}

TEST_CASE("Slurm's ends of a step: memory, time, a node") {
    // As Slurm's cgroup plugin words it.
    LaunchEnd end = classify_srun(srun_ended(137,
                                             "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=21.0. "
                                             "Some of your processes may have been killed "
                                             "by the cgroup out-of-memory handler.\n"
                                             "srun: error: n1: task 1: Out Of Memory\n"));
    CHECK(end.status == TrialStatus::oom);
    CHECK_THAT(end.reason, Contains("Detected 1 oom-kill event"));
    end = classify_srun(srun_ended(
        143,
        "slurmstepd-vm: error: *** STEP 11.0 ON vm CANCELLED AT 2026-11-21T23:38:37 DUE TO TIME LIMIT ***\n"
        "srun: error: vm: tasks 0-1: Terminated\n"));
    CHECK(end.status == TrialStatus::timeout);
    CHECK_THAT(end.reason, Contains("STEP 11.0 ON vm CANCELLED"));
    end = classify_srun(srun_ended(1, "srun: error: Node failure on n7\n"));
    CHECK(end.status == TrialStatus::failed);
    CHECK(end.reason == "a node failed: Node failure on n7");
}

TEST_CASE("a rank's own end is told with its rank") {
    LaunchEnd end = classify_srun(srun_ended(139, "srun: error: vm: tasks 0-1: Segmentation fault\n"));
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.reason == "ranks 0-1 were killed by signal 11 (SIGSEGV)");
    // A rank that crashes has the others terminated, whose end may be told first and be srun's own.
    end = classify_srun(
        srun_ended(143,
                   "srun: error: vm-2: task 2: Terminated\n"
                   "slurmstepd-vm: error: *** STEP 7.0 ON vm-1 CANCELLED AT 2026-11-27T09:21:28 ***\n"
                   "srun: error: vm-1: task 0: Segmentation fault (core dumped)\n"));
    CHECK(end.status == TrialStatus::crashed);
    CHECK(end.reason == "rank 0 was killed by signal 11 (SIGSEGV)");
    end = classify_srun(srun_ended(134, "srun: error: vm: task 1: Aborted\n"));
    CHECK(end.reason == "rank 1 was killed by signal 6 (SIGABRT)");
    end = classify_srun(
        srun_ended(4,
                   "srun: error: vm: task 1: Exited with exit code 4\n"
                   "slurmstepd-vm: error: *** STEP 6.0 ON vm CANCELLED AT 2026-11-21T23:38:30 ***\n"));
    CHECK(end.status == TrialStatus::failed);
    CHECK(end.reason == "exit code 4 of srun: vm: task 1: Exited with exit code 4");
}

TEST_CASE("who cancelled a step was not us") {
    const LaunchEnd end = classify_srun(
        srun_ended(143, "slurmstepd-vm: error: *** STEP 11.0 ON vm CANCELLED AT 2026-11-21T23:38:37 ***\n"));
    CHECK(end.status == TrialStatus::failed);
    CHECK_THAT(end.reason, StartsWith("somebody cancelled it"));
    EndSigns ours =
        srun_ended(137, "slurmstepd-vm: error: *** STEP 4.0 ON vm CANCELLED AT 2026-11-21T23:38:22 ***\n");
    ours.timed_out = true;
    ours.timeout_s = 3;
    CHECK(classify_srun(ours).status == TrialStatus::timeout);
}

TEST_CASE("no time passes for a trial that waits for resources") {
    const std::string queued = "srun: job 9 queued and waiting for resources\n";
    CHECK_FALSE(srun_waits(""));
    CHECK(srun_waits(queued));
    CHECK_FALSE(srun_waits(queued + "srun: job 9 has been allocated resources\n"));
    const std::string step =
        "srun: Job 7 step creation temporarily disabled, retrying (Requested nodes are busy)\n";
    CHECK(srun_waits(step));
    CHECK_FALSE(srun_waits(step + "srun: Step created for job 7\n"));
}

TEST_CASE("what Slurm is asked for") {
    SlurmSettings settings;
    auto options = slurm_options(settings, cluster(true), {4, 2, false, 61});
    CHECK(has(options, "--ntasks=4"));
    CHECK(has(options, "--cpus-per-task=2"));
    CHECK(has(options, "--time=4"));  // minutes, rounded up, and two to spare
    CHECK_FALSE(has(options, "--gpus-per-task=1"));
    options = slurm_options(settings, cluster(true), {4, 2, true, 0});
    CHECK(has(options, "--gpus-per-task=1"));
    CHECK(has(options, "--gpu-bind=none"));
    // A cluster without GPUs would refuse the job; its nodes themselves say that they have none.
    CHECK_FALSE(has(slurm_options(settings, cluster(false), {4, 2, true, 0}), "--gpus-per-task=1"));
    settings = {.partition = "gpu",
                .account = "lab",
                .time = "1:00:00",
                .nodes = 2,
                .gpus = "none",
                .mpi = "",
                .options = {"--gres=gpu:2", "--exclusive"}};
    options = slurm_options(settings, cluster(true), {4, 2, true, 60});
    for (const char* wanted :
         {"--partition=gpu", "--account=lab", "--time=1:00:00", "--nodes=2", "--gres=gpu:2", "--exclusive"})
        CHECK(has(options, wanted));
    CHECK_FALSE(has(options, "--gpus-per-task=1"));
}

TEST_CASE("times of another cluster, partition or kind of node are another machine's") {
    const Machine plain = slurm_machine(cluster(false), {});
    CHECK(plain.cpu == "Slurm loop/main");
    CHECK(plain.cores == 8);
    SlurmSettings settings;
    settings.options = {"--exclusive", "--mail-type=END"};
    CHECK(slurm_machine(cluster(false), settings).cpu == plain.cpu);
    settings.options = {"--exclusive", "--constraint=a100"};
    CHECK(slurm_machine(cluster(false), settings).cpu == "Slurm loop/main --constraint=a100");
    settings.options = {"-C", "a100", "--exclusive"};
    CHECK(slurm_machine(cluster(false), settings).cpu == "Slurm loop/main -C a100");
}

TEST_CASE("a job's script runs its task, whatever its path") {
    BatchJob job{.name = "gnnbench-1a2b3c4d-0",
                 .script_file = "",
                 .log_file = "/a b/job-0-%a.log",
                 .options = {"--ntasks=2", "-C a100"},
                 .elements = 5,
                 .at_once = 2,
                 .before = "module load openmpi",
                 .command = {"/opt/it's/gnnbench", "job-task", "/a b"},
                 .first = 3};
    CHECK(batch_script(job) ==
          "#!/bin/bash\n"
          "#SBATCH --job-name=gnnbench-1a2b3c4d-0\n"
          "#SBATCH --no-requeue\n"
          "#SBATCH --array=0-4%2\n"
          "#SBATCH --ntasks=2\n"
          "#SBATCH -C a100\n"
          "module load openmpi\n"
          "exec '/opt/it'\\''s/gnnbench' 'job-task' '/a b' \"$((SLURM_ARRAY_TASK_ID + 3))\"\n");
    job.elements = 0;
    CHECK_THAT(batch_script(job), Contains("'job-task' '/a b' 3\n"));
    CHECK_THAT(batch_script(job), !Contains("--array"));
    // What Slurm would replace in a folder's name is doubled; the element's number is for Slurm to fill in.
    CHECK(output_pattern("/50%j of it/%/job-0-%a.log") == "/50%%j of it/%%/job-0-%a.log");
    CHECK(output_pattern("job-%a.log") == "job-%a.log");
    // A line's end in an option would begin a line of shell.
    job.options = {"--constraint=a100\nrm -rf /", "--exclusive"};
    CHECK_THROWS_AS(batch_script(job), SpecError);
    CHECK_THROWS_WITH(batch_script(job), Contains("on one line"));
}
