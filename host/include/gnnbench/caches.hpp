#pragma once
#include <cstdint>

namespace gnnbench {

/// Data caches of the first core, as the system describes them; 1 MiB and 16 MiB where it does not.
std::int64_t second_level_cache_bytes();
std::int64_t last_level_cache_bytes();

}  // namespace gnnbench
