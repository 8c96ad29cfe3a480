// Checks of attention, and of what is computed head by head.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/checked_backend.hpp"
#include "check/host_copy.hpp"
#include "check/kept_matrix.hpp"
#include "check/leaky_scores.hpp"

namespace gnnbench {
namespace {

/// A sum with what its roundings may make of it, beside those of adding up.
struct BoundedSum {
    double value = 0;
    double size = 0;   ///< Σ of the terms' sizes
    double error = 0;  ///< Σ of the terms' own errors, in u
    void add(double term, double error_of_term) {
        value += term;
        size += std::abs(term);
        error += std::abs(term) * error_of_term;
    }
    double bound(const Rounding& rounding, double terms) const {
        return rounding.gamma(terms + 4) * size + rounding.unit * error + (terms + 4) * rounding.smallest;
    }
};

/// A row of one head, from the operands as the back end got them.
class HeadRow {
public:
    HeadRow(const verb::Attend& v, const KeptMatrix& a, const HostMatrix& b, const HostMatrix& l, std::int64_t row,
            std::int64_t head)
        : v_(v), b_(b), row_(row), head_(head), l_(l(row, head)), w_(v.rows.z.cols) {
        for (auto k = usize(a.csr.indptr[usize(row)]); k < usize(a.csr.indptr[usize(row) + 1]); ++k)
            entries_.push_back({a.csr.indices[k], a.csr.values[k]});
    }

    std::int64_t count() const { return std::ssize(entries_); }
    double argument(std::size_t k) const { return l_ + b_(entries_[k].column, w_ + head_); }
    double score(std::size_t k) const { return leaky(argument(k), v_.shape.slope); }
    /// The sizes that a weight's exponent is made of: each rounds it by as many u.
    double exponent_size(std::size_t k, double top) const {
        return 2 * (std::abs(l_) + std::abs(b_(entries_[k].column, w_ + head_))) + std::abs(top);
    }
    double weight(std::size_t k, double top) const { return entries_[k].value * std::exp(score(k) - top); }

    /// Σ p x_j, or Σ p λ' x_j, after what earlier stages summed up, whose maximum was `earlier`.
    template <class X>
    BoundedSum sum(double top, double earlier, double before, bool sloped, X&& x) const {
        BoundedSum s;
        // Sums of another maximum are rescaled, once in a few entries at most.
        const double rescalings = (function_error + 2) * (1 + static_cast<double>(count()) / 8);
        if (before != 0)
            s.add(before * std::exp(earlier - top), std::abs(earlier) + std::abs(top) + function_error);
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            const double slope = sloped ? leaky_derivative(argument(k), v_.shape.slope) : 1;
            s.add(weight(k, top) * slope * x(entries_[k].column),
                  exponent_size(k, top) + function_error + 4 + rescalings);
        }
        return s;
    }

private:
    struct Entry {
        std::int64_t column;
        double value;
    };
    const verb::Attend& v_;
    const HostMatrix& b_;
    std::int64_t row_, head_;
    double l_;
    std::int64_t w_;
    std::vector<Entry> entries_;
};

/// What the rows hold.
struct HostRows {
    HostMatrix z, slopes, maxima, sums, slope_sums;
    HostRows() = default;
    HostRows(Backend& k, const AttentionRows& rows)
        : z(read_view(k, rows.z)),
          slopes(read_view(k, rows.slopes)),
          maxima(read_view(k, rows.maxima)),
          sums(read_view(k, rows.sums)),
          slope_sums(read_view(k, rows.slope_sums)) {}
};

}  // namespace

