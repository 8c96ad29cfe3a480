#pragma once
#include "attention.hpp"

/// Dynamic attention by its formulas (gnnbench/verbs/dynamic_attention.hpp), in float64, an entry after another.

namespace gnnbench::reference {

/// Of entry (i, j) and a head: e_ij. s and t: the rows s_i and t_j.
template <class T>
double dynamic_score(const AttentionHeads& shape, ConstMatrixView vector, const T* s, const T* t,
                     std::int64_t head) {
    double score = 0;
    for (std::int64_t c = head; c < vector.cols; c += shape.heads)
        score += at<T>(vector, 0, c) * leaky(double{s[c]} + double{t[c]}, shape.slope);
    return score;
}

template <class T>
void dynamic_attend(const verb::DynamicAttend& v) {
    const auto& a = static_cast<const PlainMatrix<T>&>(v.a);
    const std::int64_t w = v.b.cols, heads = v.shape.heads;
    const double none = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t h = 0; h < heads; ++h) {
            double top = v.stage.first ? none : at<T>(v.rows.maxima, i, h);
            double sum = v.stage.first ? 0 : at<T>(v.rows.sums, i, h);
            std::vector<double> z;
            for (std::int64_t c = h; c < w; c += heads) z.push_back(v.stage.first ? 0 : at<T>(v.rows.z, i, c));
            for (auto k = usize(a.indptr[usize(i)]); k < usize(a.indptr[usize(i) + 1]); ++k) {
                const std::int64_t j = a.indices[k];
                const double e = dynamic_score<T>(v.shape, v.vector, &at<T>(v.s, i, 0), &at<T>(v.b, j, 0), h);
                if (e > top) {
                    const double shrink = std::exp(top - e);
                    top = e;
                    sum *= shrink;
                    for (double& x : z) x *= shrink;
                }
                const double p = a.values[k] * std::exp(e - top);
                const double m = kept(v.shape, a.row_vertices, i, a.col_vertices, j, h);
                sum += p;
                for (std::size_t n = 0; n < z.size(); ++n)
                    z[n] += m * p * at<T>(v.b, j, h + static_cast<std::int64_t>(n) * heads);
            }
            const double scale = !v.stage.last ? 1 : sum == 0 ? 0 : 1 / sum;
            for (std::size_t n = 0; n < z.size(); ++n)
                at<T>(v.rows.z, i, h + static_cast<std::int64_t>(n) * heads) = static_cast<T>(z[n] * scale);
            at<T>(v.rows.sums, i, h) = static_cast<T>(sum);
            at<T>(v.rows.maxima, i, h) = static_cast<T>(!v.stage.last ? top : sum == 0 ? 0 : top + std::log(sum));
        }
}

template <class T>
void dynamic_backward(const verb::DynamicBackward& v) {
    const auto& a = static_cast<const PlainMatrix<T>&>(v.a);
    const bool of_rows = v.side == AttentionSide::rows;
    const std::int64_t w = v.slopes.cols, heads = v.shape.heads;
    std::vector<double> slopes(usize(w)), sums(usize(w));
    for (std::int64_t r = 0; r < a.rows; ++r) {
        for (std::int64_t c = 0; c < w; ++c) {
            slopes[usize(c)] = v.stage.first ? 0 : at<T>(v.slopes, r, c);
            sums[usize(c)] = v.stage.first || of_rows ? 0 : at<T>(v.sums, r, c);
        }
        for (auto k = usize(a.indptr[usize(r)]); k < usize(a.indptr[usize(r) + 1]); ++k) {
            const std::int64_t other = a.indices[k];
            const T *own = &at<T>(v.own, r, 0), *received = &at<T>(v.b, other, 0);
            const T *g = of_rows ? own : received, *s = g + w, *log_sum = s + w, *given = log_sum + heads,
                    *t = of_rows ? received : own;
            for (std::int64_t h = 0; h < heads; ++h) {
                const double e = dynamic_score<T>(v.shape, v.vector, s, t, h);
                const double alpha = a.values[k] * std::exp(e - double{log_sum[h]});
                const double m = of_rows ? kept(v.shape, a.row_vertices, r, a.col_vertices, other, h)
                                         : kept(v.shape, a.col_vertices, other, a.row_vertices, r, h);
                double dot = 0;
                for (std::int64_t c = h; c < w; c += heads) dot += double{g[c]} * double{t[c]};
                const double de = alpha * (m * dot - double{given[h]});
                for (std::int64_t c = h; c < w; c += heads) {
                    slopes[usize(c)] += de * leaky_derivative(double{s[c]} + double{t[c]}, v.shape.slope);
                    sums[usize(c)] += m * alpha * double{g[c]};
                }
            }
        }
        for (std::int64_t c = 0; c < w; ++c) {
            at<T>(v.slopes, r, c) = static_cast<T>(slopes[usize(c)]);
            if (!of_rows) at<T>(v.sums, r, c) = static_cast<T>(sums[usize(c)]);
        }
    }
}

}  // namespace gnnbench::reference
