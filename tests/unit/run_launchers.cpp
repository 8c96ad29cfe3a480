// What every launcher file of the program has to do, with fake commands of its scheduler (tests/endtoend/fake_scheduler).
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include <gnnbench/temporary_folder.hpp>
#include "launch/job_queue.hpp"
#include "launch/trial.hpp"
#include "spec/launcher_file.hpp"

using namespace gnnbench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of fake commands, first in PATH while this lives.
class FakeScheduler {
public:
    explicit FakeScheduler(const std::string& launcher) : folder_("fake-scheduler"), path_(std::getenv("PATH")) {
        fs::create_directories(state());
        set("kind", launcher == "pbs" ? "pbs" : launcher == "gridengine" ? "gridengine" : "slurm");
        fs::create_directories(folder_.path() / "bin");
        for (const char* name : {"sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo", "srun", "qsub",
                                 "qstat", "qdel", "qselect", "qacct", "qhost", "pbsnodes", "ssh"})
            fs::create_symlink(GNNBENCH_SOURCE_DIR "/tests/endtoend/fake_scheduler",
                               folder_.path() / "bin" / name);
        setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
        setenv("FAKE_SCHEDULER", state().c_str(), 1);
        write(folder_.path() / "hosts", "# hosts\nlocalhost slots=8\n");
    }
    ~FakeScheduler() {
        setenv("PATH", path_.c_str(), 1);
        unsetenv("FAKE_SCHEDULER");
    }
    FakeScheduler(const FakeScheduler&) = delete;
    FakeScheduler& operator=(const FakeScheduler&) = delete;

    fs::path state() const { return folder_.path() / "state"; }
    const fs::path& folder() const { return folder_.path(); }
    void set(const std::string& what, const std::string& text) const { write(state() / what, text); }
    void clear(const std::string& what) const { fs::remove(state() / what); }
    LauncherSettings settings() const { return {.hosts = (folder_.path() / "hosts").string(), .options = {}}; }
    std::string calls() const { return text_of(state() / "calls"); }

private:
    TemporaryFolder folder_;
    std::string path_;
};

std::vector<std::string> launchers_with_jobs() {
    std::vector<std::string> names;
    for (const std::string& name : launcher_names())
        if (load_launcher(name).contains("jobs")) names.push_back(name);
    return names;
}

/// A queue, and jobs of one script each.
struct Queue {
    FakeScheduler fake;
    DeclaredLauncher launcher;
    JobQueue queue;
    explicit Queue(const std::string& name)
        : fake(name),
          launcher(launcher_declaration(load_launcher(name)), fake.settings()),
          queue(launcher.declaration()) {}

    BatchJob job(const std::string& name, const std::string& shell) const {
        return {.name = name,
                .script_file = fake.folder() / (name + ".sh"),
                .log_file = fake.folder() / (name + ".log"),
                .settings = launcher.settings(),
                .nodes = launcher.nodes(),
                .need = {.ranks = 2, .threads_per_rank = 1, .time_s = 60},
                .before = "",
                .command = {"sh", "-c", shell}};
    }
    /// Polls until the job has this state, or is no longer listed; then `ended` has no state to give.
    std::optional<QueuedJob> when(const std::string& id, QueuedJob::State wanted) const {
        for (int i = 0; i < 100; ++i) {
            std::optional<QueuedJob> found;
            for (const QueuedJob& j : queue.jobs_named("gnnbench-", true, {id}))
                if (j.id == id) found = j;
            if (found ? found->state == wanted : wanted == QueuedJob::State::ended) return found;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        FAIL("job " << id << " does not get there");
        return {};
    }
};

}  // namespace

