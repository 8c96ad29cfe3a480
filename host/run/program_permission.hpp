#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "run/progress.hpp"
#include "run/started_programs.hpp"

namespace gnnbench {

/// The programs that this user has allowed experiments to start, by digest: a file of the user's own, to which a line
/// is added with each permission.
class AllowedPrograms {
public:
    /// `file` empty: nothing is remembered.
    explicit AllowedPrograms(std::filesystem::path file = default_file());
    bool contains(const StartedProgram& program) const { return digests_.contains(program.digest); }
    /// Where the file cannot be written, the permission is good for this process only.
    void add(const std::vector<StartedProgram>& programs);

    /// $XDG_CONFIG_HOME/gnnbench/allowed-programs, else ~/.config/…; empty for a user without a home.
    static std::filesystem::path default_file();

private:
    std::filesystem::path file_;
    std::set<std::string> digests_;
};

/// Whether the programs of an experiment have been allowed, without asking: remembered, or by GNNBENCH_ALLOW_PROGRAMS=1.
bool already_allowed(const std::vector<StartedProgram>& programs);

/// Lists what will be started, and asks on a terminal for what was not allowed before. `allowed`: the command said
/// --allow-programs. Throws SpecError where the answer is no, or nobody can be asked.
void permit_programs(const std::vector<StartedProgram>& programs, bool allowed, Progress& progress);

}  // namespace gnnbench
