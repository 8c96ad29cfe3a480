// Whether the shapes of verbs' operands fit.
#include <gnnbench/verbs.hpp>

#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

std::string shape(ConstMatrixView m) { return fmt::format("{}x{}", m.rows, m.cols); }

void require_product(std::int64_t rows, std::int64_t cols, ConstMatrixView b, ConstMatrixView c) {
    if (b.rows != cols || c.rows != rows || b.cols != c.cols)
        throw LogicError(fmt::format("spmm: {}x{} times {} does not give {}", rows, cols, shape(b), shape(c)));
}

}  // namespace

PreparedMatrix::~PreparedMatrix() = default;

namespace verb {

void require_same_shape(const char* verb, ConstMatrixView a, ConstMatrixView b) {
    if (a.rows != b.rows || a.cols != b.cols)
        throw LogicError(fmt::format("{}: shapes {} and {} differ", verb, shape(a), shape(b)));
}

void Spmm::check() const { require_product(a.rows, a.cols, b, c); }
void SpmmUnprepared::check() const { require_product(a.rows, a.cols, b, c); }
void SpmmTransposed::check() const {
    require(a.multiplies_transposed, "spmm_transposed: the matrix was prepared for its own products only");
    require_product(a.cols, a.rows, b, c);
}

void Gemm::check() const {
    const auto [m, ka] = ta == Transpose::no ? std::pair(a.rows, a.cols) : std::pair(a.cols, a.rows);
    const auto [kb, n] = tb == Transpose::no ? std::pair(b.rows, b.cols) : std::pair(b.cols, b.rows);
    if (ka != kb || c.rows != m || c.cols != n)
        throw LogicError(fmt::format("gemm: {}{} times {}{} does not give {}", shape(a),
                                     ta == Transpose::yes ? "ᵀ" : "", shape(b), tb == Transpose::yes ? "ᵀ" : "",
                                     shape(c)));
}

void ColumnSums::check() const {
    require(out.rows == 1 && out.cols == g.cols, "column_sums: the result is one row as wide as the argument");
}

void SoftmaxCrossEntropy::check() const {
    require_same_shape("softmax_cross_entropy", logits, grad);
    require(!in.multi_label, "softmax_cross_entropy: the input has a label matrix");
}
void RowMaxima::check() const {
    require(maxima.rows == logits.rows && maxima.cols == 1, "row_maxima: one maximum per row");
}
void RowExpSums::check() const {
    require_same_shape("row_exp_sums", maxima, sums);
    require(sums.rows == logits.rows && sums.cols == 1, "row_exp_sums: one sum per row");
}
void SoftmaxCrossEntropyShard::check() const {
    require_same_shape("softmax_cross_entropy_shard", logits, grad);
    require_same_shape("softmax_cross_entropy_shard", maxima, sums);
    require(!in.multi_label, "softmax_cross_entropy_shard: the input has a label matrix");
}
void CountCorrect::check() const { require(!in.multi_label, "count_correct: the input has a label matrix"); }
void BinaryCrossEntropy::check() const {
    require_same_shape("binary_cross_entropy", logits, grad);
    require(in.multi_label, "binary_cross_entropy: the input has no label matrix");
}
void CountPositives::check() const { require(in.multi_label, "count_positives: the input has no label matrix"); }

void GatherRows::check() const { require(from.cols == to.cols, "gather_rows: widths differ"); }
void ScatterAddRows::check() const { require(from.cols == to.cols, "scatter_add_rows: widths differ"); }

}  // namespace verb
}  // namespace gnnbench
