#include <gnnbench/caches.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

namespace gnnbench {
namespace {

/// Size of the deepest cache at a level between `least` and `most`. From sysfs, because glibc multiplies an AMD
/// last-level cache by the number of its sharers.
std::int64_t cache_bytes(int least, int most, std::int64_t otherwise) {
    std::int64_t found = 0;
    for (int i = 0; i < 8; ++i) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
        int level = 0;
        std::string type, size;
        if (!(std::ifstream(folder + "level") >> level) || !(std::ifstream(folder + "type") >> type) ||
            !(std::ifstream(folder + "size") >> size) || type == "Instruction" || level < least || level > most)
            continue;
        const std::int64_t unit = size.back() == 'M' ? std::int64_t{1} << 20 : size.back() == 'K' ? 1 << 10 : 1;
        found = std::strtoll(size.c_str(), nullptr, 10) * unit;
    }
    return found > 0 ? found : otherwise;
}

}  // namespace

std::int64_t second_level_cache_bytes() {
    static const std::int64_t bytes = cache_bytes(2, 2, std::int64_t{1} << 20);
    return bytes;
}

std::int64_t last_level_cache_bytes() {
    static const std::int64_t bytes = cache_bytes(3, 4, std::int64_t{16} << 20);
    return bytes;
}

}  // namespace gnnbench
