#include "launch/slurm_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string_view>

namespace gnnbench {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The number that `text` begins with, 0 where there is none or none that fits.
std::int64_t leading_number(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// A line of a log without "srun: ", "sbatch: ", "slurmstepd-node: " and "error: " at its start.
std::string_view without_program(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) return line;
    const std::string_view name = line.substr(0, colon);
    if (name != "srun" && name != "sbatch" && name != "slurmstepd" && !name.starts_with("slurmstepd-"))
        return line;
    line.remove_prefix(colon + 2);
    return line.starts_with("error: ") ? line.substr(7) : line;
}

/// The first line of the log in which `pattern` is found, without the program's name and what precedes it.
std::string line_with(const std::string& log, const char* pattern) {
    for (const std::string& line : split(log, '\n')) {
        if (!contains(line, pattern)) continue;
        return std::string(without_program(line));
    }
    return {};
}

LaunchEnd ended(TrialStatus status, std::string reason) {
    LaunchEnd end;
    end.status = status;
    end.reason = std::move(reason);
    return end;
}

/// What Slurm did to a step, as its log reports it; the first match counts.
struct Sign {
    const char* pattern;
    TrialStatus status;
    const char* what;
};
constexpr std::array signs_of_end{
    Sign{"oom-kill event", TrialStatus::oom, "Slurm ended it, as memory ran out: "},
    Sign{"oom_kill event", TrialStatus::oom, "Slurm ended it, as memory ran out: "},
    Sign{": Out Of Memory", TrialStatus::oom, "Slurm ended it, as memory ran out: "},
    Sign{"Exceeded job memory limit", TrialStatus::oom, "Slurm ended it, as memory ran out: "},
    Sign{"DUE TO TIME LIMIT", TrialStatus::timeout, "Slurm ended it at Slurm's time limit: "},
    Sign{"DUE TO NODE FAILURE", TrialStatus::failed, "a node failed: "},
    Sign{"Node failure on", TrialStatus::failed, "a node failed: "},
    Sign{"DUE TO PREEMPTION", TrialStatus::failed, "another job took its nodes: "},
    Sign{"Unable to allocate resources", TrialStatus::failed, "Slurm started no ranks: "},
    Sign{"Unable to create step", TrialStatus::failed, "Slurm started no ranks: "},
    Sign{"has been revoked", TrialStatus::failed, "Slurm revoked the allocation: "},
    Sign{"Invalid MPI type", TrialStatus::failed, "srun cannot start ranks: "},
    Sign{"Invalid generic resource", TrialStatus::failed, "Slurm started no ranks: "},
};

/// srun's message of the form "srun: error: node: task 1: Killed" or "node: tasks 0-2,5: Aborted": the first that is not of
/// tasks that were terminated, because another's end terminates the rest and may be told later; else the first.
struct TaskEnd {
    std::string_view tasks, how;
};
TaskEnd task_end_in(std::string_view log) {
    TaskEnd first;
    constexpr std::string_view begin = "srun: error: ";
    for (std::size_t at = log.find(begin); at != log.npos; at = log.find(begin, at + 1)) {
        std::string_view rest = log.substr(at + begin.size());
        rest.remove_prefix(std::min(rest.find_first_of(":\n"), rest.size()));
        const std::string_view one = ": task ", several = ": tasks ";
        if (!rest.starts_with(one) && !rest.starts_with(several)) continue;
        rest.remove_prefix(rest.starts_with(one) ? one.size() : several.size());
        const std::string_view tasks = rest.substr(0, rest.find_first_not_of("0123456789,-"));
        rest.remove_prefix(tasks.size());
        if (tasks.empty() || !rest.starts_with(": ")) continue;
        rest.remove_prefix(2);
        std::size_t end = std::min(rest.find_first_of("(\n"), rest.size());  // "Segmentation fault (core dumped)"
        while (end > 0 && rest[end - 1] == ' ') --end;
        if (end <= 1 || rest.front() < 'A' || rest.front() > 'Z') continue;
        const TaskEnd found{tasks, rest.substr(0, end)};
        if (found.how != "Terminated") return found;
        if (first.tasks.empty()) first = found;
    }
    return first;
}

/// The signal that a message names; 0: none.
int signal_named(std::string_view how) {
    for (int signal = 1; signal < NSIG; ++signal)
        if (const char* name = ::strsignal(signal); name && how == name) return signal;
    return 0;
}

/// The tasks that a signal ended, by that message.
std::string tasks_in(std::string_view log) {
    const auto [tasks, how] = task_end_in(log);
    if (tasks.empty() || how.starts_with("Exited")) return {};
    return (tasks.find_first_of(",-") == tasks.npos ? "rank " : "ranks ") + std::string(tasks);
}

}  // namespace

std::vector<SlurmPartition> partitions_from(const std::string& sinfo) {
    std::vector<SlurmPartition> all;
    for (const std::string& line : split(sinfo, '\n')) {
        const std::vector<std::string> columns = split(line, '|');
        if (columns.size() < 5) continue;
        SlurmPartition kind{
            .name = columns[0],
            .is_default = columns[1].ends_with('*'),
            .cpus = std::max(1, static_cast<int>(leading_number(columns[2]))),  // "8+" where nodes differ
            .memory_mib = leading_number(columns[3]),
            .has_gpus = contains(columns[4], "gpu")};
        const auto known =
            std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == kind.name; });
        if (known == all.end()) {
            all.push_back(kind);
            continue;
        }
        known->cpus = std::min(known->cpus, kind.cpus);
        known->memory_mib = std::min(known->memory_mib, kind.memory_mib);
        known->has_gpus = known->has_gpus && kind.has_gpus;
    }
    return all;
}

