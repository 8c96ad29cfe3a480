#include "launch/job_queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/pattern.hpp"
#include "launch/program.hpp"

namespace gnnbench {

namespace {

/// A word that a shell takes as it is.
std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

std::string in_one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
    return text;
}

/// What the scheduler would replace in the folder of a log ("%j") is doubled; the file's own name is ours.
std::string log_pattern(const std::string& log_file, const std::string& doubled) {
    const std::size_t name = log_file.rfind('/') + 1;  // 0 where there is no folder
    std::string folder;
    for (const char c : log_file.substr(0, name))
        folder += std::string(!doubled.empty() && c == doubled.front() ? 2 : 1, c);
    return folder + log_file.substr(name);
}

std::string user_name() {
    // Schedulers know users by name. USER may be another's, of whoever called su; a container may know of no name but that.
    if (const passwd* entry = getpwuid(getuid()); entry && entry->pw_name && *entry->pw_name)
        return entry->pw_name;
    const char* name = std::getenv("USER");
    return name && *name ? name : std::to_string(getuid());
}

}  // namespace

std::vector<std::string> JobQueue::submission(const BatchJob& job) const {
    for (const std::string& option : job.settings.options)
        if (option != in_one_line(option))
            throw SpecError(
                "expected an option of the scheduler on one line, as `launcher.options` has them; found a "
                "line break or another control character in " +
                gnnbench::quoted(option));
    Values values = resource_values(declaration_, job.settings, job.nodes, job.need);
    values["name"] = {job.name};
    values["log"] = {log_pattern(job.log_file, declaration_.jobs->doubled)};
    values["script"] = {job.script_file};
    if (job.elements > 0) {
        values["last"] = {std::to_string(job.elements - 1)};
        if (job.at_once > 0) values["at_once"] = {std::to_string(job.at_once)};
        values["array"] = filled(declaration_.jobs->array.value().options, values);
    }
    return filled(declaration_.jobs->submit.run, values);
}

std::string JobQueue::script(const BatchJob& job) const {
    std::string text = "#!/bin/bash\n# " + in_one_line(fmt::format("{}", fmt::join(submission(job), " "))) + '\n';
    if (!job.before.empty()) text += job.before + (job.before.ends_with('\n') ? "" : "\n");
    text += "exec";
    for (const std::string& word : job.command) text += ' ' + quoted(word);
    text += job.elements > 0 ? fmt::format(" \"$(({} + {}))\"", declaration_.jobs->array.value().number, job.first)
                             : fmt::format(" {}", job.first);
    return text + '\n';
}

std::string JobQueue::submit(const BatchJob& job) const {
    std::ofstream out(job.script_file, std::ios::trunc);
    out << script(job);
    out.close();
    if (!out) throw EnvironmentError("cannot write the job script '" + job.script_file + "'; is the disk full?");
    std::vector<std::string> command = submission(job);
    const std::string program = command.front();
    // Complete already; what it has in braces is no placeholder.
    command.front() = launcher_program(declaration_, program);
    const ProgramOutput output = run_program(command, unranked_environment(), 60);
    const std::string said = output.text.substr(0, output.text.find_last_not_of('\n') + 1);
    if (output.exit_code != 0)
        throw EnvironmentError(
            fmt::format("'{}' failed with exit code {}: {}", fmt::join(command, " "), output.exit_code, said));
    for (const Match& m : matches_of(declaration_.jobs->submit.find, output.text))
        if (const auto id = m.find("id"); id != m.end() && !id->second.empty()) return id->second;
    throw EnvironmentError(
        fmt::format("{} accepted the job, but its answer does not match `jobs.submit.find` of the "
                    "launcher {}: {}",
                    program, declaration_.name, said.empty() ? "it is empty" : said));
}

