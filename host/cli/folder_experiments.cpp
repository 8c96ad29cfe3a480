#include "cli/folder_experiments.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "cli/say.hpp"
#include "core/plural.hpp"
#include "core/printable.hpp"
#include "run/definitions.hpp"
#include "spec/findings.hpp"

namespace gnnbench {
namespace {

std::string names(const std::vector<std::filesystem::path>& files) {
    std::vector<std::string> all;
    for (const auto& file : files) all.push_back(file.string());
    return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

FolderExperiments::FolderExperiments(const ExperimentChoice& given, const GlobalOptions& options,
                                     const HostsOf& hosts_of) {
    const auto files = experiments_at(given.file);
    files_ = files.size();
    const Catalog catalog = Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    for (const auto& file : files) {
        One one{given, {}};
        one.choice.file = file;
        try {
            one.experiment = load(one.choice, catalog, plugins, hosts_of);
            readable_.push_back(std::move(one));
        } catch (const Error&) {
            report(file, left_out_);
        }
    }
}

void FolderExperiments::report(const std::filesystem::path& file, std::vector<std::filesystem::path>& list) {
    if (!is_folder()) throw;
    std::cout.flush();
    try {
        throw;
    } catch (const ExperimentError& e) {  // whose lines name the file
        std::cerr << printable(e.what()) << '\n';
        code_ = std::max<int>(code_, exit_usage);
    } catch (const PluginError& e) {
        say(printable(fmt::format("{}: {}", file.string(), e.what())));
        code_ = std::max<int>(code_, exit_environment);
    } catch (const SpecError& e) {
        say(printable(fmt::format("{}: {}", file.string(), e.what())));
        code_ = std::max<int>(code_, exit_usage);
    } catch (const DataError& e) {
        say(printable(fmt::format("{}: {}", file.string(), e.what())));
        code_ = std::max<int>(code_, exit_usage);
    }
    list.push_back(file);
}

void FolderExperiments::failed(const std::filesystem::path& file) { report(file, stopped_); }

int FolderExperiments::conclude(int code) const {
    std::cout.flush();
    if (!stopped_.empty())
        say(fmt::format("{} stopped at an error: {}", plural(stopped_.size(), "experiment"), names(stopped_)));
    if (!left_out_.empty())
        say(fmt::format("{} of {} experiments cannot be read and {} left out: {}", left_out_.size(), files_,
                        left_out_.size() == 1 ? "was" : "were", names(left_out_)));
    return std::max(code, code_);
}

}  // namespace gnnbench
