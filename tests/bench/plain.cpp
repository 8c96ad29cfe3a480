#include "plain.hpp"

#include <algorithm>

namespace gnnbench::bench {
namespace {

__attribute__((target_clones("avx512f", "avx2", "default"))) void plain_rows(const PlainCsr& a, const float* b,
                                                                             float* c, std::int64_t width,
                                                                             std::int64_t begin,
                                                                             std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        float* __restrict out = c + r * width;
        for (std::int64_t f = 0; f < width; ++f) out[f] = 0;
        for (std::int64_t j = a.indptr[r]; j < a.indptr[r + 1]; ++j) {
            const float value = a.values[j];
            const float* row = b + a.indices[j] * width;
            for (std::int64_t f = 0; f < width; ++f) out[f] += value * row[f];
        }
    }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void triad_range(float* __restrict a,
                                                                              const float* __restrict b,
                                                                              const float* __restrict c,
                                                                              std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] + 3.0f * c[i];
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void add_gathered(const float* b, std::int64_t width,
                                                                               const std::int32_t* rows,
                                                                               std::int64_t count, float* sum) {
    constexpr std::int64_t line = 16;
    // Into the second-level cache far ahead, into the first one from there: what gathered fastest of what was tried.
    const std::int64_t lines = std::max<std::int64_t>(1, width / line),
                       far = std::max<std::int64_t>(16, 256 / lines), near = std::max<std::int64_t>(4, 32 / lines);
    float lane[line] = {};
    for (std::int64_t i = 0; i < count; ++i) {
        const float* second = b + rows[std::min(i + far, count - 1)] * width;
        for (std::int64_t f = 0; f < width; f += line) __builtin_prefetch(second + f, 0, 2);
        const float* first = b + rows[std::min(i + near, count - 1)] * width;
        for (std::int64_t f = 0; f < width; f += line) __builtin_prefetch(first + f, 0, 3);
        const float* row = b + rows[i] * width;
        std::int64_t f = 0;
        for (; f + line <= width; f += line)
            for (std::int64_t l = 0; l < line; ++l) lane[l] += row[f + l];
        for (; f < width; ++f) lane[0] += row[f];
    }
    for (const float l : lane) *sum += l;
}

using Lanes128 = float __attribute__((vector_size(16)));
using Lanes256 = float __attribute__((vector_size(32)));
using Lanes512 = float __attribute__((vector_size(64)));

/// Eight sums at a time, in registers: vectors wider than the processor's would go through memory.
template <class Lanes>
[[gnu::always_inline]] inline void add_vectors(const float* b, std::int64_t count, float* sum) {
    constexpr int floats = sizeof(Lanes) / sizeof(float);
    const auto* p = reinterpret_cast<const Lanes*>(b);
    Lanes s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
    for (std::int64_t i = 0; i < count / floats; i += 8) {
        s0 += p[i], s1 += p[i + 1], s2 += p[i + 2], s3 += p[i + 3];
        s4 += p[i + 4], s5 += p[i + 5], s6 += p[i + 6], s7 += p[i + 7];
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    for (int l = 0; l < floats; ++l) *sum += s0[l];
}
__attribute__((target("avx512f"))) void add_stream_512(const float* b, std::int64_t count, float* sum) {
    add_vectors<Lanes512>(b, count, sum);
}
__attribute__((target("avx2"))) void add_stream_256(const float* b, std::int64_t count, float* sum) {
    add_vectors<Lanes256>(b, count, sum);
}
void add_stream(const float* b, std::int64_t count, float* sum) {
    if (__builtin_cpu_supports("avx512f")) return add_stream_512(b, count, sum);
    if (__builtin_cpu_supports("avx2")) return add_stream_256(b, count, sum);
    add_vectors<Lanes128>(b, count, sum);
}

}  // namespace

void triad(float* a, const float* b, const float* c, std::int64_t count, int threads) {
    constexpr std::int64_t run = 1 << 16;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t i = 0; i < count; i += run) triad_range(a + i, b + i, c + i, std::min(run, count - i));
}

double gather_rows(const float* b, std::int64_t width, const std::int32_t* rows, std::int64_t count, int threads) {
    constexpr std::int64_t run = 1 << 14;
    double total = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total)
    for (std::int64_t i = 0; i < count; i += run) {
        float sum = 0;
        add_gathered(b, width, rows + i, std::min(run, count - i), &sum);
        total += static_cast<double>(sum);
    }
    return total;
}

double stream_own(const float* b, std::int64_t floats, int passes, int threads) {
    double total = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total)
    for (int t = 0; t < threads; ++t)
        for (int pass = 0; pass < passes; ++pass) {
            float sum = 0;
            add_stream(b + t * floats, floats, &sum);
            total += static_cast<double>(sum);
        }
    return total;
}

void plain_spmm(const PlainCsr& a, const float* b, float* c, std::int64_t width, int threads) {
    constexpr std::int64_t run = 256;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::int64_t r = 0; r < a.rows; r += run) plain_rows(a, b, c, width, r, std::min(a.rows, r + run));
}

}  // namespace gnnbench::bench
