#pragma once
#include "host_device.hpp"

namespace gnnbench::cuda {

/// Four words of Philox4x32-10 (Salmon et al., SC'11), the same as gnnbench::philox draws.
struct Words {
    u32 word[4];
    /// word[i] without an array in memory.
    GNNBENCH_HOST_DEVICE u32 of(u32 i) const {
        return i < 2 ? (i == 0 ? word[0] : word[1]) : (i == 2 ? word[2] : word[3]);
    }
};

GNNBENCH_HOST_DEVICE Words philox(u32 key0, u32 key1, u32 a, u32 b, u32 c, u32 d) {
    for (int round = 0; round < 10; ++round) {
        const u64 p0 = u64{0xD2511F53u} * a, p1 = u64{0xCD9E8D57u} * c;
        a = static_cast<u32>(p1 >> 32) ^ b ^ key0;
        c = static_cast<u32>(p0 >> 32) ^ d ^ key1;
        b = static_cast<u32>(p1);
        d = static_cast<u32>(p0);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return {{a, b, c, d}};
}

/// DropoutMask::entry_key.
GNNBENCH_HOST_DEVICE i64 entry_key(i64 row, i64 column) {
    return static_cast<i64>(static_cast<u64>(row) << 32 | static_cast<u32>(column));
}

/// DropoutMask as the device needs it. Dropped: word below threshold.
struct Mask {
    bool active = false;
    u32 threshold = 0, key0 = 0, key1 = 0, stream = 0, first_column = 0;

    /// The words of absolute columns 4·block to 4·block + 3 of an original vertex.
    GNNBENCH_HOST_DEVICE Words words(i64 vertex, u32 block) const {
        const u64 v = static_cast<u64>(vertex);
        return philox(key0, key1, static_cast<u32>(v), static_cast<u32>(v >> 32), block, stream);
    }
};

/// Draws a row's words column by column; a new block every fourth absolute column.
class RowMask {
public:
    GNNBENCH_HOST_DEVICE RowMask(const Mask& mask, i64 vertex) : mask_(mask), vertex_(vertex) {}
    /// Columns must be requested in ascending order without gaps, from any first column.
    GNNBENCH_HOST_DEVICE bool dropped(u32 column) {
        const u32 absolute = mask_.first_column + column;
        if (!drawn_ || absolute % 4 == 0) words_ = mask_.words(vertex_, absolute / 4);
        drawn_ = true;
        return words_.of(absolute % 4) < mask_.threshold;
    }

private:
    const Mask& mask_;
    i64 vertex_;
    Words words_{};
    bool drawn_ = false;
};

}  // namespace gnnbench::cuda
