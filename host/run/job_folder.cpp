#include "run/job_folder.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/draft_file.hpp"

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

fs::path jobs_folder(const fs::path& database) { return fs::absolute(database).string() + ".jobs"; }

/// Written atomically: complete or absent, even if this process is killed.
void write_whole(const fs::path& path, const json& content) {
    DraftFile draft(path);
    draft.write(content.dump(1) + '\n');
    draft.publish();
}

/// For who reads it: what it is, what is wrong, and what to do.
std::string damaged(const std::string& what, const std::string& cause) {
    return fmt::format(
        "{}: {}. It is damaged, or another version of gnnbench wrote it; end its jobs, "
        "remove its folder and run again.",
        what, cause);
}

json read_json(const fs::path& path) {
    std::ifstream in(path);
    if (!in) throw EnvironmentError(fmt::format("'{}' no longer exists: its run was cancelled", path.string()));
    json content = json::parse(in, nullptr, false);
    if (content.is_discarded())
        throw EnvironmentError(
            damaged("'" + path.string() + "' is no JSON", "it ends early or holds something else"));
    return content;
}

json to_json(const LauncherSettings& s) {
    return {{"partition", s.partition}, {"account", s.account}, {"time", s.time},   {"nodes", s.nodes},
            {"gpus", s.gpus},           {"mpi", s.mpi},         {"hosts", s.hosts}, {"options", s.options}};
}

LauncherSettings settings_from(const json& j) {
    return {.partition = j.at("partition"),
            .account = j.at("account"),
            .time = j.at("time"),
            .nodes = j.at("nodes"),
            .gpus = j.at("gpus"),
            .mpi = j.at("mpi"),
            .hosts = j.at("hosts"),
            .options = j.at("options")};
}

json to_json(const ClusterNodes& n) {
    return {{"known", n.known},
            {"cores", n.cores},
            {"memory_mib", n.memory_mib},
            {"has_gpus", n.has_gpus},
            {"hosts", n.hosts}};
}

ClusterNodes nodes_from(const json& j) {
    return {.known = j.at("known"),
            .cores = j.at("cores"),
            .memory_mib = j.at("memory_mib"),
            .has_gpus = j.at("has_gpus"),
            .hosts = j.at("hosts")};
}

json to_json(const JobTask::Trial& t) {
    return {{"cell", t.cell},
            {"purpose", to_text(t.purpose)},
            {"number", t.number},
            {"timeout_s", t.timeout_s},
            {"export", t.export_folder},
            {"reference", t.reference},
            {"trace_epochs", t.trace_epochs},
            {"asks_partitioner", t.asks_partitioner},
            {"late_step_timeout_s", t.late_step_timeout_s}};
}

JobTask::Trial trial_from(const json& j) {
    return {.cell = j.at("cell"),
            .purpose = j.at("purpose") == to_text(Purpose::verify) ? Purpose::verify : Purpose::measure,
            .number = j.at("number"),
            .timeout_s = j.at("timeout_s"),
            .export_folder = j.at("export"),
            .reference = j.at("reference"),
            .trace_epochs = j.at("trace_epochs"),
            .asks_partitioner = j.value("asks_partitioner", true),
            .late_step_timeout_s = j.value("late_step_timeout_s", 0.0)};
}

json to_json(const JobTask& task) {
    json cells = json::array(), trials = json::array();
    for (const PreparedCell& c : task.cells)
        cells.push_back({{"cell", gnnbench::to_json(c.cell, JsonFor::worker)},
                         {"record", cell_to_json(c.record)},
                         {"approximation", c.approximation},
                         {"in_host_memory", c.in_host_memory},
                         {"simulated", c.simulated}});
    for (const JobTask::Trial& t : task.trials) trials.push_back(to_json(t));
    return {{"experiment", task.experiment},
            {"source", task.source},
            {"machine", task.machine},
            {"database", task.database.string()},
            {"journal", task.journal.string()},
            {"retries", task.retries},
            {"launcher", task.launcher},
            {"settings", to_json(task.settings)},
            {"nodes", to_json(task.nodes)},
            {"cells", cells},
            {"trials", trials}};
}

/// An exclusive lock, or none if another process holds it.
FileDescriptor locked(const fs::path& path, int flags) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0644));
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
    return file;
}

}  // namespace

TrialOrder JobTask::order(const Trial& t) const {
    TrialOrder order{.cell = cells.at(t.cell),
                     .purpose = t.purpose,
                     .number = t.number,
                     .timeout_s = t.timeout_s,
                     .export_folder = t.export_folder,
                     .trace_epochs = t.trace_epochs,
                     .late_step_timeout_s = t.late_step_timeout_s};
    order.verify.reference = t.reference;
    order.verify.asks_partitioner = t.asks_partitioner;
    return order;
}

double JobTask::time_s() const {
    double all_s = 0;
    for (const Trial& t : trials)  // a measured one may have its time again
        all_s += static_cast<double>(t.purpose == Purpose::verify ? 1 : 1 + retries) *
                 (t.timeout_s + t.late_step_timeout_s);
    return all_s;
}