QueuedJob JobQueue::job_of(const Match& match, bool former) const {
    const auto text = [&](const char* group) {
        const auto found = match.find(group);
        return found == match.end() ? std::string() : found->second;
    };
    QueuedJob job{.id = text("id"),
                  .element = text("element"),
                  .name = text("name"),
                  .word = text("state"),
                  .reason = text("reason")};
    if (job.reason == "None") job.reason.clear();
    const std::string exit = text("exit");
    const auto meaning = [&](const std::string& word) -> std::string {
        for (const auto& [means, words] : declaration_.jobs->states)
            if (std::ranges::find(words, word) != words.end()) return means;
        return {};
    };
    std::string means = exit.empty() ? "" : meaning("exit " + exit);
    if (means.empty()) means = meaning(job.word);
    // Any other code is the script's own: it failed before or between its trials.
    if (means == "ok" && !exit.empty() && exit != "0") means = "failed";
    if (!exit.empty() && exit != "0") job.reason = "exit code " + exit;
    job.by_itself = means == "failed";
    if (means.empty() && former) means = "broken";
    if (means == "broken") means = "failed";  // a node or the scheduler, which says nothing of the job
    // A word that the file does not list is taken for one of a live job: to wait loses nothing.
    job.state = means == "running"                    ? QueuedJob::State::running
                : means.empty() || means == "waiting" ? QueuedJob::State::waiting
                                                      : QueuedJob::State::ended;
    if (job.ended()) job.end = trial_status(means);
    return job;
}

std::vector<QueuedJob> JobQueue::answer(const Inquiry& question, const Values& values, bool former) const {
    const std::string text = launcher_output(declaration_, question.run, values);
    std::vector<QueuedJob> jobs;
    for (const Match& m : matches_of(question.find, text)) jobs.push_back(job_of(m, former));
    const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
    const bool lists_nothing = question.empty.empty() ? blank : blank || is_found(question.empty, text);
    if (jobs.empty() && !lists_nothing)
        throw EnvironmentError(fmt::format(
            "the answer of '{}' matches neither `find` nor `empty` of `jobs.ask` of the launcher {}: {}",
            filled(question.run, values).front(), declaration_.name, text.substr(0, 300)));
    return jobs;
}

std::vector<QueuedJob> JobQueue::jobs_named(const std::string& prefix, bool also_former,
                                            const std::vector<std::string>& ids) const {
    const std::vector<Inquiry>& questions = declaration_.jobs->ask;
    Values values{{"user", {user_name()}}};
    std::vector<QueuedJob> jobs;
    const auto add = [&](std::vector<QueuedJob> found) {
        for (QueuedJob& job : found) {
            const bool ours = job.name.starts_with(prefix);
            const bool known = std::ranges::any_of(
                jobs, [&](const QueuedJob& k) { return k.id == job.id && k.element == job.element; });
            if (ours && !known) jobs.push_back(std::move(job));
        }
    };
    add(answer(questions.front(), values, false));
    for (std::size_t q = 1; also_former && q < questions.size(); ++q) {
        const bool one_each = mentions(questions[q].run, "id");
        for (const std::string& id : one_each ? ids : std::vector<std::string>{""}) {
            if (one_each) values["id"] = {id};
            // Many clusters keep no accounts, and the program then fails: what is listed now is all there is.
            try {
                add(answer(questions[q], values, true));
            } catch (const EnvironmentError&) {  // NOLINT(bugprone-empty-catch)
            }
        }
    }
    return jobs;
}

void JobQueue::cancel(const std::vector<std::string>& ids) const {
    if (ids.empty()) return;
    std::vector<std::string> command = filled(declaration_.jobs->cancel, {{"ids", ids}});
    command.front() = launcher_program(declaration_, command.front());
    run_program(command, unranked_environment(), 60);
}

LaunchEnd JobQueue::end_of(const QueuedJob& job) const {
    LaunchEnd end;
    // A job that ended well and left a trial open did not do what it was submitted for.
    end.status = job.end == TrialStatus::ok ? TrialStatus::failed : job.end;
    // Accounts have numbers for words.
    const bool number = job.word.find_first_not_of("0123456789") == std::string::npos;
    const std::string why =
        number ? "code " + job.word + (job.reason.empty() ? "" : ", " + job.reason) : job.reason;
    end.reason = fmt::format("{}'s job {} ended {}{}", declaration_.scheduler, job.label(),
                             number ? to_text(end.status) : job.word, why.empty() ? "" : " (" + why + ")");
    return end;
}

}  // namespace gnnbench
