#pragma once
#include <cstdint>

namespace gnnbench::hypergraph {

/// SplitMix64 as a function of a counter: the same number wherever and by whichever thread it is drawn.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t counter) { return mixed(mixed(seed) ^ counter); }

}  // namespace gnnbench::hypergraph
