#include "check/judge_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check/leaky_scores.hpp"

namespace gnnbench {
namespace {

/// A row of one head, from the operands as the back end got them.
class HeadRow {
public:
    HeadRow(const Attended& v, const ScoreOf& score, std::int64_t row, std::int64_t head) {
        const auto begin = usize(v.a.indptr[usize(row)]), end = usize(v.a.indptr[usize(row) + 1]);
        entries_.reserve(end - begin);
        for (auto k = begin; k < end; ++k) {
            const std::int64_t column = v.a.indices[k];
            const EntryScore of_entry = score(row, column, head);
            entries_.push_back({.column = column,
                                .value = v.a.values[k],
                                .score = of_entry.value,
                                .derivative = of_entry.derivative,
                                .kept = kept_share(v.shape, v.a, row, column, head),
                                .size = of_entry.error});
            score_size_ = std::max(score_size_, entries_.back().size);
            top_ = std::max(top_, entries_.back().score);
        }
    }

    std::int64_t count() const { return std::ssize(entries_); }
    double top() const { return top_; }                ///< the largest score; −∞ without entries
    double score_size() const { return score_size_; }  ///< the largest that a score is made of, which rounds it

    /// Weights from here on are of the maximum `top`, what earlier stages summed up of `earlier`.
    void weigh(double top, double earlier) {
        // Sums of another maximum are rescaled, once in a few entries at most.
        const double rescalings = (function_error + 2) * (1 + static_cast<double>(count()) / 8);
        for (Entry& e : entries_) {
            e.weight = e.value * std::exp(e.score - top);
            e.error = e.size + std::abs(top) + function_error + 4 + rescalings;
        }
        shrink_ = std::exp(earlier - top);
        error_of_earlier_ = std::abs(earlier) + std::abs(top) + function_error;
    }

    /// Σ p, or Σ p λ', after what earlier stages summed up.
    BoundedSum sum(double before, bool sloped) const {
        return sum_of(before, [&](const Entry& e) { return e.weight * (sloped ? e.derivative : 1); });
    }
    /// Σ m p x_j, or Σ m p λ' x_j, likewise; x is column c of b.
    BoundedSum sum(double before, bool sloped, const HostMatrix& b, std::int64_t c) const {
        return sum_of(before, [&](const Entry& e) {
            return e.kept * e.weight * (sloped ? e.derivative : 1) * b(e.column, c);
        });
    }

private:
    struct Entry {
        std::int64_t column;
        double value, score, derivative, kept;
        double size;                   ///< of what the score is made of: each rounds it by as many u
        double weight = 0, error = 0;  ///< p, and its own error in u
    };
    template <class Term>
    BoundedSum sum_of(double before, Term&& term) const {
        BoundedSum s;
        if (before != 0) s.add(before * shrink_, error_of_earlier_);
        for (const Entry& e : entries_) s.add(term(e), e.error + (e.kept == 1 ? 0 : 2));
        return s;
    }

