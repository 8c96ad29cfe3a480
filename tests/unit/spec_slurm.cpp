// What Slurm's programs print, as recorded from Slurm 22.05 (and, where said, from its manual), read as the files of the
// launchers srun and sbatch say.
#include <algorithm>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "launch/job_queue.hpp"
#include "launch/log_end.hpp"
#include "launch/pattern.hpp"
#include "spec/launcher_file.hpp"

using namespace gnnbench;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const LauncherDeclaration& srun() {
    static const LauncherDeclaration declared = launcher_declaration(load_launcher("srun"));
    return declared;
}
const LauncherDeclaration& sbatch() {
    static const LauncherDeclaration declared = launcher_declaration(load_launcher("sbatch"));
    return declared;
}

LaunchEnd classify_srun(const EndSigns& signs) { return classify_start(srun().start, signs); }
bool srun_waits(const std::string& log) { return waits_for_resources(srun().start, log); }

/// srun's exit code and what it printed.
EndSigns srun_ended(int code, std::string log) {
    EndSigns signs;
    signs.wait_status = code << 8;  // see waitpid
    signs.log_tail = std::move(log);
    return signs;
}

ClusterNodes cluster(bool gpus) {
    return {{{"cluster", "loop"}, {"version", "22.05.8"}, {"partition", "main"}}, 8, 8000, gpus, 0};
}

bool has(const std::vector<std::string>& options, const std::string& option) {
    return std::find(options.begin(), options.end(), option) != options.end();
}

std::vector<std::string> slurm_options(const LauncherSettings& settings, const ClusterNodes& nodes,
                                       const LaunchNeed& need) {
    return resource_values(srun(), settings, nodes, need).at("options");
}

/// A program that answers with this text, in place of the launcher's.
LauncherDeclaration answering(LauncherDeclaration launcher, std::size_t question, const std::string& text) {
    launcher.machine.ask.at(question).run = {{"printf", "%s", text}};
    return launcher;
}
LauncherDeclaration with_answers(const std::string& config, const std::string& sinfo) {
    return answering(answering(srun(), 0, config), 1, sinfo);
}
constexpr const char* config =
    "Configuration data as of 2026-11-21T23:41:01\n"
    "AccountingStorageType   = accounting_storage/none\n"
    "ClusterName             = loop\n"
    "SLURM_VERSION           = 22.05.8\n";

/// The jobs in a listing of squeue (question 0) or sacct (1).
std::vector<QueuedJob> jobs_from(const std::string& listing, std::size_t question = 0) {
    LauncherDeclaration launcher = sbatch();
    std::swap(launcher.jobs->ask.at(0), launcher.jobs->ask.at(question));
    launcher.jobs->ask.front().run = {{"printf", "%s", listing}};
    return JobQueue(launcher).jobs_named("", false);
}

}  // namespace

TEST_CASE("what sinfo cannot tell makes no partition") {
    CHECK_THROWS_WITH(ask_nodes(with_answers(config, ""), {}), Contains("`machine.ask[1].find`"));
    CHECK_THROWS_WITH(
        ask_nodes(with_answers(config, "slurm_load_partitions: Unable to contact slurm controller\n"), {}),
        Contains("Unable to contact slurm controller"));
}

TEST_CASE("a partition is as its smallest nodes are") {
    const LauncherDeclaration launcher = with_answers(config,
                                                      "main|main*|8|8000|(null)|\n"
                                                      "gpu|gpu|64+|512000+|gpu:a100:4(S:0-1)|\n"
                                                      "gpu|gpu|48|256000|gpu:v100:2|\n"
                                                      "mixed|mixed|32|64000|gpu:2|\n"
                                                      "mixed|mixed|32|64000|(null)|\n");
    const ClusterNodes main = ask_nodes(launcher, {}),
                       gpu = ask_nodes(launcher, {.partition = "gpu", .options = {}});
    CHECK(main.known.at("partition") == "main");
    CHECK(main.known.at("cluster") == "loop");
    CHECK(main.known.at("version") == "22.05.8");
    CHECK(main.cores == 8);
    CHECK(main.memory_mib == 8000);
    CHECK_FALSE(main.has_gpus);
    CHECK(gpu.cores == 48);
    CHECK(gpu.memory_mib == 256000);
    CHECK(gpu.has_gpus);
    CHECK_FALSE(ask_nodes(launcher, {.partition = "mixed", .options = {}}).has_gpus);
    CHECK_THROWS_WITH(ask_nodes(launcher, {.partition = "nope", .options = {}}),
                      Contains("the cluster loop has no partition 'nope'") && Contains("lists main, gpu, mixed"));
    CHECK_THROWS_WITH(ask_nodes(with_answers(config, "gpu|gpu|64|512000|gpu:4|\n"), {}),
                      Contains("has no default partition; name one with launcher.partition: gpu"));
}

