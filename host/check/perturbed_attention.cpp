// What rounding to float32 may do to attention.
#include <cmath>
#include <vector>

#include <gnnbench/usize.hpp>

#include "check/judge_dynamic_attention.hpp"
#include "check/kept_matrix.hpp"
#include "check/leaky_scores.hpp"
#include "check/perturbed_backend.hpp"

namespace gnnbench {
namespace {

double squared(double x) { return x * x; }

/// Squares of the relative errors of an exponential whose argument is a sum of numbers of this size.
double of_exponential(double size) { return squared(size) + squared(function_error); }

/// An entry of a row: its column, its weight p, what dropout multiplies it by, and the squares of the weight's errors.
struct Weighted {
    std::int64_t column;
    double weight, kept, errors;
};

}  // namespace

/// An element of Z is moved by Σ_j (α_ij h_j)² times the squares of its weight's error and of one rounding, and by one of
/// each partial sum, which are at most the sum of sizes; P likewise. Log sums are moved by the errors of their parts.
void PerturbedBackend::perform(const verb::Attend& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix b = read_view(inner(), v.b), l = read_view(inner(), v.l);
    inner().run(verb::Attend{*kept.prepared, v.shape, v.b, v.l, v.rows, v.stage});
    HostMatrix z = read_view(inner(), v.rows.z), slopes = read_view(inner(), v.rows.slopes),
               tops = read_view(inner(), v.rows.maxima), sums = read_view(inner(), v.rows.sums);
    const std::int64_t heads = v.shape.heads, w = z.cols;
    for (std::int64_t r = 0; r < z.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            const auto begin = usize(kept.csr.indptr[usize(r)]), end = usize(kept.csr.indptr[usize(r) + 1]);
            std::vector<Weighted> entries;
            entries.reserve(end - begin);
            for (auto k = begin; k < end; ++k) {
                const std::int64_t j = kept.csr.indices[k];
                const double e = leaky(l(r, h) + b(j, w + h), v.shape.slope);
                entries.push_back(
                    {j, kept.csr.values[k] * std::exp(e - tops(r, h)), kept_share(v.shape, kept.csr, r, j, h),
                     of_exponential(std::abs(l(r, h)) + std::abs(b(j, w + h)) + std::abs(tops(r, h))) + 2});
            }
            const auto squares_of = [&](std::int64_t c) {
                double squares = 0, size = 0;
                for (const auto& [j, p, m, errors] : entries) {
                    const double term = p * (c < 0 ? 1 : m * b(j, c)), of_mask = c < 0 || m == 1 ? 0 : 2;
                    size += std::abs(term);
                    squares += squared(term) * (errors + of_mask) + squared(size);
                }
                return squares;
            };
            // After the last stage tops are log sums, so p is α.
            const double of_sum = squares_of(-1);
            for (std::int64_t c = h; c < w; c += heads) {
                const double squares = squares_of(c);
                z(r, c) += own_() * unit_ * std::sqrt(squares + squared(z(r, c)) * (of_sum + 1));
                if (slopes.cols > 0) slopes(r, c) += own_() * unit_ * std::sqrt(squares + squared(z(r, c)));
            }
            if (v.stage.last)
                tops(r, h) += own_() * unit_ * std::sqrt(of_sum + 2 * squared(tops(r, h)));
            else
                sums(r, h) += own_() * unit_ * std::sqrt(of_sum);
        }
    write_view(inner(), z, v.rows.z);
    if (slopes.cols > 0) write_view(inner(), slopes, v.rows.slopes);
    if (v.stage.last)
        write_view(inner(), tops, v.rows.maxima);
    else
        write_view(inner(), sums, v.rows.sums);
}

void PerturbedBackend::perform(const verb::AttendBackward& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix b = read_view(inner(), v.b), own = read_view(inner(), v.own);
    inner().run(verb::AttendBackward{*kept.prepared, v.shape, v.b, v.own, v.c, v.stage});
    HostMatrix c = read_view(inner(), v.c);
    const std::int64_t heads = v.shape.heads, w = own.cols - heads;
    for (std::int64_t j = 0; j < c.rows; ++j)
        for (std::int64_t h = 0; h < heads; ++h) {
            std::vector<double> squares(usize(w / heads)), sizes(squares.size());
            double of_dr = 0, size_of_dr = 0;
            for (auto k = usize(kept.csr.indptr[usize(j)]); k < usize(kept.csr.indptr[usize(j) + 1]); ++k) {
                const std::int64_t i = kept.csr.indices[k];
                const double argument = b(i, w + h) + own(j, w + h), log_sum = b(i, w + heads + h);
                const double alpha = kept.csr.values[k] * std::exp(leaky(argument, v.shape.slope) - log_sum);
                const double m = kept_share(v.shape, kept.csr, j, i, h, true);
                const double relative =
                    of_exponential(std::abs(b(i, w + h)) + std::abs(own(j, w + h)) + std::abs(log_sum)) +
                    (m == 1 ? 2 : 4);
                double dot = 0, of_dot = 0;
                for (std::int64_t col = h, at = 0; col < w; col += heads, ++at) {
                    const double product = m * b(i, col) * own(j, col), term = m * alpha * b(i, col);
                    dot += product;
                    of_dot += squared(product) + squared(dot);
                    sizes[usize(at)] += term;
                    squares[usize(at)] += squared(term) * relative + squared(sizes[usize(at)]);
                }
                const double difference = dot - b(i, w + 2 * heads + h), de = alpha * difference;
                size_of_dr += de;
                of_dr += squared(alpha) * of_dot + squared(de) * (relative + 2) + squared(size_of_dr);
            }
            for (std::int64_t col = h, at = 0; col < w; col += heads, ++at)
                c(j, col) += own_() * unit_ * std::sqrt(squares[usize(at)]);
            c(j, w + h) += own_() * unit_ * std::sqrt(of_dr);
        }
    write_view(inner(), c, v.c);
}

/// As of static attention: an exponential by the errors of its argument, each partial sum by its own rounding.
void PerturbedBackend::perform(const verb::DynamicAttend& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     s = read_view(inner(), v.s);
    inner().run(verb::DynamicAttend{*kept.prepared, v.shape, v.vector, v.b, v.s, v.rows, v.stage});
    HostMatrix z = read_view(inner(), v.rows.z), tops = read_view(inner(), v.rows.maxima),
               sums = read_view(inner(), v.rows.sums);
    const std::int64_t heads = v.shape.heads, w = z.cols;
    for (std::int64_t r = 0; r < z.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            double of_sum = 0, total = 0;
            std::vector<double> squares(usize(w / heads)), sizes(squares.size());
            for (auto k = usize(kept.csr.indptr[usize(r)]); k < usize(kept.csr.indptr[usize(r) + 1]); ++k) {
                const std::int64_t j = kept.csr.indices[k];
                const EntryScore score = dynamic_score(v.shape, vector, s, r, 0, b, j, h);
                const double d = static_cast<double>(w) / static_cast<double>(heads), size = score.error / (d + 5);
                // After the last stage tops are log sums, so p is α.
                const double p = kept.csr.values[k] * std::exp(score.value - tops(r, h)),
                             m = kept_share(v.shape, kept.csr, r, j, h);
                const double errors = (d + 4) * squared(size) + squared(tops(r, h)) + squared(function_error) + 2;
                total += p;
                of_sum += squared(p) * errors + squared(total);
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    const double term = m * p * b(j, c);
                    sizes[usize(at)] += std::abs(term);
                    squares[usize(at)] += squared(term) * (errors + (m == 1 ? 0 : 2)) + squared(sizes[usize(at)]);
                }
            }
            for (std::int64_t c = h, at = 0; c < w; c += heads, ++at)
                z(r, c) += own_() * unit_ * std::sqrt(squares[usize(at)] + squared(z(r, c)) * (of_sum + 1));
            if (v.stage.last)
                tops(r, h) += own_() * unit_ * std::sqrt(of_sum + 2 * squared(tops(r, h)));
            else
                sums(r, h) += own_() * unit_ * std::sqrt(of_sum);
        }
    write_view(inner(), z, v.rows.z);
    if (v.stage.last)
        write_view(inner(), tops, v.rows.maxima);
    else
        write_view(inner(), sums, v.rows.sums);
}

