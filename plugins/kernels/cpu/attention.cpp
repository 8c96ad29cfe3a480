#include "dynamic_attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention_tiled.hpp"
#include "prepared.hpp"
#include "row_operations.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

template <class T>
OrderedRows<T> rows_of(const PreparedMatrix& prepared) {
    const auto& a = static_cast<const CpuPrepared<T>&>(prepared);
    const FlatCsr<T>* const rows = a.rows_form();
    require(rows != nullptr, "attention goes by rows, and the matrix is in another format (KernelSetting::heads)");
    return {*rows, a.row_order()};
}

/// Of a block of A, or of Aᵀ, whose columns attend.
template <class T>
EntryMask mask_of(const AttentionHeads& shape, const PreparedMatrix& prepared, bool transposed) {
    const auto& a = static_cast<const CpuPrepared<T>&>(prepared);
    require(!shape.dropout.active() || a.nonzeros == 0 || a.row_vertices,
            "attention drops entries by their vertices, and the matrix was prepared without (Csr::row_vertices)");
    return {shape.dropout, transposed ? a.col_vertices : a.row_vertices,
            transposed ? a.row_vertices : a.col_vertices};
}

/// Runs of rows of about equal work, which threads take as they get free. `cols`: elements that an entry costs.
template <class T, class F>
void by_runs(const OrderedRows<T>& a, std::int64_t cols, int threads, F&& f) {
    const std::int64_t work = a.nonzeros() + 2 * a.rows;
    const std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 17) / cols);
    const std::int64_t runs = std::clamp<std::int64_t>(work / least, 1, std::int64_t{64} * threads);
    parallel_chunks(threads, runs, 1, [&](std::int64_t i, std::int64_t) {
        // In an order of their own, rows of many and of few entries are mixed.
        f(a.order ? RowRange{a.rows * i / runs, a.rows * (i + 1) / runs} : equal_work(a, i, runs));
    });
}

/// Ranges of rows of a dense matrix.
template <class F>
void by_rows(ConstMatrixView m, int threads, F&& f) {
    parallel_ranges(threads, m.rows, rows_for(1 << 14, m.cols),
                    [&](std::int64_t begin, std::int64_t end) { f(RowRange{begin, end}); });
}

}  // namespace

template <class T>
void attend(const verb::Attend& v, int threads, Workspace& workspace) {
    if (const auto* tiled = static_cast<const CpuPrepared<T>&>(v.a).tiled_form())
        if (attend_tiled(*tiled, mask_of<T>(v.shape, v.a, false), v, threads, workspace)) return;
    const AttendCall<T> call{rows_of<T>(v.a),
                             mask_of<T>(v.shape, v.a, false),
                             v.shape.heads,
                             static_cast<T>(v.shape.slope),
                             v.b,
                             v.l,
                             v.rows,
                             v.stage};
    by_runs(call.a, call.b.cols, threads, [&](RowRange rows) {
        if (!row_attention_operations<T>().attend(call, rows)) attention_operations<T>().attend(call, rows);
    });
}

template <class T>
void attend_backward(const verb::AttendBackward& v, int threads, Workspace& workspace) {
    if (const auto* tiled = static_cast<const CpuPrepared<T>&>(v.a).tiled_form())
        if (attend_backward_tiled(*tiled, mask_of<T>(v.shape, v.a, true), v, threads, workspace)) return;
    const AttendBackwardCall<T> call{rows_of<T>(v.a),
                                     mask_of<T>(v.shape, v.a, true),
                                     v.shape.heads,
                                     static_cast<T>(v.shape.slope),
                                     v.b,
                                     v.own,
                                     v.c,
                                     v.stage};
    by_runs(call.a, call.b.cols, threads, [&](RowRange rows) {
        if (!row_attention_operations<T>().attend_backward(call, rows))
            attention_operations<T>().attend_backward(call, rows);
    });
}

template <class T>
void dynamic_attend(const verb::DynamicAttend& v, int threads) {
    const DynamicAttendCall<T> call{.a = rows_of<T>(v.a),
                                    .dropout = mask_of<T>(v.shape, v.a, false),
                                    .heads = v.shape.heads,
                                    .slope = static_cast<T>(v.shape.slope),
                                    .vector = v.vector,
                                    .b = v.b,
                                    .s = v.s,
                                    .rows = v.rows,
                                    .stage = v.stage};
    const DynamicWalks<T>& walks = dynamic_walks<T>();
    const bool fast = walks.serves(call.heads, call.slope);
    if (const TiledMatrix<T>* const tiled = static_cast<const CpuPrepared<T>&>(v.a).tiled_form(); tiled && fast)
        return parallel_chunks(threads, tiled->chunks(), 1,
                               [&](std::int64_t k, std::int64_t) { walks.attend_tiled(call, *tiled, k); });
    const auto walk = fast ? walks.attend : dynamic_operations<T>().attend;
    by_runs(call.a, 2 * call.b.cols, threads, [&](RowRange rows) { walk(call, rows); });
}

