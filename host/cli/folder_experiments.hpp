#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

/// The experiments of a file or a folder. In a folder one that cannot be read, or run, leaves the others as they are.
class FolderExperiments {
public:
    struct One {
        ExperimentChoice choice;
        Experiment experiment;
    };

    /// Reads them; prints the errors of a folder's files, and leaves these out. A single file's error is thrown.
    FolderExperiments(const ExperimentChoice& given, const GlobalOptions& options, const HostsOf& hosts_of = {});

    std::vector<One>& readable() { return readable_; }
    bool is_folder() const { return files_ > 1; }
    std::size_t files() const { return files_; }

    /// Prints the error of an experiment of a folder, which is then named by `conclude`. For a single file, and where the
    /// environment is at fault, rethrows: call it in a handler.
    void failed(const std::filesystem::path& file);
    /// Says which experiments were left out or stopped; the exit code that `code` becomes by them.
    int conclude(int code) const;

private:
    void report(const std::filesystem::path& file, std::vector<std::filesystem::path>& list);

    std::size_t files_ = 0;
    std::vector<One> readable_;
    std::vector<std::filesystem::path> left_out_, stopped_;
    int code_ = exit_ok;
};

}  // namespace gnnbench
