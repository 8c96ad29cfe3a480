#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/environment.hpp"

namespace gnnbench {

/// The path of a program: itself if it contains '/', else from PATH. Empty if it cannot be executed.
std::optional<std::string> find_program(const std::string& name);

/// This process's environment without the variables that make a launcher believe that it is nested in a trial.
Environment unranked_environment();

struct ProgramEnd {
    int exit_code = 0;
    int signal = 0;        ///< that ended it; 0: none
    bool stopped = false;  ///< by us: `take` returned false, or the limit was reached
    bool timed_out = false;
};

/// Starts a program, passes each line that it prints to `take`, and waits for its end; its stderr
/// goes to ours, or to `errors_file`. If `take` returns false, the program is killed.
/// `limit_s` 0: no limit. Throws EnvironmentError where it cannot be started.
ProgramEnd read_lines(const std::vector<std::string>& command, const Environment& environment,
                      const std::function<bool(std::string_view line)>& take, double limit_s = 0,
                      const std::string& errors_file = {});

}  // namespace gnnbench
