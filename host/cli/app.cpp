#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "cli/complete.hpp"
#include "cli/gnnbench.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/project.hpp"
#include "cli/usage.hpp"
#include "core/owned_folder.hpp"
#include "core/printable.hpp"
#include "launch/trial_processes.hpp"
#include "plugin/loader.hpp"
#include "report/report_origins.hpp"
#include "run/progress.hpp"
#include "spec/findings.hpp"

namespace gnnbench {

namespace {

constexpr const char* places =
    "The project's root is the nearest folder, from the current one upwards, that holds gnnbench.sqlite or "
    "stores of datasets, else that of git's work tree, else the current one.";
constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 a cell failed, 2 bad usage or experiment, 3 regression, 4 unclear, 5 environment or "
    "plugin, "
    "130 interrupted.";

/// Id of nlohmann's error for text that is to be written as JSON but is not UTF-8.
constexpr int no_utf8 = 316;

int report(const std::string& message, int code) {
    std::cout.flush();
    std::cerr << "gnnbench: " << printable(message) << '\n';
    return code;
}

/// Runs `action`; turns any exception into a message.
int guarded(const Action& action) {
    try {
        const int code = action();
        // A closed terminal took its reader along; that it was interrupted is what there is to say.
        if (code == exit_interrupted)
            std::signal(SIGPIPE, SIG_IGN);  // of what is still buffered
        else
            flush_stdout();
        return code;
    } catch (const ExperimentError& error) {
        // One line each, as compilers do, so that editors can jump to them.
        std::cerr << printable(error.what()) << '\n';
        return report(
            fmt::format("{} to fix before this can run", error.findings().size() == 1
                                                             ? "one thing"
                                                             : fmt::format("{} things", error.findings().size())),
            exit_usage);
    } catch (const EnvironmentError& error) {
        return report(error.what(), exit_environment);
    } catch (const PluginError& error) {
        return report(error.what(), exit_environment);
    } catch (const OutOfMemory& error) {
        return report(error.what(), exit_environment);
    } catch (const LogicError& error) {
        return report(std::string("a defect in gnnbench itself: ") + error.what(), exit_environment);
    } catch (const Error& error) {  // SpecError and DataError
        return report(error.what(), exit_usage);
    } catch (const std::filesystem::filesystem_error& error) {
        const bool named_so =
            error.code() == std::errc::filename_too_long || error.code() == std::errc::invalid_argument;
        const std::string path = error.path1().string();
        return report(fmt::format("cannot use the path '{}': {}",
                                  path.size() > 100 ? path.substr(0, 100) + "..." : path, error.code().message()),
                      named_so ? exit_usage : exit_environment);
    } catch (const nlohmann::json::type_error& error) {
        if (error.id != no_utf8) return report(error.what(), exit_environment);
        return report("a name, a path or another text given to gnnbench is not in UTF-8", exit_usage);
    } catch (const std::bad_alloc&) {
        return report("out of memory", exit_environment);
    } catch (const std::exception& error) {
        return report(error.what(), exit_environment);
    }
}

/// Where the database and datasets are that no option names.
void find_places(GlobalOptions& options) {
    options.database_given = !options.database.empty();
    options.data_dir_given = !options.data_dir.empty();
    const char* from_environment = std::getenv("GNNBENCH_DATA");
    const bool data_set = options.data_dir_given || (from_environment && *from_environment);
    if (options.database_given && data_set) return;
    const std::filesystem::path root = project_root();
    if (!options.database_given) options.database = root / database_name;
    if (!data_set) options.data_dir = (root / datasets_name).string();
}

}  // namespace

std::string GlobalOptions::database_option() const {
    return database_given ? " --database " + shell_word(database.string()) : "";
}

void define_commands(CLI::App& app, GlobalOptions& options, Action& action) {
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "Help of every command");
    app.footer(fmt::format("{}\n{}", places, exit_codes));
    app.add_option("--database", options.database,
                   "Where results are kept (default: gnnbench.sqlite at the project's root)")
        ->envname("GNNBENCH_DATABASE")
        ->type_name("FILE");
    app.add_option("--data-dir", options.data_dir,
                   "Where datasets are kept (default: $GNNBENCH_DATA, or datasets at the project's root)")
        ->type_name("FOLDER");
    app.set_version_flag("-V,--version", version_text, "What this program is and was built from");
    app.add_flag_callback(
        "-q,--quiet", [] { set_verbosity(Verbosity::quiet); }, "Without progress: results and problems only");
    app.add_flag_callback(
        "-v,--verbose", [] { set_verbosity(Verbosity::verbose); },
        "With each step, and the logs of failed trials");
    app.fallthrough();  // global options may follow the command's name
#define GNNBENCH_ADD_COMMAND(name) add_##name(app, options, action);
    GNNBENCH_EACH_COMMAND(GNNBENCH_ADD_COMMAND)
#undef GNNBENCH_ADD_COMMAND
}

int run_gnnbench(int argc, char** argv) {
    GlobalOptions options;
    Action action;
    CLI::App app{"Runs, measures and compares distributed training of graph neural networks", "gnnbench"};
    // Beyond `ulimit -f` a write then fails, and its error says which; the signal would end us without a word.
    std::signal(SIGXFSZ, SIG_IGN);
    return guarded([&]() -> int {
        define_commands(app, options, action);
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (!words.empty() && words.front() == "__complete") {
            print_completions(app, {words.begin() + 1, words.end()});
            return exit_ok;
        }
        check_words(app, words);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
            throw SpecError(usage_message(app, words, error));
        }
        find_places(options);
        // Not of our own folder: whoever installed that decided.
        std::vector<std::filesystem::path> named = plugin_folders();
        named.pop_back();
        for (const std::string& exposed : exposed_folders(named)) std::cerr << "gnnbench: " << exposed << '\n';
        // The database that a killed host wrote to may be gone, so that no later run on it would do this.
        remove_left_shared_memory();
        remove_left_temporary_folders();
        return action();
    });
}

}  // namespace gnnbench
