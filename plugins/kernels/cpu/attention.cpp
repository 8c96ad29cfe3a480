#include "attention.hpp"

#include <algorithm>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// Runs of rows of about equal work, which threads take as they get free. `cols`: elements that an entry costs.
template <class F>
void by_runs(const Pattern& a, std::int64_t cols, int threads, F&& f) {
    const std::int64_t work = a.nonzeros() + 2 * a.rows;
    const std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 17) / cols);
    const std::int64_t runs = std::clamp<std::int64_t>(work / least, 1, std::int64_t{64} * threads);
    parallel_chunks(threads, runs, 1, [&](std::int64_t i, std::int64_t) { f(equal_work(a, i, runs)); });
}

}  // namespace

template <class T>
void attend(const AttendCall<T>& call, int threads) {
    by_runs(call.a, call.b.cols, threads, [&](RowRange rows) { attention_operations<T>().attend(call, rows); });
}

template <class T>
void attend_backward(const AttendBackwardCall<T>& call, int threads) {
    by_runs(call.a, call.b.cols, threads,
            [&](RowRange rows) { attention_operations<T>().attend_backward(call, rows); });
}

template void attend(const AttendCall<float>&, int);
template void attend(const AttendCall<double>&, int);
template void attend_backward(const AttendBackwardCall<float>&, int);
template void attend_backward(const AttendBackwardCall<double>&, int);

}  // namespace gnnbench::cpu
