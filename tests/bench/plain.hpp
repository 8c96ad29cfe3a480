#pragma once
#include <cstdint>

namespace gnnbench::bench {

/// What a careful person writes first: C = A · B, one OpenMP loop over the rows of A and vectorised code for
/// the columns of B. Compiled with -O3 for AVX-512, AVX2 and plain x86-64, the best one used. B, C contiguous.
struct PlainCsr {
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    std::int64_t rows;
};
void plain_spmm(const PlainCsr& a, const float* b, float* c, std::int64_t width, int threads);

/// a ← b + 3 c; moves 12 bytes per element, not counting what the caches fetch to write.
void triad(float* a, const float* b, const float* c, std::int64_t count, int threads);

/// Reads row rows[i] of b [… × width] for every i < count; returns a number that depends on all of them.
double gather_rows(const float* b, std::int64_t width, const std::int32_t* rows, std::int64_t count, int threads);

/// Adds up `passes` times, on each thread, `floats` numbers of its own, one after the other; a multiple of stream_step.
inline constexpr std::int64_t stream_step = 128;
double stream_own(const float* b, std::int64_t floats, int passes, int threads);

}  // namespace gnnbench::bench