JobTask read_task(const fs::path& folder, std::size_t number) {
    const fs::path file = folder / fmt::format("task-{}.json", number);
    const json j = read_json(file);
    try {
        JobTask task{.experiment = j.at("experiment"),
                     .source = j.at("source"),
                     .machine = j.at("machine"),
                     .database = j.at("database").get<std::string>(),
                     .journal = j.at("journal").get<std::string>(),
                     .retries = j.at("retries"),
                     .launcher = j.at("launcher"),
                     .settings = settings_from(j.at("settings")),
                     .nodes = nodes_from(j.at("nodes")),
                     .cells = {},
                     .trials = {}};
        for (const json& c : j.at("cells"))
            task.cells.push_back({cell_from_json(c.at("cell")), cell_record_from_json(c.at("record")),
                                  c.at("approximation"), c.at("in_host_memory"), c.value("simulated", false)});
        for (const json& t : j.at("trials")) task.trials.push_back(trial_from(t));
        for (const JobTask::Trial& t : task.trials)
            if (t.cell >= task.cells.size())
                throw EnvironmentError(damaged(
                    "'" + file.string() + "' is no job's task",
                    fmt::format("a trial is of cell {}, and there are {} cells", t.cell, task.cells.size())));
        return task;
    } catch (const json::exception& error) {
        throw EnvironmentError(damaged("'" + file.string() + "' is no job's task", error.what()));
    } catch (const SpecError& error) {  // a cell that cannot be
        throw EnvironmentError(damaged("'" + file.string() + "' is no job's task", error.what()));
    }
}

JobFolder::JobFolder(fs::path path, FileDescriptor lock)
    : path_(std::move(path)), id_(path_.filename().string()), lock_(std::move(lock)) {}

JobFolder JobFolder::create(const fs::path& database) {
    const std::string id = new_uuid().substr(0, 8);
    const fs::path path = jobs_folder(database) / id;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (::mkdir(path.c_str(), S_IRWXU) != 0)
        throw EnvironmentError(
            fmt::format("cannot create the folder '{}' for job scripts: {}", path.string(), std::strerror(errno)));
    FileDescriptor lock = locked(path / "lock", O_CREAT);
    if (lock.get() < 0) throw EnvironmentError(fmt::format("cannot lock '{}/lock'", path.string()));
    return JobFolder(path, std::move(lock));
}

std::vector<JobFolder> JobFolder::left(const fs::path& database) {
    std::vector<JobFolder> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(jobs_folder(database), none)) {
        if (!entry.is_directory(none) || fs::exists(entry.path() / "closed", none)) continue;
        FileDescriptor lock = locked(entry.path() / "lock", 0);
        // Its former holder may have removed it in between.
        if (lock.get() >= 0 && fs::exists(entry.path() / "lock", none))
            found.push_back(JobFolder(entry.path(), std::move(lock)));
    }
    return found;
}

fs::path JobFolder::script(std::size_t batch) const { return path_ / fmt::format("job-{}.sh", batch); }
fs::path JobFolder::log(std::size_t batch, const std::string& element) const {
    return path_ / fmt::format("job-{}{}.log", batch, element.empty() ? "" : "-" + element);
}
fs::path JobFolder::journal(const fs::path& database, std::size_t task) const {
    return journal_folder(fs::absolute(database)) / fmt::format("{}-{}.job.jsonl", id_, task);
}

void JobFolder::write_task(std::size_t number, const JobTask& task) const {
    write_whole(path_ / fmt::format("task-{}.json", number), to_json(task));
}

void JobFolder::write_batches(const std::vector<JobBatch>& batches, const json& launcher) const {
    json list = json::array();
    for (const JobBatch& b : batches)
        list.push_back(
            {{"name", b.name}, {"job", b.job}, {"array", b.array}, {"first", b.first}, {"tasks", b.tasks}});
    write_whole(path_ / "batches.json", {{"launcher", launcher}, {"batches", list}});
}

json JobFolder::launcher() const {
    std::error_code none;
    if (!fs::exists(path_ / "batches.json", none)) return nullptr;
    const json content = read_json(path_ / "batches.json");
    return content.is_object() ? content.value("launcher", json()) : json();
}

std::vector<JobBatch> JobFolder::batches() const {
    std::error_code none;
    std::vector<JobBatch> all;
    if (!fs::exists(path_ / "batches.json", none)) return all;  // its creator was killed earlier
    try {
        const json content = read_json(path_ / "batches.json");
        for (const json& b : content.at("batches"))
            all.push_back({b.at("name"), b.at("job"), b.at("array"), b.at("first"), b.at("tasks")});
    } catch (const json::exception& error) {
        throw EnvironmentError(
            damaged("'" + (path_ / "batches.json").string() + "' is no list of jobs", error.what()));
    }
    return all;
}

void JobFolder::close() const { std::ofstream(path_ / "closed") << "these jobs are no longer followed\n"; }

void JobFolder::remove() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fs::remove(path_.parent_path(), ignored);  // where it was the last
}

}  // namespace gnnbench
