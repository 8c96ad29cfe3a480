#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

#include "plain.hpp"

/// Attention by its formulas (gnnbench/verbs/attention.hpp), in float64, an entry after another.

namespace gnnbench::reference {

inline double leaky(double x, double slope) { return x > 0 ? x : slope * x; }
inline double leaky_derivative(double x, double slope) { return x > 0 ? 1 : slope; }

/// m_ij of a head; i: the place among `rows` of the vertex that attends, j: among `columns` of the other one.
inline double kept(const AttentionHeads& shape, const std::vector<GlobalId>& rows, std::int64_t i,
                   const std::vector<GlobalId>& columns, std::int64_t j, std::int64_t head) {
    if (!shape.dropout.active()) return 1;
    require(!rows.empty() && !columns.empty(), "attention drops entries by their vertices (Csr::row_vertices)");
    return shape.dropout.kept_share(value(rows[usize(i)]), value(columns[usize(j)]),
                                    static_cast<std::uint32_t>(head));
}

/// A row's sums for all heads, read from its views where the stage is not the first.
template <class T>
class RowSums {
public:
    RowSums(const verb::Attend& v, std::int64_t row)
        : v_(v), a_(static_cast<const PlainMatrix<T>&>(v.a)), row_(row), w_(v.rows.z.cols), heads_(v.shape.heads) {
        for (std::int64_t c = 0; c < w_; ++c) {
            z_.push_back(before(v.rows.z, c, 0));
            slopes_.push_back(before(v.rows.slopes, c, 0));
        }
        for (std::int64_t h = 0; h < heads_; ++h) {
            maxima_.push_back(before(v.rows.maxima, h, -std::numeric_limits<double>::infinity()));
            sums_.push_back(before(v.rows.sums, h, 0));
            slope_sums_.push_back(before(v.rows.slope_sums, h, 0));
        }
    }

    /// One more entry (row, j), of value a, for head h.
    void add(std::int64_t j, double a, std::int64_t h) {
        const double argument = at<T>(v_.l, row_, h) + double{at<T>(v_.b, j, w_ + h)};
        const double e = leaky(argument, v_.shape.slope), derivative = leaky_derivative(argument, v_.shape.slope);
        const auto head = usize(h);
        if (e > maxima_[head]) {
            const double shrink = std::exp(maxima_[head] - e);
            maxima_[head] = e;
            sums_[head] *= shrink;
            slope_sums_[head] *= shrink;
            for (std::int64_t c = h; c < w_; c += heads_) z_[usize(c)] *= shrink, slopes_[usize(c)] *= shrink;
        }
        const double p = a * std::exp(e - maxima_[head]);
        sums_[head] += p;
        slope_sums_[head] += p * derivative;
        const double m = kept(v_.shape, a_.row_vertices, row_, a_.col_vertices, j, h);
        for (std::int64_t c = h; c < w_; c += heads_) {
            z_[usize(c)] += m * p * at<T>(v_.b, j, c);
            slopes_[usize(c)] += m * p * derivative * at<T>(v_.b, j, c);
        }
    }

    /// Z, P and log Σ_j a_ij exp(e_ij).
    void complete() {
        for (std::int64_t h = 0; h < heads_; ++h) {
            const auto head = usize(h);
            const bool none = sums_[head] == 0;
            const double scale = none ? 0 : 1 / sums_[head], q = slope_sums_[head] * scale;
            for (std::int64_t c = h; c < w_; c += heads_) {
                z_[usize(c)] *= scale;
                slopes_[usize(c)] = slopes_[usize(c)] * scale - q * z_[usize(c)];
            }
            maxima_[head] = none ? 0 : maxima_[head] + std::log(sums_[head]);
        }
    }

    void store() const {
        for (std::int64_t c = 0; c < w_; ++c) after(v_.rows.z, c, z_), after(v_.rows.slopes, c, slopes_);
        for (std::int64_t h = 0; h < heads_; ++h) {
            after(v_.rows.maxima, h, maxima_);
            after(v_.rows.sums, h, sums_);
            after(v_.rows.slope_sums, h, slope_sums_);
        }
    }

private:
    double before(MatrixView m, std::int64_t c, double otherwise) const {
        return v_.stage.first || m.cols == 0 ? otherwise : double{at<T>(m, row_, c)};
    }
    void after(MatrixView m, std::int64_t c, const std::vector<double>& from) const {
        if (m.cols > 0) at<T>(m, row_, c) = static_cast<T>(from[usize(c)]);
    }