    std::vector<Entry> entries_;
    double top_ = -std::numeric_limits<double>::infinity(), score_size_ = 0;
    double shrink_ = 0, error_of_earlier_ = 0;
};

std::string subject(std::int64_t heads, std::int64_t width, const PreparedMatrix& a) {
    return fmt::format("{} heads of {} over [{}x{}]", heads, width / heads, a.rows, a.cols);
}

}  // namespace

std::string subject_of(const verb::Attend& v) { return subject(v.shape.heads, v.rows.z.cols, v.a); }
std::string subject_of(const verb::AttendBackward& v) {
    return subject(v.shape.heads, v.own.cols - v.shape.heads, v.a);
}

void judge_attention(Judgement& j, const verb::Attend& v, const Csr& a, const FoundAttention& found,
                     JudgedColumns columns) {
    const std::int64_t w = v.rows.z.cols;
    const ScoreOf score = [&](std::int64_t row, std::int64_t column, std::int64_t head) {
        const double l = found.l(row, head), r = found.b(column, w + head);
        return EntryScore{leaky(l + r, v.shape.slope), leaky_derivative(l + r, v.shape.slope),
                          2 * (std::abs(l) + std::abs(r))};
    };
    judge_attended(j, {v.shape, a, w, v.stage, v.rows.slopes.cols > 0}, score, found.b, found.before, found.after,
                   found.rounding, columns);
}

void judge_attended(Judgement& j, const Attended& v, const ScoreOf& score, const HostMatrix& b,
                    const HostRows& before, const HostRows& after, const Rounding& rounding,
                    JudgedColumns columns) {
    const bool first = v.stage.first, last = v.stage.last, sloped = v.sloped;
    const std::int64_t w = v.width, heads = v.shape.heads;
    const bool every = columns == JudgedColumns::all;
    const std::int64_t step = every ? heads : w;
    const auto first_column = [&](std::int64_t r, std::int64_t h) {
        return every ? h : h + heads * (r % (w / heads));
    };
    for (std::int64_t r = 0; r < v.a.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            HeadRow row(v, score, r, h);
            const double earlier = first ? -std::numeric_limits<double>::infinity() : before.maxima(r, h);
            const double top = std::max(earlier, row.top()), score_size = row.score_size();
            const auto old = [&](const HostMatrix& m, std::int64_t c) { return first ? 0 : m(r, c); };
            const auto terms = static_cast<double>(row.count() + (first ? 0 : 1));
            if (!last) {
                j.near(r, h, after.maxima(r, h), top, rounding.gamma(4) * score_size);
                row.weigh(after.maxima(r, h), earlier);  // sums are of the maximum that was found
                const BoundedSum s = row.sum(old(before.sums, h), false);
                j.near(r, w + h, after.sums(r, h), s.value, s.bound(rounding, terms));
                for (std::int64_t c = first_column(r, h); c < w; c += step) {
                    const BoundedSum z = row.sum(old(before.z, c), false, b, c);
                    j.near(r, c, after.z(r, c), z.value, z.bound(rounding, terms));
                    if (!sloped) continue;
                    const BoundedSum p = row.sum(old(before.slopes, c), true, b, c);
                    j.near(r, c, after.slopes(r, c), p.value, p.bound(rounding, terms));
                }
                if (!sloped) continue;
                const BoundedSum q = row.sum(old(before.slope_sums, h), true);
                j.near(r, 2 * w + h, after.slope_sums(r, h), q.value, q.bound(rounding, terms));
                continue;
            }
            row.weigh(top, earlier);
            const BoundedSum s = row.sum(old(before.sums, h), false);
            if (s.value == 0) {
                j.same(r, h, after.maxima(r, h), 0);
                for (std::int64_t c = first_column(r, h); c < w; c += step) j.same(r, c, after.z(r, c), 0);
                continue;
            }
            const double of_sum = s.bound(rounding, terms) / s.value;
            const double log_sum = std::log(s.value), total = top + log_sum;
            j.near(r, h, after.maxima(r, h), total,
                   of_sum + rounding.gamma(4) * (score_size + std::abs(top)) +
                       rounding.gamma(2 + function_error) * (std::abs(log_sum) + std::abs(total)));
            const BoundedSum q = sloped ? row.sum(old(before.slope_sums, h), true) : BoundedSum();
            const double share = q.value / s.value, of_share = q.bound(rounding, terms) / s.value + of_sum * share;
            for (std::int64_t c = first_column(r, h); c < w; c += step) {
                const BoundedSum z = row.sum(old(before.z, c), false, b, c);
                const double mean = z.value / s.value,
                             of_mean = (z.bound(rounding, terms) + of_sum * z.size) / s.value +
                                       rounding.gamma(3) * std::abs(mean);
                j.near(r, c, after.z(r, c), mean, of_mean);
                if (!sloped) continue;
                const BoundedSum p = row.sum(old(before.slopes, c), true, b, c);
                const double bound = (p.bound(rounding, terms) + of_sum * p.size) / s.value +
                                     of_share * std::abs(mean) + share * of_mean +
                                     rounding.gamma(6) * (p.size / s.value + std::abs(share * mean));
                j.near(r, c, after.slopes(r, c), p.value / s.value - share * mean, bound);
            }
        }
}

void judge_attention_backward(Judgement& j, const verb::AttendBackward& v, const Csr& a,
                              const FoundAttentionBackward& found) {
    const Rounding& rounding = found.rounding;
    const std::int64_t heads = v.shape.heads, w = found.own.cols - heads, d = w / heads;
    for (std::int64_t r = 0; r < v.a.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            std::vector<BoundedSum> dh(usize(d));
            BoundedSum dr;
            if (!v.stage.first) {
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) dh[usize(at)].add(found.before(r, c), 0);
                dr.add(found.before(r, w + h), 0);
            }
            const auto begin = usize(a.indptr[usize(r)]), end = usize(a.indptr[usize(r) + 1]);
            for (auto k = begin; k < end; ++k) {
                const std::int64_t i = a.indices[k];
                const double argument = found.b(i, w + h) + found.own(r, w + h),
                             log_sum = found.b(i, w + heads + h);
                const double alpha = a.values[k] * std::exp(leaky(argument, v.shape.slope) - log_sum);
                const double m = kept_share(v.shape, a, r, i, h, true);
                const double relative = 2 * (std::abs(found.b(i, w + h)) + std::abs(found.own(r, w + h))) +
                                        std::abs(log_sum) + function_error + 6;
                BoundedSum dot;
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    dot.add(found.b(i, c) * found.own(r, c), 0);
                    dh[usize(at)].add(m * alpha * found.b(i, c), relative);
                }
                const double given = found.b(i, w + 2 * heads + h),
                             de = alpha * (m * dot.value - given) * leaky_derivative(argument, v.shape.slope);
                dr.add(de, relative + 4);
                // Its factors' own roundings, which the difference may be small beside.
                dr.error += alpha * ((static_cast<double>(d) + 4) * m * dot.size + 2 * std::abs(given));
            }
            const auto terms = static_cast<double>(end - begin + 1);
            for (std::int64_t c = h, at = 0; c < w; c += heads, ++at)
                j.near(r, c, found.after(r, c), dh[usize(at)].value, dh[usize(at)].bound(rounding, terms));
            j.near(r, w + h, found.after(r, w + h), dr.value, 1.01 * dr.bound(rounding, terms));
        }
}

}  // namespace gnnbench
