#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <future>
#include <vector>

#include <gnnbench/usize.hpp>

#include "check/ledger.hpp"

namespace gnnbench {

/// Calls judge(begin, end, judgement) over runs of [0, rows) on up to `threads` threads. The same elements are
/// judged, and the same one is called the first wrong one, whatever their number. `work`: multiply-adds, roughly; a
/// call with little of it stays on this thread. `runs_per_thread`: 1 where each run costs a pass over an operand,
/// more to balance them.
template <class F>
void judge_rows(Judgement& whole, int threads, std::int64_t rows, double work, int runs_per_thread, F&& judge) {
    if (threads <= 1 || rows < 2 || work < 1e6) return judge(std::int64_t{0}, rows, whole);
    const std::int64_t runs = std::min<std::int64_t>(rows, std::int64_t{runs_per_thread} * threads);
    std::deque<Judgement> parts(usize(runs));
    std::atomic<std::int64_t> next = 0;
    const auto judge_runs = [&] {
        for (std::int64_t i = next++; i < runs; i = next++)
            judge(rows * i / runs, rows * (i + 1) / runs, parts[usize(i)]);
    };
    {
        std::vector<std::future<void>> others;
        for (int t = 1; t < threads; ++t) others.push_back(std::async(std::launch::async, judge_runs));
        judge_runs();
        for (auto& other : others) other.get();
    }
    for (const Judgement& part : parts) whole.take(part);
}

}  // namespace gnnbench
