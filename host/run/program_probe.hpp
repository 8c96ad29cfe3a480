#pragma once
#include <map>
#include <string>

#include "spec/cell.hpp"

namespace gnnbench {

/// Probes the programs used as schemes (`--probe`) for whether they can run here; once per program and device.
class ProgramProbes {
public:
    /// Why the cell's program cannot run; empty if it can.
    std::string why_not(const Cell& cell);

private:
    std::map<std::string, std::string> answers_;  ///< by words and device
};

}  // namespace gnnbench
