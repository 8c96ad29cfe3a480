#include "attended_copies.hpp"

#include <algorithm>
#include <array>

#include <gnnbench/usize.hpp>

namespace gnnbench::dist {
namespace {

constexpr int all_rows = 0;  ///< the one bin

std::int64_t most_heads(const LayerPlan& plan) {
    std::int64_t most = 0;
    for (const auto& layer : plan.layers)
        most = std::max<std::int64_t>(most, layer->spec().attention->shape.heads);
    return most;
}

std::int64_t columns_of(std::span<const MatrixView> matrices) {
    std::int64_t columns = 0;
    for (const MatrixView& m : matrices) columns += m.cols;
    return columns;
}

}  // namespace

AttendedCopies::AttendedCopies(Backend& backend, CopyExchange& exchange, const HeldCopies& copies,
                               const Adjacency& a, const GraphView& graph, const LayerPlan& plan)
    : backend_(backend),
      exchange_(exchange),
      copies_(copies),
      rows_(backend.matrix(copies.rows(), widest(plan))),
      zeros_(backend.matrix(copies.roots(), most_heads(plan))),
      room_(backend.matrix(copies.roots(), most_heads(plan))) {
    backend_.fill(zeros_.view(), 0);
    Csr nothing;
    nothing.rows = copies.rows();
    nothing.indptr.assign(usize(nothing.rows) + 1, 0);
    nothing_ = backend_.prepare(nothing);
    merging_ = backend_.prepare_as_sized(copies.merging(a, graph));
}

std::int64_t AttendedCopies::widest(const LayerPlan& plan) {
    std::int64_t widest = 0;
    for (const auto& layer : plan.layers)
        for (const Direction d : {Direction::forward, Direction::backward}) {
            const CopiedColumns columns = layer->copied(d);
            widest = std::max({widest, columns.to_roots, columns.to_copies});
        }
    return widest;
}

void AttendedCopies::state_memory(MemoryStatement& m, const HeldCopies& copies, const LayerPlan& plan) {
    m.matrix(copies.rows(), widest(plan));
    m.matrix(copies.roots(), 2 * most_heads(plan));
}

void AttendedCopies::merge(const AttentionRows& sums) {
    const std::array added{sums.z, sums.slopes, sums.sums, sums.slope_sums};
    const std::int64_t heads = sums.maxima.cols, columns = columns_of(added), n = copies_.roots();
    const MatrixView rows = rows_.view().reshaped(copies_.rows(), columns + heads);
    const MatrixView weighted = rows.cols_from(0, columns), maxima = rows.cols_from(columns, heads);
    std::int64_t first = 0;
    for (const MatrixView& m : added) {
        if (m.cols > 0) backend_.copy(m, rows.cols_from(first, m.cols));
        first += m.cols;
    }
    backend_.copy(sums.maxima, maxima);

    const MatrixView lent = exchange_.room(all_rows, rows.cols);
    exchange_.collect(all_rows, exchange_.copies_of(rows, all_rows), lent);
    // λ(x) = x: each copy's score is its maximum. Their own number, the sum of weights, is of no use.
    const MatrixView none{nullptr, n, 0, 0, rows.dtype};
    const MatrixView counts = room_.view().reshaped(n, heads), zeros = zeros_.view().reshaped(n, heads);
    backend_.fill(counts, 0);
    backend_.attend(*merging_, {.heads = static_cast<int>(heads), .slope = 1}, lent, zeros,
                    {.z = weighted.rows_from(0, n),
                     .slopes = none,
                     .maxima = maxima.rows_from(0, n),
                     .sums = counts,
                     .slope_sums = none},
                    {.first = false, .last = false});

    first = 0;
    for (const MatrixView& m : added) {
        if (m.cols > 0) backend_.copy(weighted.cols_from(first, m.cols).rows_from(0, n), m.rows_from(0, n));
        first += m.cols;
    }
    backend_.copy(maxima.rows_from(0, n), sums.maxima.rows_from(0, n));
}

void AttendedCopies::copy_from_roots(std::span<const MatrixView> matrices) {
    const std::int64_t roots = copies_.roots(), copied = copies_.copies();
    const MatrixView rows = rows_.view().reshaped(copies_.rows(), columns_of(matrices));
    std::int64_t first = 0;
    for (const MatrixView& m : matrices) {
        backend_.copy(m.rows_from(0, roots), rows.cols_from(first, m.cols).rows_from(0, roots));
        first += m.cols;
    }
    exchange_.take_from_roots(all_rows, rows);
    first = 0;
    for (const MatrixView& m : matrices) {
        backend_.copy(rows.cols_from(first, m.cols).rows_from(roots, copied), m.rows_from(roots, copied));
        first += m.cols;
    }
}

ConstMatrixView AttendedCopies::summed(ConstMatrixView g) {
    const MatrixView rows = rows_.view().reshaped(g.rows, g.cols);
    backend_.copy(g, rows);
    exchange_.add_at_roots(all_rows, rows);
    exchange_.take_from_roots(all_rows, rows);
    return rows;
}

}  // namespace gnnbench::dist
