#include "row_sample.hpp"

#include <algorithm>

#include <gnnbench/usize.hpp>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// Work of rows: each costs about two nonzeros.
double work(const Csr& a) { return static_cast<double>(a.nonzeros() + 2 * a.rows); }

/// Row row_at(r) of a as row r of `rows`, whose indptr and arrays have their sizes; columns through column_of.
void copy_rows(const Csr& a, Csr& rows, int threads, auto&& row_at, auto&& column_of) {
    parallel_chunks(threads, rows.rows, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            auto to = usize(rows.indptr[usize(r)]);
            const auto from = usize(row_at(r));
            for (auto j = usize(a.indptr[from]); j < usize(a.indptr[from + 1]); ++j, ++to) {
                rows.indices[to] = column_of(a.indices[j]);
                rows.values[to] = a.values[j];
            }
        }
    });
}

/// Sizes of the sample, from the rows that it has.
void size_rows(const Csr& a, RowSample& s, auto&& row_at) {
    Csr& rows = s.rows;
    rows.rows = s.first.back();
    rows.cols = a.cols;
    rows.indptr.assign(usize(rows.rows) + 1, 0);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const auto from = usize(row_at(r));
        rows.indptr[usize(r) + 1] = rows.indptr[usize(r)] + a.indptr[from + 1] - a.indptr[from];
    }
    rows.indices.resize(usize(rows.indptr.back()));
    rows.values.resize(rows.indices.size());
    s.times = work(a) / std::max(1.0, work(rows));
}

}  // namespace

RowSample sample_runs(const Csr& a, const std::vector<std::int64_t>& cuts, std::int64_t every, std::int64_t least,
                      int threads) {
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
    const auto at = [&](std::int64_t r) { return row_at[usize(r)]; };
    size_rows(a, s, at);
    copy_rows(a, s.rows, threads, at, [](std::int32_t c) { return c; });
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
    size_rows(a, s, at);
    copy_rows(a, s.rows, threads, at, [&](std::int32_t c) { return position[usize(c)]; });
    return s;
}

}  // namespace gnnbench::cpu