void CheckedBackend::judge(const verb::Attend& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix b = read_view(inner(), v.b), l = read_view(inner(), v.l);
    const bool first = v.stage.first, last = v.stage.last, sloped = v.rows.slopes.cols > 0;
    const HostRows before = first ? HostRows() : HostRows(inner(), v.rows);
    inner().run(verb::Attend{*kept.prepared, v.shape, v.b, v.l, v.rows, v.stage});
    const HostRows found(inner(), v.rows);
    const Rounding rounding = rounding_of(dtype());
    const std::int64_t w = v.rows.z.cols, heads = v.shape.heads;
    Judgement j(*ledger_, "attention",
                fmt::format("{} heads of {} over [{}x{}]", heads, w / heads, v.a.rows, v.a.cols));
    for (std::int64_t r = 0; r < v.a.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            const HeadRow row(v, kept, b, l, r, h);
            const double earlier = first ? -std::numeric_limits<double>::infinity() : before.maxima(r, h);
            double top = earlier, score_size = 0;
            for (std::size_t k = 0; k < usize(row.count()); ++k) {
                top = std::max(top, row.score(k));
                score_size = std::max(score_size, row.exponent_size(k, 0));
            }
            const auto old = [&](const HostMatrix& m, std::int64_t c) { return first ? 0 : m(r, c); };
            const auto one = [](std::int64_t) { return 1.0; };
            const auto column = [&](std::int64_t c) { return [&b, c](std::int64_t i) { return b(i, c); }; };
            const auto terms = static_cast<double>(row.count() + (first ? 0 : 1));
            if (!last) {
                j.near(r, h, found.maxima(r, h), top, rounding.gamma(4) * score_size);
                // Sums are of the maximum that was found.
                const double of = found.maxima(r, h);
                const BoundedSum s = row.sum(of, earlier, old(before.sums, h), false, one);
                j.near(r, w + h, found.sums(r, h), s.value, s.bound(rounding, terms));
                for (std::int64_t c = h; c < w; c += heads) {
                    const BoundedSum z = row.sum(of, earlier, old(before.z, c), false, column(c));
                    j.near(r, c, found.z(r, c), z.value, z.bound(rounding, terms));
                    if (!sloped) continue;
                    const BoundedSum p = row.sum(of, earlier, old(before.slopes, c), true, column(c));
                    j.near(r, c, found.slopes(r, c), p.value, p.bound(rounding, terms));
                }
                if (!sloped) continue;
                const BoundedSum q = row.sum(of, earlier, old(before.slope_sums, h), true, one);
                j.near(r, 2 * w + h, found.slope_sums(r, h), q.value, q.bound(rounding, terms));
                continue;
            }
            const BoundedSum s = row.sum(top, earlier, old(before.sums, h), false, one);
            if (s.value == 0) {
                j.same(r, h, found.maxima(r, h), 0);
                for (std::int64_t c = h; c < w; c += heads) j.same(r, c, found.z(r, c), 0);
                continue;
            }
            const double of_sum = s.bound(rounding, terms) / s.value;
            const double log_sum = std::log(s.value), total = top + log_sum;
            j.near(r, h, found.maxima(r, h), total,
                   of_sum + rounding.gamma(4) * (score_size + std::abs(top)) +
                       rounding.gamma(2 + function_error) * (std::abs(log_sum) + std::abs(total)));
            const BoundedSum q =
                sloped ? row.sum(top, earlier, old(before.slope_sums, h), true, one) : BoundedSum();
            const double share = q.value / s.value, of_share = q.bound(rounding, terms) / s.value + of_sum * share;
            for (std::int64_t c = h; c < w; c += heads) {
                const BoundedSum z = row.sum(top, earlier, old(before.z, c), false, column(c));
                const double mean = z.value / s.value,
                             of_mean = (z.bound(rounding, terms) + of_sum * z.size) / s.value +
                                       rounding.gamma(3) * std::abs(mean);
                j.near(r, c, found.z(r, c), mean, of_mean);
                if (!sloped) continue;
                const BoundedSum p = row.sum(top, earlier, old(before.slopes, c), true, column(c));
                const double bound = (p.bound(rounding, terms) + of_sum * p.size) / s.value +
                                     of_share * std::abs(mean) + share * of_mean +
                                     rounding.gamma(6) * (p.size / s.value + std::abs(share * mean));
                j.near(r, c, found.slopes(r, c), p.value / s.value - share * mean, bound);
            }
        }
}

