#include <gnnbench/random.hpp>

#include <cmath>
#include <numbers>

#include <Random123/philox.h>

namespace gnnbench {

std::array<std::uint32_t, 4> philox(std::uint64_t seed, Draw what, std::uint64_t a, std::uint32_t b,
                                    std::uint32_t c) {
    // Counter (a, b, c), key (seed, what): the odd factor spreads `what` over the key's high word.
    const r123::Philox4x32::ctr_type counter = {
        {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32), b, c}};
    const r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed),
         static_cast<std::uint32_t>(seed >> 32) ^ (static_cast<std::uint32_t>(what) * 0x9E3779B9u)}};
    const auto r = r123::Philox4x32()(counter, key);
    return {r[0], r[1], r[2], r[3]};
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
    // Rejection from 64 bits: a word above the largest multiple of bound is drawn again.
    const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % bound + 1) % bound;
    for (;;) {
        const std::uint64_t high = (*this)(), word = high << 32 | (*this)();
        if (word <= limit) return word % bound;
    }
}

double RandomStream::normal() {
    const double u = uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace gnnbench
