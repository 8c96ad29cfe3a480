#pragma once
#include <map>
#include <string>
#include <vector>

namespace gnnbench::contract {

/// A scheme with these parameters, and the numbers of ranks that it is run at.
struct AtScale {
    std::string scheme;
    std::map<std::string, std::string> set;
    std::vector<int> ranks;
};

inline std::map<std::string, std::string> plexus_grid(int x, int y, int z) {
    return {{"grid", "given"}, {"x", std::to_string(x)}, {"y", std::to_string(y)}, {"z", std::to_string(z)}};
}

}  // namespace gnnbench::contract