void PerturbedBackend::perform(const verb::DynamicBackward& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     own = read_view(inner(), v.own);
    inner().run(
        verb::DynamicBackward{*kept.prepared, v.side, v.shape, v.vector, v.b, v.own, v.slopes, v.sums, v.stage});
    HostMatrix slopes = read_view(inner(), v.slopes), sums = read_view(inner(), v.sums);
    const bool of_rows = v.side == AttentionSide::rows;
    const std::int64_t heads = v.shape.heads, w = slopes.cols, d = w / heads;
    const DynamicEntries entries(v, kept.csr, vector, b, own);
    for (std::int64_t r = 0; r < slopes.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            std::vector<double> of_slopes(usize(d)), slope_sizes(usize(d)), of_sums(usize(d)), sum_sizes(usize(d));
            for (auto k = usize(kept.csr.indptr[usize(r)]); k < usize(kept.csr.indptr[usize(r) + 1]); ++k) {
                const DynamicEntry e = entries.entry(r, k, h);
                const double relative = squared(e.error) / static_cast<double>(d + 5) + 4,
                             of_dot = static_cast<double>(d) * squared(e.alpha * e.kept * e.dot_size);
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    const double derivative = entries.derivative(r, kept.csr.indices[k], c),
                                 term = e.de * derivative,
                                 of_g = e.kept * e.alpha * entries.g(r, kept.csr.indices[k], c);
                    slope_sizes[usize(at)] += term;
                    of_slopes[usize(at)] +=
                        squared(derivative) * of_dot + squared(term) * relative + squared(slope_sizes[usize(at)]);
                    sum_sizes[usize(at)] += of_g;
                    of_sums[usize(at)] += squared(of_g) * relative + squared(sum_sizes[usize(at)]);
                }
            }
            for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                slopes(r, c) += own_() * unit_ * std::sqrt(of_slopes[usize(at)]);
                if (!of_rows) sums(r, c) += own_() * unit_ * std::sqrt(of_sums[usize(at)]);
            }
        }
    write_view(inner(), slopes, v.slopes);
    if (!of_rows) write_view(inner(), sums, v.sums);
}

