#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gnnbench::command {

/// Runs words[0] with its arguments in `folder`, without a shell, its output in folder/log. Throws Error, with the last
/// lines of that, if it cannot be started, does not end within `limit_s` (it is then killed), or ends with a signal or
/// an exit code other than 0.
void run_program(const std::vector<std::string>& words, const std::filesystem::path& folder, double limit_s);

/// The last lines of what the program in `folder` printed, to be put behind a message; empty if it printed nothing.
std::string last_lines(const std::filesystem::path& folder);

}  // namespace gnnbench::command
