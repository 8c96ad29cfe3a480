#pragma once
#include <chrono>
#include <string>

#include "run/progress.hpp"

namespace gnnbench {

/// Shows how far a command is that does the same for many cells: a status line on a terminal, else a line now and then.
class CountedWork {
public:
    /// `what`: "memory of cell". `most`: how many there are, or would be if none were left out.
    CountedWork(Progress& progress, std::string what, std::size_t most);
    /// The next one begins.
    void next(const std::string& label);

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds between_lines{30};

    Progress& progress_;
    std::string what_;
    Pace pace_;
    std::size_t begun_ = 0;
    Clock::time_point last_begun_{}, last_line_ = Clock::now();
};

/// "memory of cell 12 of at most 10000  about 5m 00s left"; `left_s` is negative where it is unknown.
std::string how_far(const std::string& what, std::size_t begun, std::size_t most, double left_s);

}  // namespace gnnbench
