#pragma once
#include <cstdint>

namespace gnnbench::bench {

/// Σ exp of `count` numbers, `passes` times, on each thread of its own [threads × count], as fast as the cpu kernel takes them;
/// `count` is a multiple of 256.
double exponentials(const float* x, std::int64_t count, std::int64_t passes, int threads);

}  // namespace gnnbench::bench