template <class T>
void dynamic_backward(const verb::DynamicBackward& v, int threads) {
    const bool of_rows = v.side == AttentionSide::rows;
    const DynamicBackwardCall<T> call{.a = rows_of<T>(v.a),
                                      .dropout = mask_of<T>(v.shape, v.a, !of_rows),
                                      .of_rows = of_rows,
                                      .heads = v.shape.heads,
                                      .slope = static_cast<T>(v.shape.slope),
                                      .vector = v.vector,
                                      .b = v.b,
                                      .own = v.own,
                                      .slopes = v.slopes,
                                      .sums = v.sums,
                                      .first = v.stage.first};
    const DynamicWalks<T>& walks = dynamic_walks<T>();
    const bool fast = walks.serves(call.heads, call.slope);
    if (const TiledMatrix<T>* const tiled = static_cast<const CpuPrepared<T>&>(v.a).tiled_form(); tiled && fast)
        return parallel_chunks(threads, tiled->chunks(), 1,
                               [&](std::int64_t k, std::int64_t) { walks.backward_tiled(call, *tiled, k); });
    const auto walk = fast ? walks.backward : dynamic_operations<T>().backward;
    by_runs(call.a, 4 * v.slopes.cols, threads, [&](RowRange rows) { walk(call, rows); });
}

template <class T>
void head_dots(const verb::HeadDots& v, int threads) {
    by_rows(v.x, threads, [&](RowRange rows) { attention_operations<T>().head_dots(v, rows); });
}

template <class T>
void head_sums(const verb::HeadSums& v, int threads) {
    // As column sums: the same bits at any number of threads.
    constexpr std::int64_t run = 1 << 12;
    const std::int64_t runs = (v.x.rows + run - 1) / run;
    const auto cols = usize(v.x.cols);
    std::vector<double> sums(usize(runs) * cols);
    parallel_chunks(threads, v.x.rows, run, [&](std::int64_t begin, std::int64_t end) {
        attention_operations<T>().head_sums(v, {begin, end}, sums.data() + usize(begin / run) * cols);
    });
    for (std::size_t c = 0; c < cols; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < usize(runs); ++i) sum += sums[i * cols + c];
        row_of<T>(v.out, 0)[c] = static_cast<T>(sum);
    }
}

template <class T>
void add_heads(const verb::AddHeads& v, int threads) {
    by_rows(v.y, threads, [&](RowRange rows) { attention_operations<T>().add_heads(v, rows); });
}

template <class T>
void rescale_heads(const verb::RescaleHeads& v, int threads) {
    const std::int64_t heads = v.from.cols;
    by_rows(v.y, threads, [&](RowRange rows) {
        std::vector<T> scale(usize(heads));
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            const T *from = row_of<T>(v.from, r), *to = row_of<T>(v.to, r);
            for (std::int64_t h = 0; h < heads; ++h)
                scale[usize(h)] = std::isinf(from[h]) ? T{0} : std::exp(from[h] - to[h]);
            T* y = row_of<T>(v.y, r);
            for (std::int64_t c = 0; c < v.y.cols; c += heads)
                for (std::int64_t h = 0; h < heads; ++h) y[c + h] *= scale[usize(h)];
        }
    });
}

template <class T>
void mean_of_heads(const verb::MeanOfHeads& v, int threads) {
    const std::int64_t heads = v.x.cols / v.out.cols;
    const T share = T{1} / static_cast<T>(heads);
    by_rows(v.x, threads, [&](RowRange rows) {
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            const T* x = row_of<T>(v.x, r);
            T* out = row_of<T>(v.out, r);
            for (std::int64_t k = 0; k < v.out.cols; ++k) {
                T sum = 0;
                for (std::int64_t h = 0; h < heads; ++h) sum += x[k * heads + h];
                out[k] = sum * share;
            }
        }
    });
}

template <class T>
void spread_to_heads(const verb::SpreadToHeads& v, int threads) {
    const std::int64_t heads = v.out.cols / v.g.cols;
    const T share = T{1} / static_cast<T>(heads);
    by_rows(v.out, threads, [&](RowRange rows) {
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            for (std::int64_t k = 0; k < v.g.cols; ++k)
                std::fill_n(row_of<T>(v.out, r) + k * heads, heads, row_of<T>(v.g, r)[k] * share);
    });
}

#define GNNBENCH_ATTENTION_OF(T)                                                    \
    template void attend<T>(const verb::Attend&, int, Workspace&);                  \
    template void attend_backward<T>(const verb::AttendBackward&, int, Workspace&); \
    template void dynamic_attend<T>(const verb::DynamicAttend&, int);               \
    template void dynamic_backward<T>(const verb::DynamicBackward&, int);           \
    template void head_dots<T>(const verb::HeadDots&, int);                         \
    template void head_sums<T>(const verb::HeadSums&, int);                         \
    template void add_heads<T>(const verb::AddHeads&, int);                         \
    template void rescale_heads<T>(const verb::RescaleHeads&, int);                 \
    template void mean_of_heads<T>(const verb::MeanOfHeads&, int);                  \
    template void spread_to_heads<T>(const verb::SpreadToHeads&, int);
GNNBENCH_ATTENTION_OF(float)
GNNBENCH_ATTENTION_OF(double)
#undef GNNBENCH_ATTENTION_OF

}  // namespace gnnbench::cpu
