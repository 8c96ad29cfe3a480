#include "calibrate/attention_walks.hpp"

#include <algorithm>
#include <utility>

namespace gnnbench {

AttentionWalks::AttentionWalks(Backend& backend, const Csr& entries)
    : backend_(backend), entries_(backend.prepare(entries)) {
    constexpr std::int64_t h = heads, w = 16 * h;
    const std::int64_t m = entries.rows;
    const PreparedMatrix& a = *entries_;
    const AttentionHeads shape{.heads = heads};
    // All numbers are the same: which entry of a row is the largest does not matter to a walk.
    const MatrixView b = matrix(entries.cols, 2 * w + 2 * h), own = matrix(m, 2 * w + 2 * h), l = matrix(m, h),
                     vector = matrix(1, w), z = matrix(m, w), slopes = matrix(m, w), maxima = matrix(m, h),
                     sums = matrix(m, h), slope_sums = matrix(m, h), c = matrix(m, w + h);
    const MatrixView none{nullptr, m, 0, 0, DType::f32};
    namespace each = entry_operations;
    gat_ = {walk(w + h, each::attend(w, h, true), 2 * w + 4 * h,
                 [=, this, &a] {
                     backend_.attend(a, shape, b.cols_from(0, w + h), l, {z, slopes, maxima, sums, slope_sums},
                                     {});
                 }),
            walk(w + 3 * h, each::attend_backward(w, h), 2 * (w + h), [=, this, &a] {
                backend_.attend_backward(a, shape, b.cols_from(0, w + 3 * h), own.cols_from(0, w + h), c, {});
            })};
    gatv2_ = {walk(w, each::dynamic_attend(w), 2 * w + 2 * h,
                   [=, this, &a] {
                       backend_.dynamic_attend(a, shape, vector, b.cols_from(0, w), own.cols_from(0, w),
                                               {z, none, maxima, sums, none}, {});
                   }),
              walk(w, each::dynamic_backward_rows(w), 3 * w + 2 * h,
                   [=, this, &a] {
                       backend_.dynamic_backward_rows(a, shape, vector, b.cols_from(0, w), own, slopes, {});
                   }),
              walk(2 * w + 2 * h, each::dynamic_backward_neighbours(w), 3 * w, [=, this, &a] {
                  backend_.dynamic_backward_neighbours(a, shape, vector, b, own.cols_from(0, w), slopes, z, {});
              })};
}

MatrixView AttentionWalks::matrix(std::int64_t rows, std::int64_t cols) {
    memory_.push_back(backend_.matrix(rows, cols));
    backend_.fill(memory_.back(), 0.5);
    return memory_.back().view();
}

AttentionWalks::Walk AttentionWalks::walk(std::int64_t width, double operations, std::int64_t row_columns,
                                          std::function<void()> run) {
    const MatrixView b = matrix(entries_->cols, width), c = matrix(entries_->rows, width);
    const std::int64_t beyond =
        std::max<std::int64_t>(0, row_columns - width);  // columns that the product has not
    return {.run = std::move(run),
            .product = [this, b, c] { backend_.spmm(*entries_, b, c); },
            .sample = {.operations = operations * static_cast<double>(entries_->nonzeros),
                       .in_order_bytes = 4 * static_cast<double>(entries_->rows * beyond)}};
}

}  // namespace gnnbench
