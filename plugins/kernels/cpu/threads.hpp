#pragma once
#include <algorithm>
#include <cstdint>

#include <omp.h>

namespace gnnbench::cpu {

/// The first item of part `part` when `count` items are cut into `parts` runs as equal as possible.
inline std::int64_t even_begin(std::int64_t count, int part, int parts) {
    return count / parts * part + count % parts * part / parts;
}

/// Calls f(begin, end) once per thread, over equal runs of [0, count); on the calling thread if `count` is
/// below `least`, where starting the others would cost more than it gains.
template <class F>
void parallel_ranges(int threads, std::int64_t count, std::int64_t least, F&& f) {
    if (threads == 1 || count < least) {
        if (count > 0) f(std::int64_t{0}, count);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const int t = omp_get_thread_num(), n = omp_get_num_threads();
        const std::int64_t begin = even_begin(count, t, n), end = even_begin(count, t + 1, n);
        if (begin < end) f(begin, end);
    }
}

/// Calls f(begin, end) over runs of `step` items that threads take as they get free.
template <class F>
void parallel_chunks(int threads, std::int64_t count, std::int64_t step, F&& f) {
    const std::int64_t chunks = (count + step - 1) / step;
    if (threads == 1 || chunks <= 1) {
        for (std::int64_t i = 0; i < chunks; ++i) f(i * step, std::min(count, (i + 1) * step));
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::int64_t i = 0; i < chunks; ++i) f(i * step, std::min(count, (i + 1) * step));
}

/// Rows that make about `elements` elements of a matrix with `cols` columns.
inline std::int64_t rows_for(std::int64_t elements, std::int64_t cols) {
    return std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, cols));
}

}  // namespace gnnbench::cpu
