// Faults of graph attention's verbs.
#include <algorithm>
#include <cmath>

#include "check/host_copy.hpp"
#include "faults/faulty_backend.hpp"

namespace gnnbench::faults {
namespace {

double leaky(double x, double slope) { return x > 0 ? x : slope * x; }

}  // namespace

/// What earlier stages summed up, as much larger as a later block's largest score will make it smaller.
/// score(row, column, head): of an entry.
template <class Score>
void FaultyBackend::undo_rescale(const PreparedMatrix& of, const AttentionRows& rows, const Score& score) {
    const Csr& a = csr_.at(&of);
    const HostMatrix tops = read_view(inner(), rows.maxima);
    const std::int64_t heads = tops.cols;
    HostMatrix growth(a.rows, heads);
    for (std::int64_t r = 0; r < a.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            double top = tops(r, h);
            for (auto k = a.indptr[static_cast<std::size_t>(r)]; k < a.indptr[static_cast<std::size_t>(r) + 1];
                 ++k)
                top = std::max(top, score(r, a.indices[static_cast<std::size_t>(k)], h));
            growth(r, h) = std::isfinite(tops(r, h)) ? std::exp(top - tops(r, h)) : 1;
        }
    for (const MatrixView& m : {rows.z, rows.slopes, rows.sums, rows.slope_sums}) {
        if (m.cols == 0) continue;
        HostMatrix values = read_view(inner(), m);
        for (std::int64_t r = 0; r < m.rows; ++r) {
            for (std::int64_t c = 0; c < m.cols; ++c) values(r, c) *= growth(r, c % heads);
            write_row(m, r, &values(r, 0));
        }
    }
}

void FaultyBackend::perform(const verb::Attend& v) {
    verb::Attend changed = v;
    if (fault_ == Fault::score_slope) changed.shape.slope = leaky_slope;
    if (fault_ == Fault::softmax_of_block) changed.stage.first = true;
    if (fault_ == Fault::rescale_forgotten && !v.stage.first) {
        const HostMatrix b = read_view(inner(), v.b), l = read_view(inner(), v.l);
        undo_rescale(v.a, v.rows, [&](std::int64_t i, std::int64_t j, std::int64_t h) {
            return leaky(l(i, h) + b(j, v.rows.z.cols + h), v.shape.slope);
        });
    }
    inner().run(changed);
}

void FaultyBackend::perform(const verb::DynamicAttend& v) {
    verb::DynamicAttend changed = v;
    if (fault_ == Fault::score_slope) changed.shape.slope = leaky_slope;
    if (fault_ == Fault::softmax_of_block) changed.stage.first = true;
    if (fault_ == Fault::rescale_forgotten && !v.stage.first) {
        const HostMatrix vector = read_view(inner(), v.vector), t = read_view(inner(), v.b),
                         s = read_view(inner(), v.s);
        undo_rescale(v.a, v.rows, [&](std::int64_t i, std::int64_t j, std::int64_t h) {
            double score = 0;
            for (std::int64_t c = h; c < s.cols; c += v.shape.heads)
                score += vector(0, c) * leaky(s(i, c) + t(j, c), v.shape.slope);
            return score;
        });
    }
    inner().run(changed);
}

/// The rows [G, …, D] with zeros for D.
Matrix FaultyBackend::without_given(ConstMatrixView rows, std::int64_t heads) {
    HostMatrix values = read_view(inner(), rows);
    for (std::int64_t r = 0; r < values.rows; ++r)
        for (std::int64_t c = values.cols - heads; c < values.cols; ++c) values(r, c) = 0;
    Matrix without = inner().matrix(rows.rows, rows.cols);
    inner().upload(std::span<const double>(values.values), without);
    return without;
}

void FaultyBackend::perform(const verb::AttendBackward& v) {
    verb::AttendBackward changed = v;
    if (fault_ == Fault::mask_left_out) changed.shape.dropout = {};
    if (fault_ != Fault::given_left_out) return inner().run(changed);
    const Matrix without = without_given(v.b, v.shape.heads);
    changed.b = without;
    inner().run(changed);
    inner().synchronize(StreamRole::compute);
}

void FaultyBackend::perform(const verb::DynamicBackward& v) {
    const bool of_rows = v.side == AttentionSide::rows;
    verb::DynamicBackward changed = v;
    if (fault_ == Fault::mask_left_out) changed.shape.dropout = {};
    if (fault_ != Fault::given_left_out) {
        inner().run(changed);
        if (fault_ == Fault::row_left_out && of_rows) inner().fill(v.slopes, 0);
        return;
    }
    const Matrix without = without_given(of_rows ? v.own : v.b, v.shape.heads);
    (of_rows ? changed.own : changed.b) = without;
    inner().run(changed);
    inner().synchronize(StreamRole::compute);
}

void FaultyBackend::perform(const verb::HeadDots& v) {
    inner().run(v);
    if (fault_ != Fault::heads_exchanged || v.out.cols < 2) return;
    const HostMatrix found = read_view(inner(), v.out);
    for (std::int64_t r = 0; r < found.rows; ++r) {
        std::vector<double> row(found.values.begin() + r * found.cols,
                                found.values.begin() + (r + 1) * found.cols);
        std::swap(row[0], row[1]);
        write_row(v.out, r, row.data());
    }
}

void FaultyBackend::perform(const verb::Copy& v) {
    inner().run(v);
    if (fault_ == Fault::given_after_residual) copied_.insert_or_assign(v.to.data, v.from);
}

/// Where a layer adds its residual to a copy of Z, adds it to Z, too, of which the backward pass makes D. That verb's own
/// result is right, as is ⟨G, Z⟩ of such operands: a check that recomputes verbs has nothing to find.
void FaultyBackend::add_residual(const verb::Gemm& v) {
    const auto z = copied_.find(v.c.data);
    if (z == copied_.end() || v.s.beta != 1 || v.ta == Transpose::yes || v.tb == Transpose::yes) return;
    const ConstMatrixView& from = z->second;
    const MatrixView written{const_cast<void*>(from.data), from.rows, from.cols, from.ld, from.dtype};
    inner().gemm(v.ta, v.a, v.tb, v.b, written, v.s);
    copied_.erase(z);
}

}  // namespace gnnbench::faults
