#pragma once
#include <iostream>
#include <string>

namespace gnnbench {

/// A line for a person, on stderr.
inline void say(const std::string& line) { std::cerr << "gnnbench: " << line << "\n"; }

}  // namespace gnnbench
