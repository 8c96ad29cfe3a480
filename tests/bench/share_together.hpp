#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gnnbench::bench {

struct TogetherSettings {
    std::string store;
    std::vector<int> ranks;  ///< cubes; of others, the largest cube that is no larger
    std::int64_t width = 128;
    int threads = 1;
};

/// What one rank of a cube of ranks costs where ranks read the store together, and what one that reads all of it does; prints a
/// table. The process' exit code.
int share_together(const TogetherSettings& s);

}  // namespace gnnbench::bench
