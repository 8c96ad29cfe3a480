// Dynamic attention: checked, perturbed, and with the sizes of its sums.
#include <cmath>
#include <vector>

#include <gnnbench/usize.hpp>

#include "check/checked_backend.hpp"
#include "check/gradient_sizes.hpp"
#include "check/judge_dynamic_attention.hpp"
#include "check/kept_matrix.hpp"
#include "check/leaky_scores.hpp"
#include "check/perturbed_backend.hpp"

namespace gnnbench {
namespace {

double squared_of(double x) { return x * x; }

}  // namespace

void CheckedBackend::judge(const verb::DynamicAttend& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     s = read_view(inner(), v.s);
    const HostRows before = v.stage.first ? HostRows() : HostRows(inner(), v.rows);
    inner().run(verb::DynamicAttend{*kept.prepared, v.shape, v.vector, v.b, v.s, v.rows, v.stage});
    const HostRows after(inner(), v.rows);
    Judgement j(*ledger_, "attention", subject_of(v));
    judge_dynamic(j, v, kept.csr, {vector, b, s, before, after, rounding_of(dtype())});
}

void CheckedBackend::judge(const verb::DynamicBackward& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     own = read_view(inner(), v.own),
                     slopes_before = v.stage.first ? HostMatrix() : read_view(inner(), v.slopes),
                     sums_before = v.stage.first ? HostMatrix() : read_view(inner(), v.sums);
    inner().run(
        verb::DynamicBackward{*kept.prepared, v.side, v.shape, v.vector, v.b, v.own, v.slopes, v.sums, v.stage});
    const HostMatrix slopes = read_view(inner(), v.slopes), sums = read_view(inner(), v.sums);
    Judgement j(*ledger_, "attention-backward", subject_of(v));
    judge_dynamic_backward(j, v, kept.csr,
                           {vector, b, own, slopes_before, sums_before, slopes, sums, rounding_of(dtype())});
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
                const double errors =
                    (d + 4) * squared_of(size) + squared_of(tops(r, h)) + squared_of(function_error) + 2;
                total += p;
                of_sum += squared_of(p) * errors + squared_of(total);
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    const double term = m * p * b(j, c);
                    sizes[usize(at)] += std::abs(term);
                    squares[usize(at)] +=
                        squared_of(term) * (errors + (m == 1 ? 0 : 2)) + squared_of(sizes[usize(at)]);
                }
            }
            for (std::int64_t c = h, at = 0; c < w; c += heads, ++at)
                z(r, c) += own_() * unit_ * std::sqrt(squares[usize(at)] + squared_of(z(r, c)) * (of_sum + 1));
            if (v.stage.last)
                tops(r, h) += own_() * unit_ * std::sqrt(of_sum + 2 * squared_of(tops(r, h)));
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
                const double relative = squared_of(e.error) / static_cast<double>(d + 5) + 4,
                             of_dot = static_cast<double>(d) * squared_of(e.alpha * e.kept * e.dot_size);
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    const double derivative = entries.derivative(r, kept.csr.indices[k], c),
                                 term = e.de * derivative,
                                 of_g = e.kept * e.alpha * entries.g(r, kept.csr.indices[k], c);
                    slope_sizes[usize(at)] += term;
                    of_slopes[usize(at)] += squared_of(derivative) * of_dot + squared_of(term) * relative +
                                            squared_of(slope_sizes[usize(at)]);
                    sum_sizes[usize(at)] += of_g;
                    of_sums[usize(at)] += squared_of(of_g) * relative + squared_of(sum_sizes[usize(at)]);
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

/// Of u and v: Σ α λ' (m Σ |G t| + |D|).
void GradientSizes::note(const verb::DynamicBackward& v) {
    const Csr& a = csr_.at(&v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     own = read_view(inner(), v.own);
    const DynamicEntries entries(v, a, vector, b, own);
    HostMatrix sizes(v.slopes.rows, v.slopes.cols);
    for (std::int64_t r = 0; r < sizes.rows; ++r)
        for (auto k = usize(a.indptr[usize(r)]); k < usize(a.indptr[usize(r) + 1]); ++k)
            for (std::int64_t h = 0; h < v.shape.heads; ++h) {
                const DynamicEntry e = entries.entry(r, k, h);
                for (std::int64_t c = h; c < sizes.cols; c += v.shape.heads)
                    sizes(r, c) += e.alpha * (e.kept * e.dot_size + std::abs(e.given)) *
                                   entries.derivative(r, a.indices[k], c);
            }
    sizes_[v.slopes.data] = std::move(sizes);
}

}  // namespace gnnbench