void PerturbedBackend::perform(const verb::HeadDots& v) {
    inner().run(v);
    const HostMatrix x = read_view(inner(), v.x), y = read_view(inner(), v.y);
    HostMatrix out = read_view(inner(), v.out);
    for (std::int64_t r = 0; r < out.rows; ++r)
        for (std::int64_t h = 0; h < out.cols; ++h) {
            double sum = 0, squares = 0;
            for (std::int64_t c = h; c < x.cols; c += out.cols) {
                const double product = x(r, c) * y(y.rows == 1 ? 0 : r, c);
                sum += product;
                squares += squared(product) + squared(sum);
            }
            out(r, h) += own_() * unit_ * std::sqrt(squares);
        }
    write_view(inner(), out, v.out);
}

void PerturbedBackend::perform(const verb::HeadSums& v) {
    inner().run(v);
    const HostMatrix s = read_view(inner(), v.s), x = read_view(inner(), v.x);
    HostMatrix out = read_view(inner(), v.out);
    for (std::int64_t c = 0; c < x.cols; ++c) {
        double sum = 0, squares = 0;
        for (std::int64_t r = 0; r < x.rows; ++r) {
            const double product = s(r, c % s.cols) * x(r, c);
            sum += product;
            squares += squared(product) + squared(sum);
        }
        out(0, c) += own_() * unit_ * std::sqrt(squares);
    }
    write_view(inner(), out, v.out);
}

void PerturbedBackend::perform(const verb::AddHeads& v) {
    inner().run(v);
    const HostMatrix s = read_view(inner(), v.s), a = read_view(inner(), v.a);
    HostMatrix y = read_view(inner(), v.y);
    for (std::int64_t r = 0; r < y.rows; ++r)
        for (std::int64_t c = 0; c < y.cols; ++c)
            y(r, c) += own_() * unit_ * std::hypot(s(r, c % s.cols) * a(0, c), y(r, c));
    write_view(inner(), y, v.y);
}

void PerturbedBackend::perform(const verb::RescaleHeads& v) {
    inner().run(v);
    const HostMatrix from = read_view(inner(), v.from), to = read_view(inner(), v.to);
    HostMatrix y = read_view(inner(), v.y);
    for (std::int64_t r = 0; r < y.rows; ++r)
        for (std::int64_t c = 0; c < y.cols; ++c) {
            if (y(r, c) == 0) continue;  // so where nothing was added up, and from is −∞
            const double argument = std::abs(from(r, c % from.cols) - to(r, c % from.cols));
            y(r, c) += own_() * unit_ * y(r, c) * std::sqrt(of_exponential(argument) + 1);
        }
    write_view(inner(), y, v.y);
}

void PerturbedBackend::perform(const verb::MeanOfHeads& v) {
    inner().run(v);
    const HostMatrix x = read_view(inner(), v.x);
    HostMatrix out = read_view(inner(), v.out);
    const std::int64_t heads = x.cols / out.cols;
    for (std::int64_t r = 0; r < out.rows; ++r)
        for (std::int64_t k = 0; k < out.cols; ++k) {
            double sum = 0, squares = 0;
            for (std::int64_t h = 0; h < heads; ++h) {
                sum += x(r, k * heads + h);
                squares += squared(sum);
            }
            out(r, k) +=
                own_() * unit_ * std::sqrt(squares / squared(static_cast<double>(heads)) + squared(out(r, k)));
        }
    write_view(inner(), out, v.out);
}

void PerturbedBackend::perform(const verb::SpreadToHeads& v) {
    inner().run(v);
    move_by(v.out, 1);
}

}  // namespace gnnbench