void CheckedBackend::judge(const verb::AttendBackward& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix b = read_view(inner(), v.b), own = read_view(inner(), v.own),
                     before = v.stage.first ? HostMatrix() : read_view(inner(), v.c);
    inner().run(verb::AttendBackward{*kept.prepared, v.shape, v.b, v.own, v.c, v.stage});
    const HostMatrix found = read_view(inner(), v.c);
    const Rounding rounding = rounding_of(dtype());
    const std::int64_t heads = v.shape.heads, w = own.cols - heads, d = w / heads;
    Judgement j(*ledger_, "attention-backward",
                fmt::format("{} heads of {} over [{}x{}]", heads, d, v.a.rows, v.a.cols));
    for (std::int64_t r = 0; r < v.a.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            std::vector<BoundedSum> dh(usize(d));
            BoundedSum dr;
            if (!v.stage.first) {
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) dh[usize(at)].add(before(r, c), 0);
                dr.add(before(r, w + h), 0);
            }
            const auto begin = usize(kept.csr.indptr[usize(r)]), end = usize(kept.csr.indptr[usize(r) + 1]);
            for (auto k = begin; k < end; ++k) {
                const std::int64_t i = kept.csr.indices[k];
                const double argument = b(i, w + h) + own(r, w + h), log_sum = b(i, w + heads + h);
                const double alpha = kept.csr.values[k] * std::exp(leaky(argument, v.shape.slope) - log_sum);
                const double relative =
                    2 * (std::abs(b(i, w + h)) + std::abs(own(r, w + h))) + std::abs(log_sum) + function_error + 4;
                BoundedSum dot;
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    dot.add(b(i, c) * own(r, c), 0);
                    dh[usize(at)].add(alpha * b(i, c), relative);
                }
                const double given = b(i, w + 2 * heads + h),
                             de = alpha * (dot.value - given) * leaky_derivative(argument, v.shape.slope);
                dr.add(de, relative + 4);
                // Its factors' own roundings, which the difference may be small beside.
                dr.error += alpha * ((static_cast<double>(d) + 2) * dot.size + 2 * std::abs(given));
            }
            const auto terms = static_cast<double>(end - begin + 1);
            for (std::int64_t c = h, at = 0; c < w; c += heads, ++at)
                j.near(r, c, found(r, c), dh[usize(at)].value, dh[usize(at)].bound(rounding, terms));
            j.near(r, w + h, found(r, w + h), dr.value, 1.01 * dr.bound(rounding, terms));
        }
}

void CheckedBackend::judge(const verb::HeadDots& v) {
    const HostMatrix x = read_view(inner(), v.x), y = read_view(inner(), v.y);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "head-dots", shape_of(v.out));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t h = 0; h < found.cols; ++h) {
            BoundedSum dot;
            for (std::int64_t c = h; c < x.cols; c += found.cols) dot.add(x(r, c) * y(y.rows == 1 ? 0 : r, c), 0);
            j.near(r, h, found(r, h), dot.value,
                   dot.bound(rounding, static_cast<double>(x.cols) / static_cast<double>(found.cols)));
        }
}

void CheckedBackend::judge(const verb::HeadSums& v) {
    const HostMatrix s = read_view(inner(), v.s), x = read_view(inner(), v.x);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "head-sums", shape_of(v.x));
    for (std::int64_t c = 0; c < x.cols; ++c) {
        BoundedSum sum;
        for (std::int64_t r = 0; r < x.rows; ++r) sum.add(s(r, c % s.cols) * x(r, c), 0);
        j.near(0, c, found(0, c), sum.value, sum.bound(rounding, static_cast<double>(x.rows)));
    }
}

void CheckedBackend::judge(const verb::AddHeads& v) {
    const HostMatrix s = read_view(inner(), v.s), a = read_view(inner(), v.a), before = read_view(inner(), v.y);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.y);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "add-heads", shape_of(v.y));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t c = 0; c < found.cols; ++c) {
            BoundedSum sum;
            sum.add(before(r, c), 0);
            sum.add(s(r, c % s.cols) * a(0, c), 0);
            j.near(r, c, found(r, c), sum.value, sum.bound(rounding, 2));
        }
}

void CheckedBackend::judge(const verb::MeanOfHeads& v) {
    const HostMatrix x = read_view(inner(), v.x);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    const std::int64_t heads = x.cols / std::max<std::int64_t>(found.cols, 1);
    Judgement j(*ledger_, "mean-of-heads", shape_of(v.x));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t k = 0; k < found.cols; ++k) {
            BoundedSum sum;
            for (std::int64_t h = 0; h < heads; ++h) sum.add(x(r, k * heads + h) / static_cast<double>(heads), 2);
            j.near(r, k, found(r, k), sum.value, sum.bound(rounding, static_cast<double>(heads)));
        }
}

void CheckedBackend::judge(const verb::SpreadToHeads& v) {
    const HostMatrix g = read_view(inner(), v.g);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    const std::int64_t heads = found.cols / std::max<std::int64_t>(g.cols, 1);
    Judgement j(*ledger_, "spread-to-heads", shape_of(v.out));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t c = 0; c < found.cols; ++c) {
            const double share = g(r, c / heads) / static_cast<double>(heads);
            j.near(r, c, found(r, c), share, rounding.gamma(3) * std::abs(share) + rounding.smallest);
        }
}

}  // namespace gnnbench
