// What is on disk of jobs that sbatch submits.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "run/job_folder.hpp"
#include "run/trial_execution.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

struct Scratch {
    fs::path path = fs::temp_directory_path() / ("gnnbench-jobs-" + std::to_string(getpid()));
    Scratch() { fs::create_directories(path); }
    ~Scratch() { fs::remove_all(path); }
    fs::path database() const { return path / "r.sqlite"; }
};

}  // namespace

TEST_CASE("a task whose run was given up says so") {
    const Scratch scratch;
    CHECK_THROWS_AS(read_task(scratch.path / "gone", 0), EnvironmentError);
    std::ofstream(scratch.path / "task-0.json") << "{\"cells\": 3}";
    CHECK_THROWS_WITH(read_task(scratch.path, 0), Catch::Contains("is no job's task"));
}

TEST_CASE("a damaged folder says what is damaged, and what to do") {
    const Scratch scratch;
    const JobFolder folder = JobFolder::create(scratch.database());
    for (const char* text : {"", "[1", "{\"batches\": 3}", "[{\"name\": \"x\"}]",
                             "{\"batches\": [{\"name\": 3, \"job\": 1}]}", "7"}) {
        std::ofstream(folder.path() / "batches.json") << text;
        CAPTURE(text);
        CHECK_THROWS_AS(folder.batches(), EnvironmentError);
        CHECK_THROWS_WITH(folder.batches(),
                          Catch::Contains("batches.json") && Catch::Contains("remove its folder"));
    }
    JobTask task;
    Cell cell;
    cell.dataset.source = {{"store", "cora"}};
    task.cells.push_back({cell, record_of(cell, {}), "", true});
    task.trials.push_back({.cell = 3});
    folder.write_task(0, task);
    CHECK_THROWS_AS(read_task(folder.path(), 0), EnvironmentError);
    CHECK_THROWS_WITH(read_task(folder.path(), 0), Catch::Contains("a trial is of cell 3, and there are 1 cells"));
    task.trials[0].cell = 0;
    folder.write_task(0, task);
    CHECK(read_task(folder.path(), 0).trials.size() == 1);
    std::ifstream in(folder.path() / "task-0.json");
    nlohmann::json damaged = nlohmann::json::parse(in);
    damaged["cells"][0]["cell"]["precision"] = 5;
    std::ofstream(folder.path() / "task-0.json") << damaged;
    CHECK_THROWS_AS(read_task(folder.path(), 0), EnvironmentError);
}

TEST_CASE("a folder belongs to one follower at a time, and outlives it") {
    const Scratch scratch;
    CHECK(JobFolder::left(scratch.database()).empty());
    std::string id;
    {
        const JobFolder mine = JobFolder::create(scratch.database());
        id = mine.id();
        CHECK(mine.batches().empty());
        mine.write_batches({{"gnnbench-x-0", "12", true, 0, 3}, {"gnnbench-x-1", "", false, 3, 1}},
                           {{"name", "pbs"}});
        CHECK(JobFolder::left(scratch.database()).empty());
    }
    std::vector<JobFolder> left = JobFolder::left(scratch.database());
    REQUIRE(left.size() == 1);
    CHECK(left[0].id() == id);
    CHECK(JobFolder::left(scratch.database()).empty());
    const std::vector<JobBatch> batches = left[0].batches();
    REQUIRE(batches.size() == 2);
    CHECK(left[0].launcher().at("name") == "pbs");
    CHECK(batches[0].job == "12");
    CHECK(batches[0].tasks == 3);
    CHECK(batches[1].first == 3);
    CHECK(batches[1].job.empty());
    left[0].close();
    left.clear();
    CHECK(JobFolder::left(scratch.database()).empty());
}

