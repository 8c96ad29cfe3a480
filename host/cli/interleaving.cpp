#include "cli/interleaving.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/ranges.hpp"
#include "launch/machine.hpp"
#include "report/report_origins.hpp"

namespace gnnbench {

namespace {

/// Enough for a verdict on a quiet machine; a verdict says how many more it takes.
constexpr std::int64_t usual_trials = 10;

/// The tag that a side's new trials get: its own if it is one, else `otherwise`.
std::string tag_for(std::string side, const char* otherwise) {
    if (side.starts_with("tag:")) side = side.substr(4);
    return side.empty() || side.find_first_of(",: \t") != std::string::npos ? otherwise : side;
}

/// " --set-a train.lr=0.1" for each of `mine` that `theirs` does not have, or " --set …" for each that it has.
std::string override_options(const std::vector<std::string>& mine, const std::vector<std::string>& theirs,
                             const char* option, bool shared) {
    std::string text;
    for (const std::string& one : mine)
        if ((std::ranges::find(theirs, one) != theirs.end()) == shared)
            text += fmt::format(" {} {}", option, shell_word(one));
    return text;
}

/// " --build-a PATH" where another build than this one measured the side.
std::string build_option(const SideSource& source, const char* option) {
    if (source.build.empty() || source.build == build_info().digest) return {};
    return fmt::format(" {} BUILD_OF_{}", option,
                       source.commit.empty() ? "THAT_SIDE" : source.commit.substr(0, 8));
}

std::int64_t most_trials(const ComparedSides& sides) {
    std::int64_t most = usual_trials;
    for (const ComparedCell& c : sides.cells) most = std::max({most, c.trials_a, c.trials_b});
    return most;
}

}  // namespace

void add_interleaving_options(CLI::App& command, Interleaving& i) {
    InterleavedRequest& request = i.request;
    const char* group = "Measuring both sides by turns";
    CLI::Option* file =
        command.add_option("--interleave", request.a.experiment.file,
                           "Measure first: trials of this experiment for A and for B by turns, tagged A and B");
    file->type_name("FILE")->group(group);
    const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
        return command.add_option(name, value, help)->needs(file)->type_name(type)->group(group);
    };
    add("--interleave-b", request.b.experiment.file, "B's experiment, if it is another", "FILE");
    add("--build-a", request.a.build, "The build that measures A: its gnnbench or its folder (default: this one)",
        "PATH");
    add("--build-b", request.b.build, "The same of B", "PATH");
    add("--set", i.overrides, "Override a key on both sides", "KEY=VALUE")->take_all();
    add("--set-a", request.a.experiment.overrides, "Override a key on side A: --set-a train.lr=0.1", "KEY=VALUE")
        ->take_all();
    add("--set-b", request.b.experiment.overrides, "The same of B", "KEY=VALUE")->take_all();
    add("--profile", request.a.experiment.profile, "A profile of the experiment (default: the file's)", "NAME");
    add("--profile-b", request.b.experiment.profile, "B's profile, if it is another", "NAME");
    request.trials = usual_trials;
    add("--trials", request.trials, "Of each cell on each side (default: 10)", "N")->check(between(1, 100000));
    command
        .add_flag("--allow-programs", i.allow_programs,
                  "Start the programs that the experiments name without a question")
        ->needs(file)
        ->group(group);
    command.add_flag("--no-verify", i.no_verify, "Do not verify new combinations first")
        ->needs(file)
        ->group(group);
}

bool measure_by_turns(const Interleaving& interleaving, const std::string& a, const std::string& b,
                      const std::string& where, const GlobalOptions& options) {
    InterleavedRequest request = interleaving.request;
    request.a.tag = a;
    request.b.tag = b;
    if (request.b.experiment.file.empty()) request.b.experiment.file = request.a.experiment.file;
    request.where = where;
    request.verify = !interleaving.no_verify;
    for (InterleavedSide* side : {&request.a, &request.b}) {
        ExperimentChoice& e = side->experiment;
        if (e.profile.empty()) e.profile = request.a.experiment.profile;
        e.allow_programs = interleaving.allow_programs;
        // Last, so that a side's own value wins.
        e.overrides.insert(e.overrides.begin(), interleaving.overrides.begin(), interleaving.overrides.end());
    }
    Progress progress;
    return run_interleaved(request, {options.database, options.data_dir}, progress);
}

std::string how_to_interleave(const ComparedSides& sides, const std::string& command, const std::string& where,
                              const GlobalOptions& options) {
    const SideSource &a = sides.source_a, &b = sides.source_b;
    if (a.file.empty() || b.file.empty())
        return "An older gnnbench measured a side and did not keep its experiment's name; compare --interleave "
               "FILE "
               "measures both by turns.\n";
    const std::string database = options.database_option();
    const bool one_experiment = a.file == b.file && a.profile == b.profile && a.overrides == b.overrides;
    const bool by_cell = sides.b.find("where:") != std::string::npos && a.file == b.file;
    if ((one_experiment || by_cell) && !sides.compared_fields.empty())  // cells of one experiment take turns in it
        return fmt::format(
            "This measures both by turns; then compare them again:\n  {} --rerun --set trials={}{}\n",
            run_command({b.file, b.profile, b.overrides, true}), most_trials(sides), database);
    std::string text = fmt::format("gnnbench {} {} {} --interleave {}", command, tag_for(sides.a, "A"),
                                   tag_for(sides.b, "B"), shell_word(a.file));
    if (b.file != a.file) text += " --interleave-b " + shell_word(b.file);
    text += build_option(a, "--build-a") + build_option(b, "--build-b");
    if (!a.profile.empty()) text += " --profile " + shell_word(a.profile);
    if (b.profile != a.profile) text += " --profile-b " + shell_word(b.profile);
    text += override_options(a.overrides, b.overrides, "--set", true);
    text += override_options(a.overrides, b.overrides, "--set-a", false);
    text += override_options(b.overrides, a.overrides, "--set-b", false);
    if (!where.empty()) text += " --where " + shell_word(where);
    text += fmt::format(" --trials {}", most_trials(sides));
    text += database;
    return "This measures both by turns:\n  " + text + "\n";
}

}  // namespace gnnbench