TEST_CASE("srun's MPI types, as old and new versions list them") {
    const auto types = [](const std::string& list) {
        std::vector<std::string> names;
        for (const Match& m : matches_of(srun().mpi->ask.find, list)) names.push_back(m.at("mpi"));
        return names;
    };
    const auto listed = types(
        "MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\n"
        "specific pmix plugin versions available: pmix_v4\n");
    CHECK(has(listed, "pmix"));
    CHECK(has(listed, "pmi2"));
    CHECK_FALSE(has(listed, "pmix_v4"));
    CHECK(has(types("srun: MPI types are...\nsrun: none\nsrun: pmi2\n"), "pmi2"));
}

TEST_CASE("jobs and elements of arrays, as squeue and sacct list them") {
    const auto queue = jobs_from(
        "12_3|gnnbench-1a2b3c4d-0|PENDING|Resources\n"
        "12_0|gnnbench-1a2b3c4d-0|RUNNING|None\n"
        "9|true|CANCELLED|PartitionConfig\n"
        "6|sh|FAILED|NonZeroExitCode\n"
        "7|sh|SOMETHING_NEW|None\n");
    REQUIRE(queue.size() == 5);
    CHECK(queue[0].label() == "12_3");
    CHECK(queue[0].name == "gnnbench-1a2b3c4d-0");
    CHECK(queue[0].state == QueuedJob::State::waiting);
    CHECK(queue[0].reason == "Resources");
    CHECK(queue[1].state == QueuedJob::State::running);
    CHECK(queue[1].reason.empty());
    CHECK(queue[2].ended());
    CHECK(queue[3].ended());
    CHECK(queue[3].by_itself);
    CHECK_FALSE(queue[4].ended());  // a word that nobody knows ends no job
    // sacct names the user who cancelled, and lists elements that wait as one line, which squeue has one by one.
    const auto former = jobs_from("40|gnnbench-1a2b3c4d-1|CANCELLED by 1000|None\n41_[2-7]|x|PENDING|None\n", 1);
    REQUIRE(former.size() == 1);
    CHECK(former[0].word == "CANCELLED");
    CHECK(jobs_from("").empty());
    CHECK_THROWS_WITH(jobs_from("slurm_load_jobs error: Invalid job id specified\n"), Contains("neither `find`"));
}

TEST_CASE("the number of a submitted job") {
    const auto submitted = [](const std::string& answer) {
        LauncherDeclaration launcher = sbatch();
        launcher.jobs->submit.run = {{"printf", "%s", answer}};
        return JobQueue(launcher).submit({.name = "j",
                                          .script_file = "/dev/null",
                                          .log_file = "l",
                                          .settings = {},
                                          .nodes = {},
                                          .need = {},
                                          .before = "",
                                          .command = {"true"}});
    };
    CHECK(submitted("12\n") == "12");
    CHECK(submitted("12;cluster\n") == "12");
    CHECK(submitted("Your project has 100 hours left.\n4711\n") == "4711");
    CHECK_THROWS_WITH(submitted("sbatch: error: Batch job submission failed\n"), Contains("submission failed"));
}