    const verb::Attend& v_;
    const PlainMatrix<T>& a_;
    std::int64_t row_, w_, heads_;
    std::vector<double> z_, slopes_, maxima_, sums_, slope_sums_;
};

template <class T>
void attend(const verb::Attend& v) {
    const auto& a = static_cast<const PlainMatrix<T>&>(v.a);
    for (std::int64_t r = 0; r < a.rows; ++r) {
        RowSums<T> row(v, r);
        for (auto k = usize(a.indptr[usize(r)]); k < usize(a.indptr[usize(r) + 1]); ++k)
            for (std::int64_t h = 0; h < v.shape.heads; ++h) row.add(a.indices[k], double{a.values[k]}, h);
        if (v.stage.last) row.complete();
        row.store();
    }
}

template <class T>
void attend_backward(const verb::AttendBackward& v) {
    const auto& a = static_cast<const PlainMatrix<T>&>(v.a);
    const std::int64_t heads = v.shape.heads, w = v.own.cols - heads;
    std::vector<double> row(usize(w + heads));
    for (std::int64_t j = 0; j < a.rows; ++j) {
        for (std::int64_t c = 0; c < w + heads; ++c) row[usize(c)] = v.stage.first ? 0 : double{at<T>(v.c, j, c)};
        for (auto k = usize(a.indptr[usize(j)]); k < usize(a.indptr[usize(j) + 1]); ++k) {
            const std::int64_t i = a.indices[k];
            for (std::int64_t h = 0; h < heads; ++h) {
                const double argument = at<T>(v.b, i, w + h) + double{at<T>(v.own, j, w + h)};
                const double alpha =
                    a.values[k] * std::exp(leaky(argument, v.shape.slope) - at<T>(v.b, i, w + heads + h));
                const double m = kept(v.shape, a.col_vertices, i, a.row_vertices, j, h);
                double dot = 0;
                for (std::int64_t c = h; c < w; c += heads) {
                    dot += at<T>(v.b, i, c) * double{at<T>(v.own, j, c)};
                    row[usize(c)] += m * alpha * at<T>(v.b, i, c);
                }
                row[usize(w + h)] += alpha * (m * dot - at<T>(v.b, i, w + 2 * heads + h)) *
                                     leaky_derivative(argument, v.shape.slope);
            }
        }
        for (std::int64_t c = 0; c < w + heads; ++c) at<T>(v.c, j, c) = static_cast<T>(row[usize(c)]);
    }
}

template <class T>
void head_dots(const verb::HeadDots& v) {
    for (std::int64_t r = 0; r < v.out.rows; ++r)
        for (std::int64_t h = 0; h < v.out.cols; ++h) {
            double sum = 0;
            for (std::int64_t c = h; c < v.x.cols; c += v.out.cols)
                sum += double{at<T>(v.x, r, c)} * at<T>(v.y, v.y.rows == 1 ? 0 : r, c);
            at<T>(v.out, r, h) = static_cast<T>(sum);
        }
}

template <class T>
void head_sums(const verb::HeadSums& v) {
    for (std::int64_t c = 0; c < v.x.cols; ++c) {
        double sum = 0;
        for (std::int64_t r = 0; r < v.x.rows; ++r) sum += double{at<T>(v.s, r, c % v.s.cols)} * at<T>(v.x, r, c);
        at<T>(v.out, 0, c) = static_cast<T>(sum);
    }
}

template <class T>
void add_heads(const verb::AddHeads& v) {
    for (std::int64_t r = 0; r < v.y.rows; ++r)
        for (std::int64_t c = 0; c < v.y.cols; ++c)
            at<T>(v.y, r, c) =
                static_cast<T>(at<T>(v.y, r, c) + double{at<T>(v.s, r, c % v.s.cols)} * at<T>(v.a, 0, c));
}

template <class T>
void rescale_heads(const verb::RescaleHeads& v) {
    for (std::int64_t r = 0; r < v.y.rows; ++r)
        for (std::int64_t c = 0; c < v.y.cols; ++c) {
            const double from = at<T>(v.from, r, c % v.from.cols), to = at<T>(v.to, r, c % v.from.cols);
            const double scale = std::isinf(from) ? 0 : std::exp(from - to);
            at<T>(v.y, r, c) = static_cast<T>(scale * at<T>(v.y, r, c));
        }
}

template <class T>
void mean_of_heads(const verb::MeanOfHeads& v) {
    const std::int64_t heads = v.x.cols / v.out.cols;
    for (std::int64_t r = 0; r < v.out.rows; ++r)
        for (std::int64_t k = 0; k < v.out.cols; ++k) {
            double sum = 0;
            for (std::int64_t h = 0; h < heads; ++h) sum += at<T>(v.x, r, k * heads + h);
            at<T>(v.out, r, k) = static_cast<T>(sum / static_cast<double>(heads));
        }
}

template <class T>
void spread_to_heads(const verb::SpreadToHeads& v) {
    const std::int64_t heads = v.out.cols / v.g.cols;
    for (std::int64_t r = 0; r < v.out.rows; ++r)
        for (std::int64_t c = 0; c < v.out.cols; ++c)
            at<T>(v.out, r, c) = static_cast<T>(at<T>(v.g, r, c / heads) / static_cast<double>(heads));
}

}  // namespace gnnbench::reference
