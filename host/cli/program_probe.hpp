#pragma once
#include <map>
#include <string>

#include "spec/cell.hpp"

namespace gnnbench {

/// Asks programs that are schemes whether they can run here (`--probe`); each once for each device.
class ProgramProbes {
public:
    /// Why the cell's program cannot run; empty where it can.
    std::string why_not(const Cell& cell);

private:
    std::map<std::string, std::string> answers_;  ///< by words and device
};

}  // namespace gnnbench