TEST_CASE("a job's state says what becomes of the trial it left open") {
    const auto end = [](const std::string& state, const std::string& reason = "None") {
        return JobQueue(sbatch()).end_of(jobs_from("12_3|gnnbench-x|" + state + "|" + reason + "\n").at(0));
    };
    CHECK(end("OUT_OF_MEMORY").status == TrialStatus::oom);
    CHECK(end("TIMEOUT").status == TrialStatus::timeout);
    CHECK(end("NODE_FAIL").status == TrialStatus::failed);
    CHECK(end("FAILED").status == TrialStatus::failed);
    CHECK(end("COMPLETED").status == TrialStatus::failed);
    CHECK(end("CANCELLED").status == TrialStatus::interrupted);
    CHECK(end("PREEMPTED").status == TrialStatus::interrupted);
    CHECK(end("NODE_FAIL", "NodeDown").reason == "Slurm's job 12_3 ended NODE_FAIL (NodeDown)");
    CHECK_FALSE(jobs_from("12|x|NODE_FAIL|None\n").at(0).by_itself);
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
    LauncherSettings settings;
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
                .hosts = "",
                .options = {"--gres=gpu:2", "--exclusive"}};
    options = slurm_options(settings, cluster(true), {4, 2, true, 60});
    for (const char* wanted :
         {"--partition=gpu", "--account=lab", "--time=1:00:00", "--nodes=2", "--gres=gpu:2", "--exclusive"})
        CHECK(has(options, wanted));
    CHECK_FALSE(has(options, "--gpus-per-task=1"));
}

TEST_CASE("times of another cluster, partition or kind of node are another machine's") {
    const auto slurm_machine = [](const LauncherSettings& s) {
        return cluster_machine(srun(), cluster(false), s);
    };
    const Machine plain = slurm_machine({});
    CHECK(plain.cpu == "Slurm loop/main");
    CHECK(plain.cores == 8);
    LauncherSettings settings;
    settings.options = {"--exclusive", "--mail-type=END"};
    CHECK(slurm_machine(settings).cpu == plain.cpu);
    settings.options = {"--exclusive", "--constraint=a100"};
    CHECK(slurm_machine(settings).cpu == "Slurm loop/main --constraint=a100");
    settings.options = {"-C", "a100", "--exclusive"};
    CHECK(slurm_machine(settings).cpu == "Slurm loop/main -C a100");
}

TEST_CASE("a job's script runs its task, whatever its path") {
    const JobQueue queue(sbatch());
    BatchJob job{.name = "gnnbench-1a2b3c4d-0",
                 .script_file = "/s",
                 .log_file = "/50%j of it/%/job-0-%a.log",
                 .settings = {.options = {"-C a100"}},
                 .nodes = {},
                 .need = {.ranks = 2, .threads_per_rank = 1},
                 .elements = 5,
                 .at_once = 2,
                 .before = "module load openmpi",
                 .command = {"/opt/it's/gnnbench", "job-task", "/a b"},
                 .first = 3};
    // What Slurm would replace in a folder's name is doubled; the element's number is for Slurm to fill in.
    CHECK(queue.submission(job) ==
          std::vector<std::string>{"sbatch", "--parsable", "--job-name=gnnbench-1a2b3c4d-0", "--no-requeue",
                                   "--output=/50%%j of it/%%/job-0-%a.log", "--array=0-4%2", "--ntasks=2",
                                   "--cpus-per-task=1", "-C", "a100", "/s"});
    CHECK_THAT(queue.script(job), StartsWith("#!/bin/bash\n# sbatch --parsable"));
    CHECK_THAT(queue.script(job),
               Contains("\nmodule load openmpi\n"
                        "exec '/opt/it'\\''s/gnnbench' 'job-task' '/a b' \"$((SLURM_ARRAY_TASK_ID + 3))\"\n"));
    job.at_once = 0;
    CHECK(has(queue.submission(job), "--array=0-4%1000"));
    job.elements = 0;
    CHECK_THAT(queue.script(job), Contains("'job-task' '/a b' 3\n") && !Contains("--array"));
    // A line's end in an option would begin a line of shell.
    job.settings.options = {"--constraint=a100\nrm -rf /", "--exclusive"};
    CHECK_THROWS_AS(queue.script(job), SpecError);
    CHECK_THROWS_WITH(queue.script(job), Contains("on one line"));
}
