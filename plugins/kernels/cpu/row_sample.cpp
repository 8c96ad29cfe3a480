#include "row_sample.hpp"

#include <algorithm>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// Work of rows: each costs about two nonzeros.
double work(const Csr& a) { return static_cast<double>(a.nonzeros() + 2 * a.rows); }

/// Fills rows.indptr, from the entries of a's row row_at(r) that are kept, for each row r of `rows`; then its arrays, with
/// columns through column_of.
void copy_rows(const Csr& a, Csr& rows, int threads, auto&& row_at, auto&& is_kept, auto&& column_of) {
    const auto for_entries = [&](std::int64_t r, auto&& f) {
        const auto from = usize(row_at(r));
        for (auto j = usize(a.indptr[from]); j < usize(a.indptr[from + 1]); ++j)
            if (is_kept(a.indices[j])) f(j);
    };
    rows.indptr.assign(usize(rows.rows) + 1, 0);
    parallel_chunks(threads, rows.rows, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r)
            for_entries(r, [&](std::size_t) { ++rows.indptr[usize(r) + 1]; });
    });
    std::partial_sum(rows.indptr.begin(), rows.indptr.end(), rows.indptr.begin());
    rows.indices.resize(usize(rows.indptr.back()));
    rows.values.resize(rows.indices.size());
    parallel_chunks(threads, rows.rows, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            auto to = usize(rows.indptr[usize(r)]);
            for_entries(r, [&](std::size_t j) {
                rows.indices[to] = column_of(a.indices[j]);
                rows.values[to++] = a.values[j];
            });
        }
    });
}

constexpr auto all_kept = [](std::int32_t) { return true; };

}  // namespace

RowSample sample_runs(const Csr& a, const std::vector<std::int64_t>& cuts, std::int64_t every, std::int64_t least,
                      int threads, const std::vector<char>* kept) {
    const std::int64_t runs = std::ssize(cuts) - 1;
    const std::int64_t taken = std::min(runs, std::max(least, (runs + every - 1) / every));
    RowSample s;
    s.first = {0};
    std::vector<std::int64_t> row_at;
    for (std::int64_t i = 0; i < taken; ++i) {
        const auto k = usize((2 * i + 1) * runs / (2 * taken));
        for (std::int64_t r = cuts[k]; r < cuts[k + 1]; ++r) row_at.push_back(r);
        s.first.push_back(std::ssize(row_at));
    }
    s.rows.rows = s.first.back();
    s.rows.cols = a.cols;
    const auto at = [&](std::int64_t r) { return row_at[usize(r)]; };
    const auto same = [](std::int32_t c) { return c; };
    if (kept) {
        copy_rows(a, s.rows, threads, at, [&](std::int32_t c) { return (*kept)[usize(c)] != 0; }, same);
        s.times =
            static_cast<double>(a.nonzeros()) / static_cast<double>(std::max<std::int64_t>(1, s.rows.nonzeros()));
    } else {
        copy_rows(a, s.rows, threads, at, all_kept, same);
        s.times = work(a) / std::max(1.0, work(s.rows));
    }
    return s;
}

RowSample sample_positions(const Csr& a, const std::vector<std::int32_t>& vertex_at, std::int64_t runs,
                           std::int64_t of_rows, int threads) {
    const std::int64_t length = std::max<std::int64_t>(1, std::min(of_rows, a.rows) / runs);
    std::vector<std::int32_t> position(vertex_at.size());
    for (std::size_t p = 0; p < vertex_at.size(); ++p)
        position[usize(vertex_at[p])] = static_cast<std::int32_t>(p);
    RowSample s;
    for (std::int64_t i = 0; i <= runs; ++i) s.first.push_back(i * length);
    const auto at = [&](std::int64_t r) {
        const std::int64_t run = r / length, begin = (a.rows - length) * (2 * run + 1) / (2 * runs);
        return vertex_at[usize(begin + r % length)];
    };
    s.rows.rows = s.first.back();
    s.rows.cols = a.cols;
    copy_rows(a, s.rows, threads, at, all_kept, [&](std::int32_t c) { return position[usize(c)]; });
    s.times = work(a) / std::max(1.0, work(s.rows));
    return s;
}

}  // namespace gnnbench::cpu
