#include "run/started_programs.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/usize.hpp>

#include "launch/declaration.hpp"
#include "launch/program.hpp"
#include "run/sha256.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;

std::string content_digest(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    Sha256 sum;
    std::vector<char> piece(std::size_t{1} << 16);
    while (in.read(piece.data(), std::ssize(piece)) || in.gcount() > 0)
        sum.add({piece.data(), usize(in.gcount())});
    return sum.digest();
}

/// `words` as the experiment has them, `resolved` as they are run. The words are part of the digest: `sh -c …` is a
/// program of its own for each text.
StartedProgram program_of(const std::vector<std::string>& words, const std::vector<std::string>& resolved) {
    StartedProgram p{.words = fmt::format("{}", fmt::join(words, " ")), .files = {}, .digest = {}};
    Sha256 sum;
    for (std::size_t i = 0; i < resolved.size(); ++i) {
        sum.add(words[i]);
        sum.add(std::string_view("\0", 1));
        const std::string file = i == 0 ? find_program(resolved[i]).value_or("") : resolved[i];
        std::error_code ignored;
        if (file.empty() || !fs::is_regular_file(file, ignored)) continue;
        p.files.push_back({fs::absolute(file).lexically_normal(), content_digest(file)});
        sum.add(p.files.back().digest);
    }
    p.digest = sum.digest();
    return p;
}

/// `program` with all that the plugin's other parameters say in words, since any of it may be its arguments.
StartedProgram partitioner_program(const std::string& program, const Params& params,
                                   std::span<const ParamDecl> declared) {
    std::vector<std::string> words{program};
    for (const ParamDecl& d : declared)
        if (d.type == ParamType::text) {
            std::istringstream in(params.text(d.name));
            words.insert(words.end(), std::istream_iterator<std::string>(in), {});
        }
    std::vector<std::string> written = words;
    written.front() = fs::path(written.front()).filename().string();  // wherever it stands
    StartedProgram p = program_of(written, words);
    p.words = fmt::format("{}", fmt::join(words, " "));
    return p;
}

/// Options with which the launcher may run a program of the experiment's.
bool names_a_program(const std::string& option, const LauncherDeclaration& launcher) {
    return std::ranges::any_of(launcher.option_programs,
                               [&](const std::string& text) { return option.find(text) != std::string::npos; });
}

void add_launcher_programs(const LauncherChoice& launcher, std::vector<StartedProgram>& all) {
    if (!launcher.elsewhere()) return;
    const LauncherDeclaration declaration = launcher_declaration(launcher.file);
    if (launcher.submits() && !launcher.before.empty())
        all.push_back(program_of({"sh", "-c", launcher.before}, {"sh", "-c", launcher.before}));
    for (const std::string& option : launcher.options)
        if (names_a_program(option, declaration)) {
            const std::size_t value = option.find_first_of("= ");
            const std::string file = value == std::string::npos ? "" : option.substr(value + 1);
            all.push_back(program_of({file, option}, {file, option}));
            all.back().words = option;
        }
}

/// Names of the programs that a partitioner starts.
std::vector<std::string> programs_of(const PluginChoice& partitioner, const PluginSource& plugins) {
    std::vector<std::string> all;
    if (const auto facts = plugins.find(PluginKind::partitioner, partitioner.name))
        for (const ParamDecl& d : facts->params)
            if (d.type == ParamType::program && !partitioner.params.text(d.name).empty())
                all.push_back(partitioner.params.text(d.name));
    return all;
}

}  // namespace

bool starts_a_program(const PluginChoice& partitioner, const PluginSource& plugins) {
    return !programs_of(partitioner, plugins).empty();
}

std::vector<StartedProgram> started_programs(const Experiment& experiment, const std::vector<bool>& chosen,
                                             const PluginSource& plugins) {
    std::vector<StartedProgram> all;
    std::set<std::vector<std::string>> schemes;
    std::set<std::pair<std::string, std::map<std::string, ParamValue, std::less<>>>> partitioners;
    for (std::size_t i = 0; i < experiment.cells.size(); ++i) {
        if (!chosen[i]) continue;
        const Cell& cell = experiment.cells[i];
        if (cell.scheme.is_program() && schemes.insert(cell.scheme.program).second)
            all.push_back(program_of(cell.scheme.command, cell.scheme.program));
        const PluginChoice& p = cell.partitioner;
        if (cell.scheme.is_program() || !partitioners.emplace(p.name, p.params.values()).second) continue;
        for (const std::string& program : programs_of(p, plugins))
            all.push_back(
                partitioner_program(program, p.params, plugins.find(PluginKind::partitioner, p.name)->params));
    }
    add_launcher_programs(experiment.launcher, all);
    std::set<std::string> seen;
    std::erase_if(all, [&](const StartedProgram& p) { return !seen.insert(p.digest).second; });
    return all;
}

std::string to_text(const StartedProgram& program) {
    std::vector<std::string> files;
    for (const StartedProgram::File& file : program.files)
        files.push_back(fmt::format("{}, SHA-256 {}", file.path.string(), file.digest.substr(0, 16)));
    return fmt::format("{} ({})", program.words,
                       files.empty() ? "no file of this host" : fmt::format("{}", fmt::join(files, "; ")));
}

}  // namespace gnnbench