TEST_CASE("launchers: each starts all ranks of a trial with their request and their environment") {
    for (const std::string& name : launcher_names()) {
        CAPTURE(name);
        const FakeScheduler fake(name);
        const DeclaredLauncher launcher(launcher_declaration(load_launcher(name)), fake.settings());
        write(fake.folder() / "worker", "#!/bin/sh\necho \"rank $1 $GNNBENCH_TRIAL $OMP_NUM_THREADS\"\nexit $2\n");
        fs::permissions(fake.folder() / "worker", fs::perms::owner_all);
        TrialLaunch launch{.trial = "t-1",
                           .worker = fake.folder() / "worker",
                           .request = "request of it",
                           .log_file = fake.folder() / "log",
                           .ranks = 2,
                           .threads_per_rank = 3,
                           .timeout_s = 20};
        const LaunchEnd end = launch_trial(launcher, launch, [] { return false; });
        CAPTURE(end.reason, end.log_tail);
        CHECK(end.status == TrialStatus::ok);
        const std::string line = "rank request of it t-1 3\n";
        const std::size_t first = end.log_tail.find(line);
        REQUIRE(first != std::string::npos);
        CHECK(end.log_tail.find(line, first + 1) != std::string::npos);
        CHECK(launcher.on_other_hosts() == (name != "local"));
        // As many nodes as ranks need, unless they are named or counted.
        const int cores = launcher.cores(), of_many = launcher.cores_for(3 * cores, 1);
        CHECK(of_many == (launcher.adds_nodes() ? 3 * cores : cores));
        CHECK(launcher.adds_nodes() == (name != "local" && name != "ssh"));
        CHECK(launcher.cores_for(1, 1) == cores);
        if (name != "srun" && name != "ssh") continue;  // the others end as these do
        // A rank that fails, and one that never ends.
        write(fake.folder() / "worker", "#!/bin/sh\nexit 7\n");
        const LaunchEnd failed = launch_trial(launcher, launch, [] { return false; });
        CHECK(failed.status == TrialStatus::failed);
        CHECK_THAT(failed.reason, Contains("exit code 7"));
        write(fake.folder() / "worker", "#!/bin/sh\nexec sleep 60\n");
        launch.timeout_s = 0.5;
        CHECK(launch_trial(launcher, launch, [] { return false; }).status == TrialStatus::timeout);
    }
}

TEST_CASE("launchers: a job is submitted once, found by its name, and runs inside an allocation") {
    for (const std::string& name : launchers_with_jobs()) {
        CAPTURE(name);
        const Queue q(name);
        q.fake.set("hold", "");
        const std::string allocation = q.launcher.declaration().allocation;
        const std::string id = q.queue.submit(q.job("gnnbench-1a-0", "echo inside $" + allocation));
        CAPTURE(id);
        CHECK(q.when(id, QueuedJob::State::waiting)->name == "gnnbench-1a-0");
        CHECK(q.queue.jobs_named("gnnbench-1a", false).size() == 1);
        CHECK(q.queue.jobs_named("gnnbench-2b", false).empty());
        q.fake.clear("hold");
        if (const auto ended = q.when(id, QueuedJob::State::ended)) CHECK_FALSE(ended->by_itself);
        CHECK(text_of(q.fake.folder() / "gnnbench-1a-0.log") == "inside " + id + "\n");
        // Its script says how it was submitted; resources and the time limit are in it.
        CHECK_THAT(text_of(q.fake.folder() / "gnnbench-1a-0.sh"), Contains("gnnbench-1a-0") && Contains("2"));
    }
}

TEST_CASE("launchers: a script that fails is told from a job that somebody ends") {
    for (const std::string& name : launchers_with_jobs()) {
        CAPTURE(name);
        const Queue q(name);
        const std::string id = q.queue.submit(q.job("gnnbench-1a-0", "exit 3"));
        const auto failed = q.when(id, QueuedJob::State::ended);
        REQUIRE(failed);
        CHECK(failed->by_itself);
        CHECK(q.queue.end_of(*failed).status == TrialStatus::failed);
        CHECK_THAT(q.queue.end_of(*failed).reason,
                   Contains(q.launcher.declaration().scheduler + "'s job " + id + " ended"));
        const std::string other = q.queue.submit(q.job("gnnbench-1a-1", "sleep 60"));
        q.when(other, QueuedJob::State::running);
        q.queue.cancel({other});
        const auto cancelled = q.when(other, QueuedJob::State::ended);
        REQUIRE(cancelled);
        CHECK_FALSE(cancelled->by_itself);
        CHECK(q.queue.end_of(*cancelled).status == TrialStatus::interrupted);
    }
}

TEST_CASE("launchers: a job that vanishes is listed no more, and nothing is made up for it") {
    for (const std::string& name : launchers_with_jobs()) {
        CAPTURE(name);
        const Queue q(name);
        q.fake.set("forget", "");
        const std::string id = q.queue.submit(q.job("gnnbench-1a-0", "exit 0"));
        CHECK_FALSE(q.when(id, QueuedJob::State::ended));
        CHECK(q.queue.jobs_named("gnnbench-", true, {id}).empty());
    }
}

