#include "attention_tiled.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

#include "row_operations.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

template <class T>
bool suits(std::int64_t heads, double slope) {
    return slope >= 0 && slope <= 1 && tiled_attention_operations<T>().serves(heads);
}

ConstMatrixView columns_of(ConstMatrixView m, std::int64_t first, std::int64_t count) {
    const auto* p = static_cast<const std::byte*>(m.data);
    return {p ? p + usize(first) * size_of(m.dtype) : p, m.rows, count, m.ld, m.dtype};
}

/// The smallest and the largest of each head: [2H].
template <class T>
std::vector<T> extremes(ConstMatrixView scores, int threads) {
    const auto heads = usize(scores.cols);
    constexpr std::int64_t run = 1 << 13;
    const std::int64_t runs = (scores.rows + run - 1) / run;
    std::vector<T> each(usize(runs) * 2 * heads);
    parallel_chunks(threads, scores.rows, run, [&](std::int64_t begin, std::int64_t end) {
        tiled_attention_operations<T>().extremes(scores, {begin, end},
                                                 each.data() + usize(begin / run) * 2 * heads);
    });
    std::vector<T> all(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(std::min(each.size(), 2 * heads)));
    all.resize(2 * heads);
    for (std::size_t i = 1; i < usize(runs); ++i)
        for (std::size_t k = 0; k < heads; ++k) {
            all[k] = std::min(all[k], each[i * 2 * heads + k]);
            all[heads + k] = std::max(all[heads + k], each[i * 2 * heads + heads + k]);
        }
    return all;
}

/// Whether some head's numbers lie too far apart, or are none.
template <class T>
bool far_apart(const std::vector<T>& extremes) {
    const std::size_t heads = extremes.size() / 2;
    for (std::size_t k = 0; k < heads; ++k)
        if (!(extremes[heads + k] - extremes[k] <= T{widest_range})) return true;
    return false;
}

/// Runs the pass over `width` columns of b, panel by panel.
template <class T>
void run_panels(TiledPass<T>& pass, ConstMatrixView b, std::int64_t width, bool needs_row_tops, T* shared,
                int threads, Workspace& workspace) {
    const TiledMatrix<T>& a = pass.a;
    const auto& operations = tiled_attention_operations<T>();
    const std::vector<Panel> panels = cut_columns(width, widest_attended);
    T* const table = shared;
    T* const row_tops = table + a.cols * 4 * pass.heads;
    T* const packed = row_tops + (needs_row_tops ? (a.rows * pass.heads + 15) / 16 * 16 : 0);
    pass.table = table;
    pass.packed = packed;
    parallel_ranges(threads, a.cols, 1 << 10,
                    [&](std::int64_t begin, std::int64_t end) { operations.table(pass, b, {begin, end}, table); });
    if (needs_row_tops) {
        parallel_chunks(threads, a.chunks(), 1,
                        [&](std::int64_t k, std::int64_t) { operations.row_tops(pass, k, row_tops); });
        pass.row_tops = row_tops;
    }
    for (const Panel& panel : panels) {
        pass.panel = panel;
        pass.last_panel = &panel == &panels.back();
        pack_rows(b, a.column_at.data(), a.cols, panel, threads, packed);
#pragma omp parallel num_threads(threads) if (threads > 1)
        {
            T* room = workspace.of_thread<T>(omp_get_thread_num(), usize(a.widest_chunk * operations.room(pass)));
#pragma omp for schedule(dynamic)
            for (std::int64_t chunk = 0; chunk < a.chunks(); ++chunk) operations.chunk(pass, chunk, room);
        }
    }
}

template <class T>
T* shared_room(const TiledMatrix<T>& a, std::int64_t heads, std::int64_t width, bool row_tops,
               Workspace& workspace) {
    const std::int64_t widest = widest_of(cut_columns(width, widest_attended));
    return workspace.shared<T>(
        usize(a.cols * (4 * heads + widest) + (row_tops ? (a.rows * heads + 15) / 16 * 16 : 0)));
}

}  // namespace

template <class T>
bool attend_tiled(const TiledMatrix<T>& a, const EntryMask& dropout, const verb::Attend& v, int threads,
                  Workspace& workspace) {
    const std::int64_t heads = v.shape.heads, width = v.rows.z.cols;
    if (!suits<T>(heads, v.shape.slope)) return false;
    const std::vector<T> r = extremes<T>(columns_of(v.b, width, heads), threads);
    TiledPass<T> pass{
        .a = a,
        .dropout = dropout,
        .heads = heads,
        .slope = static_cast<T>(v.shape.slope),
        .sums = v.rows.slopes.cols > 0 ? AttentionSums::forward : AttentionSums::forward_without_slopes,
        .exact = far_apart(r),
        .tops = r.data() + heads,
        .stage = v.stage,
        .own = v.l,
        .rows = v.rows};
    const bool row_tops = pass.exact || !v.stage.first || !v.stage.last;
    T* const shared = shared_room(a, heads, width, row_tops, workspace);
    run_panels(pass, v.b, width, row_tops, shared, threads, workspace);
    return true;
}

template <class T>
bool attend_backward_tiled(const TiledMatrix<T>& a, const EntryMask& dropout, const verb::AttendBackward& v,
                           int threads, Workspace& workspace) {
    const std::int64_t heads = v.shape.heads, width = v.own.cols - heads;
    if (!suits<T>(heads, v.shape.slope)) return false;
    const std::vector<T> r = extremes<T>(columns_of(v.own, width, heads), threads);
    TiledPass<T> pass{.a = a,
                      .dropout = dropout,
                      .heads = heads,
                      .slope = static_cast<T>(v.shape.slope),
                      .sums = AttentionSums::backward,
                      .exact = far_apart(r),
                      .tops = r.data() + heads,
                      .stage = v.stage,
                      .own = v.own,
                      .c = v.c};
    T* const shared = shared_room(a, heads, width, false, workspace);
    run_panels(pass, v.b, width, false, shared, threads, workspace);
    return true;
}

template bool attend_tiled<float>(const TiledMatrix<float>&, const EntryMask&, const verb::Attend&, int,
                                  Workspace&);
template bool attend_tiled<double>(const TiledMatrix<double>&, const EntryMask&, const verb::Attend&, int,
                                   Workspace&);
template bool attend_backward_tiled<float>(const TiledMatrix<float>&, const EntryMask&,
                                           const verb::AttendBackward&, int, Workspace&);
template bool attend_backward_tiled<double>(const TiledMatrix<double>&, const EntryMask&,
                                            const verb::AttendBackward&, int, Workspace&);

}  // namespace gnnbench::cpu
