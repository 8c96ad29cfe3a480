#pragma once
#include <cstdint>
#include <vector>

#include "level.hpp"

namespace gnnbench::distributed {

struct Setting {
    PartId parts = 1;
    Weight limit = 0;            ///< that a part may weigh
    std::int64_t most_pins = 0;  ///< of the hypergraph that each rank gets whole
    std::uint64_t seed = 0;
};

/// The parts of own vertices; the same for any number of ranks. Collective.
std::vector<PartId> partition(const Ranks& ranks, Level level, const Setting& setting);

}  // namespace gnnbench::distributed