TEST_CASE(
    "launchers: a scheduler that refuses, and answers that no pattern matches, are errors with their words") {
    for (const std::string& name : launchers_with_jobs()) {
        CAPTURE(name);
        const Queue q(name);
        q.fake.set("refuse", "error: your project has no hours left\n");
        CHECK_THROWS_AS(q.queue.submit(q.job("gnnbench-1a-0", "true")), EnvironmentError);
        CHECK_THROWS_WITH(q.queue.submit(q.job("gnnbench-1a-0", "true")),
                          Contains("failed with exit code 1: ") && Contains("your project has no hours left"));
        q.fake.clear("refuse");
        q.fake.set("garble", "The service is under maintenance.\n");
        CHECK_THROWS_WITH(q.queue.submit(q.job("gnnbench-1a-0", "true")),
                          Contains("`jobs.submit.find` of the launcher " + name) && Contains("under maintenance"));
        // Taken for no answer: a job that the answer does not list is not gone.
        CHECK_THROWS_WITH(q.queue.jobs_named("gnnbench-", false),
                          Contains("neither `find` nor `empty`") && Contains("launcher " + name));
    }
    const Queue slurm("sbatch");
    slurm.fake.set("garble", "slurm_load_ctl_conf error: Unable to contact slurm controller\n");
    CHECK_THROWS_WITH(ask_nodes(slurm.launcher.declaration(), slurm.launcher.settings()),
                      Contains("`machine.ask[0].find` of the launcher sbatch") && Contains("Unable to contact"));
}

TEST_CASE("launchers: a program or a host that is not there is named, with what to do") {
    LauncherDeclaration nowhere = launcher_declaration(load_launcher("sbatch"));
    nowhere.machine.ask.front().run = {{"no-such-program"}};
    CHECK_THROWS_WITH(DeclaredLauncher(nowhere, {}),
                      Contains("the launcher sbatch needs the program 'no-such-program', which is not in PATH"));
    const FakeScheduler fake("ssh");
    const LauncherDeclaration ssh = launcher_declaration(load_launcher("ssh"));
    CHECK_THROWS_WITH(ask_nodes(ssh, {}), Contains("needs a file of hosts") && Contains("launcher.hosts"));
    fake.set("refuse", "ssh: connect to host localhost port 22: Connection refused\n");
    CHECK_THROWS_WITH(ask_nodes(ssh, fake.settings()),
                      Contains("localhost") && Contains("exit code 255") && Contains("Connection refused"));
    write(fake.folder() / "hosts", "a\n-oProxyCommand=evil\n");
    CHECK_THROWS_WITH(ask_nodes(ssh, fake.settings()),
                      Contains("hosts:2: expected a host's name") && Contains("'-oProxyCommand=evil'"));
    write(fake.folder() / "hosts", "# none\n");
    CHECK_THROWS_WITH(ask_nodes(ssh, fake.settings()), Contains("names no host"));
    fake.clear("refuse");
    write(fake.folder() / "hosts", "a slots=4\nb:4\n");
    const ClusterNodes nodes = ask_nodes(ssh, fake.settings());
    CHECK(nodes.hosts == 2);
    CHECK(nodes.cores >= 1);
    CHECK(nodes.memory_mib > 0);
    CHECK(cluster_machine(ssh, nodes, {}).cpu.starts_with("2 hosts of a: "));
}

TEST_CASE("launchers: what an experiment asks for reaches the scheduler; what it does not is left out") {
    const Queue pbs("pbs");
    BatchJob job = pbs.job("gnnbench-1a-0", "true");
    job.nodes.cores = 4;
    job.nodes.has_gpus = true;
    job.need = {.ranks = 6, .threads_per_rank = 2, .gpus = true, .time_s = 3600};
    std::string line;
    for (const std::string& word : pbs.queue.submission(job)) line += word + ' ';
    CHECK_THAT(line, Contains("-l select=3:ncpus=4:mpiprocs=2:ngpus=2 -l walltime=01:02:00 "));
    CHECK_THAT(line, !Contains("-q ") && !Contains("-A "));
    job.settings.partition = "long";
    job.settings.account = "lab";
    job.settings.time = "3:00";
    job.settings.nodes = 6;
    job.settings.options = {"-m n", "-W group_list=x"};
    job.need.gpus = false;
    line.clear();
    for (const std::string& word : pbs.queue.submission(job)) line += word + ' ';
    CHECK_THAT(line, Contains("-q long -A lab -l select=6:ncpus=2:mpiprocs=1:ngpus=0 -l walltime=3:00 -m n "));
    job.settings.options = {"-m n\nrm -rf /"};
    CHECK_THROWS_WITH(pbs.queue.submission(job), Contains("on one line"));
}
