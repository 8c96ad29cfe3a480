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

namespace {

/// [rows × cols] of a matrix that belongs to a verb.
void require_shape(const char* verb, const char* what, ConstMatrixView m, std::int64_t rows, std::int64_t cols) {
    if (m.rows != rows || m.cols != cols)
        throw LogicError(fmt::format("{}: {} is {}, not {}x{}", verb, what, shape(m), rows, cols));
}

/// The width of heads together, w.
std::int64_t width_of(const char* verb, std::int64_t cols, std::int64_t heads, std::int64_t others) {
    const std::int64_t w = cols - others * heads;
    if (heads < 1 || w < heads || w % heads != 0)
        throw LogicError(fmt::format("{}: {} columns are no multiple of {} heads", verb, w, heads));
    return w;
}

}  // namespace

void Attend::check() const {
    const std::int64_t h = shape.heads, w = width_of("attend", b.cols, h, 1);
    require_shape("attend", "the operand", b, a.cols, w + h);
    require_shape("attend", "l", l, a.rows, h);
    require_shape("attend", "z", rows.z, a.rows, w);
    require_shape("attend", "the maxima", rows.maxima, a.rows, h);
    require_shape("attend", "the sums", rows.sums, a.rows, h);
    if (rows.slopes.cols == 0) return;
    require_shape("attend", "the slopes", rows.slopes, a.rows, w);
    require_shape("attend", "the sums of slopes", rows.slope_sums, a.rows, h);
}
std::vector<Operand> Attend::operands() const {
    std::vector<Operand> all{reads(b), reads(l)};
    for (const MatrixView& m : {rows.z, rows.slopes, rows.maxima, rows.sums, rows.slope_sums})
        if (!m.empty()) {
            if (!stage.first) all.push_back(reads(m));
            all.push_back(writes(m));
        }
    return all;
}
void DynamicAttend::check() const {
    const std::int64_t h = shape.heads, w = width_of("dynamic_attend", b.cols, h, 0);
    require_shape("dynamic_attend", "the operand", b, a.cols, w);
    require_shape("dynamic_attend", "the vector", vector, 1, w);
    require_shape("dynamic_attend", "s", s, a.rows, w);
    require_shape("dynamic_attend", "z", rows.z, a.rows, w);
    require_shape("dynamic_attend", "the maxima", rows.maxima, a.rows, h);
    require_shape("dynamic_attend", "the sums", rows.sums, a.rows, h);
    require(rows.slopes.cols == 0, "dynamic_attend: has no slopes");
}
std::vector<Operand> DynamicAttend::operands() const {
    std::vector<Operand> all{reads(vector), reads(b), reads(s)};
    for (const MatrixView& m : {rows.z, rows.maxima, rows.sums}) {
        if (!stage.first) all.push_back(reads(m));
        all.push_back(writes(m));
    }
    return all;
}
void DynamicBackward::check() const {
    const bool of_rows = side == AttentionSide::rows;
    const std::int64_t h = shape.heads, w = width_of("dynamic_backward", slopes.cols, h, 0);
    require_shape("dynamic_backward", "the operand", b, a.cols, of_rows ? w : 2 * w + 2 * h);
    require_shape("dynamic_backward", "what the rows have", own, a.rows, of_rows ? 2 * w + 2 * h : w);
    require_shape("dynamic_backward", "the vector", vector, 1, w);
    require_shape("dynamic_backward", "the slopes", slopes, a.rows, w);
    require_shape("dynamic_backward", "the sums", sums, a.rows, of_rows ? 0 : w);
}
std::vector<Operand> DynamicBackward::operands() const {
    std::vector<Operand> all{reads(vector), reads(b), reads(own)};
    for (const MatrixView& m : {slopes, sums})
        if (!m.empty()) {
            if (!stage.first) all.push_back(reads(m));
            all.push_back(writes(m));
        }
    return all;
}
void AttendBackward::check() const {
    const std::int64_t h = shape.heads, w = width_of("attend_backward", own.cols, h, 1);
    require_shape("attend_backward", "the operand", b, a.cols, w + 3 * h);
    require_shape("attend_backward", "what the rows have", own, a.rows, w + h);
    require_shape("attend_backward", "the result", c, a.rows, w + h);
}
void HeadDots::check() const {
    width_of("head_dots", x.cols, out.cols, 0);
    require_shape("head_dots", "y", y, y.rows == 1 ? 1 : x.rows, x.cols);
    require_shape("head_dots", "the result", out, x.rows, out.cols);
}
void HeadSums::check() const {
    width_of("head_sums", x.cols, s.cols, 0);
    require_shape("head_sums", "s", s, x.rows, s.cols);
    require_shape("head_sums", "the result", out, 1, x.cols);
}
void AddHeads::check() const {
    width_of("add_heads", y.cols, s.cols, 0);
    require_shape("add_heads", "s", s, y.rows, s.cols);
    require_shape("add_heads", "a", a, 1, y.cols);
}
void RescaleHeads::check() const {
    width_of("rescale_heads", y.cols, from.cols, 0);
    require_shape("rescale_heads", "from", from, y.rows, from.cols);
    require_shape("rescale_heads", "to", to, y.rows, from.cols);
}
void MeanOfHeads::check() const {
    width_of("mean_of_heads", x.cols, out.cols, 0);  // of d columns each: as many heads as w / d
    require(x.rows == out.rows, "mean_of_heads: numbers of rows differ");
}
void SpreadToHeads::check() const {
    width_of("spread_to_heads", out.cols, g.cols, 0);
    require(g.rows == out.rows, "spread_to_heads: numbers of rows differ");
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
