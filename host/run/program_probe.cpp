#include "run/program_probe.hpp"

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "launch/program.hpp"
#include "launch/trial.hpp"
#include "worker/program_line.hpp"

namespace gnnbench {

namespace {

constexpr double probe_limit_s = 60;  // a package's first import reads hundreds of megabytes

std::string last_line_of(const std::string& file) {
    std::string text = tail_of(file);
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.find_last_of('\n') + 1);
}

std::string probe(std::vector<std::string> words, const std::string& device) {
    const auto path = find_program(words.front());
    if (!path) return fmt::format("there is no executable program '{}'", words.front());
    words.front() = *path;
    words.insert(words.end(), {"--probe", device});
    std::optional<std::string> answer;
    const TemporaryFolder folder("probe");
    const std::string errors = (folder.path() / "errors").string();  // what it prints on stderr
    const ProgramEnd end = read_lines(
        words, unranked_environment(),
        [&](std::string_view line) {
            try {
                const ProgramLine read = read_program_line(line);
                if (const auto* refusal = std::get_if<ProgramRefusal>(&read))
                    answer = refusal->reason;
                else if (std::holds_alternative<ProgramVersions>(read))
                    answer = "";
                else
                    answer =
                        "expected its versions or the reason why it cannot run, as the answer to --probe; found "
                        "an epoch";
            } catch (const DataError& e) {
                answer = fmt::format("its answer to --probe is wrong: {}", e.what());
            }
            return false;
        },
        probe_limit_s, errors);
    if (answer) return *answer;
    const std::string error_line = last_line_of(errors);
    const std::string how = end.timed_out ? fmt::format("no answer to --probe within {} s", probe_limit_s)
                            : end.signal
                                ? fmt::format("signal {} instead of an answer to --probe", end.signal)
                                : fmt::format("exit code {} instead of an answer to --probe", end.exit_code);
    return how + (error_line.empty() ? "" : ": " + error_line);
}

}  // namespace

std::string ProgramProbes::why_not(const Cell& cell) {
    const std::string device = device_of(cell);
    const std::string key = fmt::format("{}\n{}", fmt::join(cell.scheme.program, "\n"), device);
    auto known = answers_.find(key);
    if (known == answers_.end()) known = answers_.emplace(key, probe(cell.scheme.program, device)).first;
    return known->second.empty() ? "" : fmt::format("program {}: {}", cell.scheme.name, known->second);
}

}  // namespace gnnbench
