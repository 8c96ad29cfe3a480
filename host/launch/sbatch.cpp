#include "launch/sbatch.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/slurm.hpp"

namespace gnnbench {

namespace {

/// A word that a shell takes as it is.
std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace

std::string batch_script(const BatchJob& job) {
    std::string script = "#!/bin/bash\n";
    const auto option = [&](std::string text) {
        // A line break would start a line of shell.
        if (std::any_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }))
            throw SpecError(
                "expected an option of sbatch on one line, as `launcher.options` and its neighbours have them; "
                "found a line break or another control character in " +
                gnnbench::quoted(text));
        // A value with blanks is quoted; "-C a100" is an option and its value.
        const std::size_t equals = text.find('='), blank = text.find(' ');
        if (equals < blank && blank != std::string::npos && text[equals + 1] != '"')
            text = text.substr(0, equals + 1) + '"' + text.substr(equals + 1) + '"';
        script += "#SBATCH " + text + '\n';
    };
    option("--job-name=" + job.name);
    // A requeued job would repeat what its journal already has; the next run submits what is missing.
    option("--no-requeue");
    if (job.elements > 0)
        option(fmt::format("--array=0-{}{}", job.elements - 1,
                           job.at_once > 0 ? fmt::format("%{}", job.at_once) : ""));
    for (const std::string& o : job.options) option(o);
    if (!job.before.empty()) script += job.before + (job.before.ends_with('\n') ? "" : "\n");
    script += "exec";
    for (const std::string& word : job.command) script += ' ' + quoted(word);
    script += job.elements > 0 ? fmt::format(" \"$((SLURM_ARRAY_TASK_ID + {}))\"", job.first)
                               : fmt::format(" {}", job.first);
    return script + '\n';
}

std::string output_pattern(const std::string& log_file) {
    const std::size_t name = log_file.rfind('/') + 1;  // 0 where there is no folder
    std::string folder;
    for (const char c : log_file.substr(0, name)) folder += c == '%' ? std::string("%%") : std::string(1, c);
    return folder + log_file.substr(name);
}

std::string submit(const BatchJob& job) {
    std::ofstream out(job.script_file, std::ios::trunc);
    out << batch_script(job);
    out.close();
    if (!out) throw EnvironmentError("cannot write the job script '" + job.script_file + "'; is the disk full?");
    // As an argument, not in the script, where Slurm would interpret quotes and blanks of a path.
    const std::string answer =
        slurm_output("sbatch", {"--parsable", "--output=" + output_pattern(job.log_file), job.script_file});
    const std::string id = submitted_job(answer);
    if (id.empty()) throw EnvironmentError("sbatch accepted the job but printed no job id: " + answer);
    return id;
}

std::vector<SlurmJob> jobs_named(const std::string& prefix, bool also_former) {
    const auto only_ours = [&](std::vector<SlurmJob> jobs) {
        std::erase_if(jobs, [&](const SlurmJob& job) { return !job.name.starts_with(prefix); });
        return jobs;
    };
    std::vector<SlurmJob> jobs =
        only_ours(jobs_from(slurm_output("squeue", {"-h", "-r", "-t", "all", "--me", "-o", "%i|%j|%T|%r"})));
    if (!also_former) return jobs;
    // Many clusters have no accounting, and sacct then fails: squeue's answer is all there is.
    try {
        const std::string text =
            slurm_output("sacct", {"-n", "-P", "-X", "-S", "now-30days", "-o", "JobID,JobName%100,State,Reason"});
        for (SlurmJob& job : only_ours(jobs_from(text)))
            if (std::none_of(jobs.begin(), jobs.end(), [&](const SlurmJob& known) { return known.id == job.id; }))
                jobs.push_back(std::move(job));
    } catch (const EnvironmentError&) {  // NOLINT(bugprone-empty-catch): what squeue listed stands
    }
    return jobs;
}

void cancel_jobs(const std::vector<std::string>& ids) {
    if (ids.empty()) return;
    std::vector<std::string> command{slurm_program("scancel"), "--quiet"};
    command.insert(command.end(), ids.begin(), ids.end());
    run_program(command, current_environment(), 60);
}

}  // namespace gnnbench
