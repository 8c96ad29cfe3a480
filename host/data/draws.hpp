#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include <gnnbench/random.hpp>

namespace gnnbench {

/// The purpose of a dataset's draws: the last argument of philox under Draw::graph and Draw::features.
enum class DataDraw : std::uint32_t {
    permutation = 0,
    community = 1,
    degree = 2,
    label = 3,
    label_noise = 4,
    mask = 5,
    order = 6,
    noise = 7,
    class_mean = 8,
    lattice = 9,
    label_set = 10,
    label_matrix = 11,
    block_edge = 12,
    stub_bucket = 13,
    stub_order = 14,
    exchange = 15,
    edge = 16  ///< last: attempt k of an edge is edge + k
};

inline std::array<std::uint32_t, 4> draw(std::uint64_t seed, Draw what, std::uint64_t a, std::uint32_t b,
                                         DataDraw use, std::uint32_t attempt = 0) {
    return philox(seed, what, a, b, static_cast<std::uint32_t>(use) + attempt);
}

/// Uniform in [0, bound), bound below 2^32: the high half of the product (its bias, bound / 2^32, does not show).
inline std::uint32_t scaled(std::uint32_t word, std::uint64_t bound) {
    return static_cast<std::uint32_t>(word * bound >> 32);
}

/// In [0, 1), of class c of row a.
inline double class_draw(std::uint64_t seed, std::uint64_t a, std::int32_t c, DataDraw use) {
    const auto of = static_cast<std::uint32_t>(c);
    return unit_interval(draw(seed, Draw::graph, a, of / 4, use)[of % 4]);
}

/// Two standard normals from two words (Box–Muller).
inline void normal_pair(std::uint32_t first, std::uint32_t second, float* out) {
    double radius = std::sqrt(-2 * std::log(unit_interval(first)));
    double angle = 2 * std::numbers::pi * unit_interval(second);
    out[0] = static_cast<float>(radius * std::cos(angle));
    out[1] = static_cast<float>(radius * std::sin(angle));
}

/// Standard normals 4b … 4b + 3 of row a.
inline void normal_block(std::uint64_t seed, std::uint64_t a, std::uint32_t b, DataDraw use, float (&out)[4]) {
    auto words = draw(seed, Draw::features, a, b, use);
    normal_pair(words[0], words[1], out);
    normal_pair(words[2], words[3], out + 2);
}

}  // namespace gnnbench
