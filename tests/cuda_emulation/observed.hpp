#pragma once
#include <cstddef>
#include <cstdint>

namespace emulated {

/// The thread at work, and how often its block and its warp have met since the block began: what lies between two meetings is
/// an interval, within which threads run in any order.
struct Here {
    bool active = false;  ///< a launch runs
    bool without_barriers = false;
    std::uint32_t launch = 0, block = 0;
    std::uint16_t thread = 0, block_interval = 0, warp_interval = 0;
};
extern Here here;

/// An order of blocks, and of a block's threads: forwards, backwards, or by steps through all.
struct Order {
    std::uint32_t kind = 0;
    template <class I>
    I at(I i, I count) const {
        if (kind % 3 == 0) return i;
        if (kind % 3 == 1) return count - 1 - i;
        I step = count / 3 + 1;
        while (!coprime(step, count)) ++step;
        return static_cast<I>((static_cast<std::int64_t>(i) * step + kind) % count);
    }

private:
    template <class I>
    static bool coprime(I a, I b) {
        while (b != 0) {
            const I rest = a % b;
            a = b;
            b = rest;
        }
        return a == 1;
    }
};

/// Device memory lies here. Null: there is none yet.
void observe_memory(const char* base, std::size_t bytes);

/// `without_barriers`: its threads never meet.
void begin_launch(bool without_barriers);
/// By the launch's number and GNNBENCH_EMULATED_SEED.
Order launch_order();
/// Shared memory has no values at a block's beginning.
void begin_block(std::uint32_t block);
void end_launch();

}  // namespace emulated