TEST_CASE("a task is read as it was written") {
    const Scratch scratch;
    const JobFolder folder = JobFolder::create(scratch.database());
    JobTask task;
    task.experiment = "tiny";
    task.machine = {{"cpu", "Slurm loop/main"}, {"cores", 8}};
    task.database = scratch.database();
    task.journal = folder.journal(scratch.database(), 7);
    task.retries = 2;
    task.settings.options = {"--exclusive"};
    task.launcher = {{"name", "sbatch"}, {"hosts", "others"}};
    task.nodes = {{{"cluster", "loop"}}, 8, 8000, true, 2};
    Cell cell;
    cell.gpus = 4;
    cell.dataset.source = {{"store", "cora"}};
    task.cells.push_back({cell, record_of(cell, {{"core", "c0"}}), "samples", false});
    task.trials.push_back({.cell = 0, .purpose = Purpose::verify, .timeout_s = 60, .reference = "/r"});
    task.trials.push_back(
        {.cell = 0, .number = 5, .timeout_s = 30, .export_folder = "/e", .trace_epochs = {last_epoch}});
    CHECK(task.time_s() == 150);  // the measured one may run three times
    folder.write_task(7, task);
    const JobTask read = read_task(folder.path(), 7);
    CHECK(read.experiment == "tiny");
    CHECK(read.machine == task.machine);
    CHECK(read.journal == task.journal);
    CHECK(read.settings.options == task.settings.options);
    CHECK(read.launcher == task.launcher);
    CHECK(read.nodes.known == task.nodes.known);
    CHECK(read.nodes.has_gpus);
    CHECK(read.nodes.hosts == 2);
    REQUIRE(read.cells.size() == 1);
    CHECK(read.cells[0].record.digest == task.cells[0].record.digest);
    CHECK(read.cells[0].cell.gpus == 4);
    CHECK(read.cells[0].approximation == "samples");
    CHECK_FALSE(read.cells[0].in_host_memory);
    CHECK(read.cells[0].record.code == task.cells[0].record.code);
    REQUIRE(read.trials.size() == 2);
    const TrialOrder verify = read.order(read.trials[0]), measure = read.order(read.trials[1]);
    CHECK(verify.purpose == Purpose::verify);
    CHECK(verify.verify.reference == "/r");
    CHECK(measure.number == 5);
    CHECK(measure.export_folder == "/e");
    CHECK(measure.trace_epochs == std::vector<std::int64_t>{last_epoch});
}

TEST_CASE("a late step cut short leaves its trial ok; one that fails does not") {
    TrialReader reader("t");
    reader.read(std::vector<nlohmann::json>{{{"type", "end"}, {"trial", "t"}, {"status", "ok"}}});
    CHECK(reader.progress().has_ended);
    LaunchEnd launched;
    launched.status = TrialStatus::timeout;
    launched.in_late_step = true;
    CHECK(reader.outcome(launched).status == TrialStatus::ok);
    launched.status = TrialStatus::crashed;
    CHECK(reader.outcome(launched).status == TrialStatus::crashed);
    launched.status = TrialStatus::failed;
    reader.read(std::vector<nlohmann::json>{
        {{"type", "end"}, {"trial", "t"}, {"status", "failed"}, {"reason", "rank 1 has no rows"}}});
    CHECK(reader.outcome(launched).status == TrialStatus::failed);
    CHECK(reader.outcome(launched).reason == "rank 1 has no rows");
}

TEST_CASE(
    "the time of an epoch of independent workers is a mean: over workers on the way, over epochs at the end") {
    const auto left = [](int rank, int epoch, double wall_s, double end_s) {
        return nlohmann::json{{"type", "worker"}, {"trial", "t"},     {"rank", rank},
                              {"epoch", epoch},   {"wall_s", wall_s}, {"end_s", end_s}};
    };
    TrialReader reader("t");
    reader.read(std::vector<nlohmann::json>{left(0, 0, 1, 1)});
    CHECK(reader.progress().epoch_s == 1);
    reader.read(std::vector<nlohmann::json>{left(1, 0, 3, 3), left(0, 1, 2, 3)});
    CHECK(reader.progress().epoch_s == 2.5);  // 2 of rank 0, 3 of rank 1
    reader.read(std::vector<nlohmann::json>{left(1, 1, 1, 4), left(0, 2, 3, 6), left(1, 2, 4, 8)});
    CHECK(reader.progress().epoch_s == 3.5);
    // Epochs end when the last worker leaves them, at 3, 4 and 8: their mean, as records have it, not their median.
    CHECK(reader.result({}).epoch_s == Approx(8.0 / 3));
}

TEST_CASE("what ranks said of their end counts, unless something ended them") {
    const std::vector<nlohmann::json> lines = {
        {{"type", "end"}, {"trial", "t"}, {"status", "oom"}, {"reason", "no memory for B"}},
        {{"type", "end"}, {"trial", "other"}, {"status", "ok"}}};
    TrialReader reader("t");
    reader.read(lines);
    LaunchEnd launched;
    launched.status = TrialStatus::failed;
    launched.reason = "Slurm's job 12 ended FAILED";
    CHECK_FALSE(reader.unstarted(launched));
    // Before any rank said a word it is the launcher that failed, whatever its code: no failure of the cell.
    TrialReader unheard("silent");
    unheard.read(std::vector<nlohmann::json>{{{"type", "trial"}, {"trial", "silent"}}});
    CHECK(unheard.unstarted(launched));
    CHECK(unheard.outcome(launched).status == TrialStatus::interrupted);
    CHECK_THAT(unheard.outcome(launched).reason,
               Catch::Contains("environment: ") && Catch::Contains("before any rank began"));
    CHECK(reader.outcome(launched).status == TrialStatus::oom);
    CHECK(reader.outcome(launched).reason == "no memory for B");
    launched.status = TrialStatus::timeout;
    CHECK(reader.outcome(launched).status == TrialStatus::timeout);
    launched.status = TrialStatus::ok;
    CHECK(TrialReader("new").outcome(launched).status == TrialStatus::failed);
}
