#include "run/program_permission.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/plural.hpp"
#include "core/printable.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;

fs::path config_folder() {
    if (const char* named = std::getenv("XDG_CONFIG_HOME"); named && *named == '/') return named;
    if (const char* home = std::getenv("HOME"); home && *home == '/') return fs::path(home) / ".config";
    const passwd* entry = getpwuid(getuid());
    return entry && entry->pw_dir && *entry->pw_dir == '/' ? fs::path(entry->pw_dir) / ".config" : fs::path();
}

/// One line: a program's words may contain line breaks.
std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return printable(text);
}

bool allowed_by_setting() {
    const char* setting = std::getenv("GNNBENCH_ALLOW_PROGRAMS");
    return setting && std::string_view(setting) == "1";
}

bool says_yes(std::size_t count) {
    std::cerr << fmt::format("Start {}? The answer yes is remembered for these contents. [y/N] ",
                             count == 1 ? "it" : "them")
              << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

fs::path AllowedPrograms::default_file() {
    const fs::path folder = config_folder();
    return folder.empty() ? fs::path() : folder / "gnnbench" / "allowed-programs";
}

AllowedPrograms::AllowedPrograms(fs::path file) : file_(std::move(file)) {
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);)
        if (line.find(' ') == 64) digests_.insert(line.substr(0, 64));
}

void AllowedPrograms::add(const std::vector<StartedProgram>& programs) {
    std::string lines;
    for (const StartedProgram& p : programs)
        if (digests_.insert(p.digest).second) lines += fmt::format("{} {}\n", p.digest, one_line(p.words));
    if (lines.empty() || file_.empty()) return;
    std::error_code ignored;
    fs::create_directories(file_.parent_path(), ignored);
    const int file = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    const bool whole = write(file, lines.data(), lines.size()) == std::ssize(lines);
    close(file);
    if (!whole) std::cerr << fmt::format("gnnbench: cannot remember what was allowed in {}\n", file_.string());
}

bool already_allowed(const std::vector<StartedProgram>& programs) {
    if (programs.empty() || allowed_by_setting()) return true;
    const AllowedPrograms known;
    return std::ranges::all_of(programs, [&](const StartedProgram& p) { return known.contains(p); });
}

void permit_programs(const std::vector<StartedProgram>& programs, bool allowed, Progress& progress) {
    for (const StartedProgram& p : programs) progress.message("starts " + one_line(to_text(p)));
    if (already_allowed(programs)) return;
    AllowedPrograms known;
    if (allowed) return known.add(programs);
    std::vector<StartedProgram> unknown;
    std::string list;
    for (const StartedProgram& p : programs) {
        if (known.contains(p)) continue;
        unknown.push_back(p);
        list += "\n  " + one_line(to_text(p));
    }
    const std::string what =
        fmt::format("this experiment starts {} that you have not allowed yet:{}",
                    unknown.size() == 1 ? "a program" : plural(unknown.size(), "program"), list);
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        throw SpecError(what +
                        "\nNothing was started. Look at what it does; then add --allow-programs, which is "
                        "remembered for these "
                        "contents, or set GNNBENCH_ALLOW_PROGRAMS=1, which allows every program");
    std::cerr << "gnnbench: " << what << '\n';
    if (!says_yes(unknown.size())) throw SpecError("nothing was started, as you answered");
    known.add(unknown);
}

}  // namespace gnnbench
