#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace gnnbench::simulation {

/// Bytes that a kernel moves, and how many others a rank has touched since it last touched them: what caches have kept.
struct Moved {
    double bytes = 0;
    double since = 0;  ///< infinity: never touched
};

/// The order in which a rank's device memory was touched. Only machines with rates by size are asked for it.
class Recency {
public:
    struct Operand {
        const void* data = nullptr;
        std::size_t extent = 0;  ///< bytes from there on
        double moved = 0;        ///< bytes: twice those that are read and written
    };
    /// A kernel touches its operands from begin to end at the same pace. So between two uses of a byte lie half of what
    /// the kernel before moved, half of what this one does, and what was touched between them.
    std::vector<Moved> touch(std::span<const Operand> operands);
    /// The memory is given back.
    void forget(const void* data, std::size_t bytes);

private:
    struct Run {
        std::uintptr_t end = 0;
        std::uint64_t kernel = 0;  ///< that touched it last
    };
    /// No run crosses `at` after this.
    void cut(std::uintptr_t at);

    std::map<std::uintptr_t, Run> runs_;  ///< by begin
    std::uint64_t kernels_ = 0;
};

}  // namespace gnnbench::simulation
