#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gnnbench {

/// SHA-256 (FIPS 180-4), for digests that an adversary must not be able to imitate; where none is, XXH3 is faster.
class Sha256 {
public:
    void add(std::string_view bytes);
    /// 64 hex digits of all that was added. Nothing can be added afterwards.
    std::string digest();

private:
    void compress();

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> block_{};
    std::size_t filled_ = 0;  ///< bytes of block_
    std::uint64_t bytes_ = 0;
};

}  // namespace gnnbench