std::string config_value(const std::string& config, const std::string& key) {
    for (const std::string& line : split(config, '\n')) {
        const std::size_t equals = line.find('=');
        if (!line.starts_with(key) || equals == std::string::npos) continue;
        if (line.find_first_not_of(" \t", key.size()) != equals) continue;
        const std::size_t begin = line.find_first_not_of(" \t", equals + 1);
        return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    }
    return {};
}

std::vector<std::string> mpi_types_from(const std::string& list) {
    std::vector<std::string> types;
    for (std::string line : split(list, '\n')) {
        if (line.starts_with("srun: ")) line.erase(0, 6);  // older ones print it as messages
        std::istringstream words(line);
        std::string word, more;
        // One word a line; other lines explain.
        if (words >> word && !(words >> more)) types.push_back(word);
    }
    return types;
}

bool SlurmJob::ended() const {
    constexpr std::array alive{"PENDING",  "RUNNING",     "CONFIGURING",   "COMPLETING",  "SUSPENDED",
                               "REQUEUED", "RESIZING",    "REQUEUE_HOLD",  "SIGNALING",   "STAGE_OUT",
                               "STOPPED",  "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"};
    return std::find(alive.begin(), alive.end(), state) == alive.end();
}

std::vector<SlurmJob> jobs_from(const std::string& listing) {
    std::vector<SlurmJob> jobs;
    for (const std::string& line : split(listing, '\n')) {
        const std::vector<std::string> columns = split(line, '|');
        if (columns.size() < 3 || columns[0].empty() ||
            columns[0].find_first_not_of("0123456789_") != std::string::npos)
            continue;
        SlurmJob job{columns[0], columns[1], columns[2], columns.size() > 3 ? columns[3] : ""};
        job.state = job.state.substr(0, job.state.find(' '));  // sacct: "CANCELLED by 1000"
        if (job.reason == "None") job.reason.clear();
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::string submitted_job(const std::string& text) {
    // A line of digits, perhaps with ";cluster"; plugins of a site may print lines of their own before it.
    for (const std::string& line : split(text, '\n')) {
        const std::string id = line.substr(0, line.find(';'));
        if (!id.empty() && id.find_first_not_of("0123456789") == std::string::npos) return id;
    }
    return {};
}

LaunchEnd end_of_job(const SlurmJob& job) {
    const std::string whose =
        "Slurm's job " + job.id + " ended " + job.state + (job.reason.empty() ? "" : " (" + job.reason + ")");
    if (job.state == "OUT_OF_MEMORY") return ended(TrialStatus::oom, whose);
    if (job.state == "TIMEOUT" || job.state == "DEADLINE") return ended(TrialStatus::timeout, whose);
    if (job.state == "CANCELLED" || job.state == "PREEMPTED" || job.state == "REVOKED")
        return ended(TrialStatus::interrupted, whose);
    return ended(TrialStatus::failed, whose);
}

LaunchEnd classify_srun(const EndSigns& reported) {
    EndSigns signs = reported;
    // srun's own code may be that of ranks which it terminated when one of them crashed.
    if (signs.wait_status == (128 + SIGTERM) << 8)
        if (const int own = signal_named(task_end_in(signs.log_tail).how); own > 0)
            signs.wait_status = (128 + own) << 8;
    LaunchEnd end = classify(signs);
    if (end.status != TrialStatus::failed && end.status != TrialStatus::crashed && end.status != TrialStatus::oom)
        return end;
    for (const Sign& known : signs_of_end)
        if (const std::string line = line_with(signs.log_tail, known.pattern); !line.empty()) {
            end.status = known.status;
            end.reason = known.what + line;
            return end;
        }
    // scancel by any user; a failing rank's step is ended the same way, but then srun reports how that rank ended.
    if (const std::string line = line_with(signs.log_tail, "CANCELLED AT");
        !line.empty() && !contains(signs.log_tail, "Exited with exit code") && tasks_in(signs.log_tail).empty()) {
        end.status = TrialStatus::failed;
        end.reason = "somebody cancelled it: " + line;
        return end;
    }
    if (end.status == TrialStatus::crashed)
        if (const std::string tasks = tasks_in(signs.log_tail);
            !tasks.empty() && end.reason.starts_with("a rank "))
            end.reason = tasks + (tasks.starts_with("ranks") ? " were" : " was") + end.reason.substr(10);
    if (end.status == TrialStatus::failed)
        if (const std::string line = line_with(signs.log_tail, "srun: error: "); !line.empty())
            end.reason += " of srun: " + line;
    return end;
}

bool srun_waits(const std::string& log) {
    const auto last = [&](std::string_view text) { return std::string_view(log).rfind(text); };
    const auto later = [](std::size_t a, std::size_t b) {
        return a != std::string::npos && (b == std::string::npos || a > b);
    };
    return later(last("queued and waiting for resources"), last("has been allocated resources")) ||
           later(last("step creation temporarily disabled"), last("Step created for"));
}

}  // namespace gnnbench
