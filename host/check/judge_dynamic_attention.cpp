#include "check/judge_dynamic_attention.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check/leaky_scores.hpp"

namespace gnnbench {

EntryScore dynamic_score(const AttentionHeads& shape, const HostMatrix& vector, const HostMatrix& s,
                         std::int64_t i, std::int64_t s_column, const HostMatrix& t, std::int64_t j,
                         std::int64_t head) {
    EntryScore score;
    double size = 0;
    for (std::int64_t c = head; c < vector.cols; c += shape.heads) {
        const double term = vector(0, c) * leaky(s(i, s_column + c) + t(j, c), shape.slope);
        score.value += term;
        size += std::abs(term);
    }
    score.error = (static_cast<double>(vector.cols) / shape.heads + 5) * size;
    return score;
}

void judge_dynamic(Judgement& j, const verb::DynamicAttend& v, const Csr& a, const FoundDynamic& found,
                   JudgedColumns columns) {
    const ScoreOf score = [&](std::int64_t row, std::int64_t column, std::int64_t head) {
        return dynamic_score(v.shape, found.vector, found.s, row, 0, found.b, column, head);
    };
    judge_attended(j, {v.shape, a, v.rows.z.cols, v.stage, false}, score, found.b, found.before, found.after,
                   found.rounding, columns);
}

DynamicEntry DynamicEntries::entry(std::int64_t r, std::size_t k, std::int64_t head) const {
    const std::int64_t other = a_.indices[k], heads = v_.shape.heads;
    const HostMatrix &given = of_rows() ? own_ : b_, &t = of_rows() ? b_ : own_;
    const std::int64_t i = of_rows() ? r : other, j = of_rows() ? other : r;
    const EntryScore score = dynamic_score(v_.shape, vector_, given, i, w_, t, j, head);
    const double log_sum = given(i, 2 * w_ + head);
    DynamicEntry e;
    e.alpha = a_.values[k] * std::exp(score.value - log_sum);
    e.kept = kept_share(v_.shape, a_, r, other, head, !of_rows());
    e.given = given(i, 2 * w_ + heads + head);
    double dot = 0;
    for (std::int64_t c = head; c < w_; c += heads) {
        const double product = given(i, c) * t(j, c);
        dot += product;
        e.dot_size += std::abs(product);
    }
    e.de = e.alpha * (e.kept * dot - e.given);
    e.error = score.error + std::abs(score.value) + std::abs(log_sum) + function_error + 6;
    return e;
}

double DynamicEntries::g(std::int64_t r, std::int64_t other, std::int64_t c) const {
    return of_rows() ? own_(r, c) : b_(other, c);
}

double DynamicEntries::derivative(std::int64_t r, std::int64_t other, std::int64_t c) const {
    const double x = of_rows() ? own_(r, w_ + c) + b_(other, c) : b_(other, w_ + c) + own_(r, c);
    return leaky_derivative(x, v_.shape.slope);
}

void judge_dynamic_backward(Judgement& j, const verb::DynamicBackward& v, const Csr& a,
                            const FoundDynamicBackward& found) {
    const Rounding& rounding = found.rounding;
    const bool of_rows = v.side == AttentionSide::rows;
    const std::int64_t heads = v.shape.heads, w = v.slopes.cols, d = w / heads;
    const DynamicEntries entries(v, a, found.vector, found.b, found.own);
    for (std::int64_t r = 0; r < v.a.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            std::vector<BoundedSum> slopes(usize(d)), sums(usize(d));
            if (!v.stage.first)
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    slopes[usize(at)].add(found.slopes_before(r, c), 0);
                    if (!of_rows) sums[usize(at)].add(found.sums_before(r, c), 0);
                }
            const auto begin = usize(a.indptr[usize(r)]), end = usize(a.indptr[usize(r) + 1]);
            for (auto k = begin; k < end; ++k) {
                const DynamicEntry e = entries.entry(r, k, h);
                // Its factors' own roundings, which the difference may be small beside.
                const double of_de =
                    e.alpha * ((static_cast<double>(d) + 4) * e.kept * e.dot_size + 2 * std::abs(e.given));
                for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                    const double derivative = entries.derivative(r, a.indices[k], c);
                    slopes[usize(at)].add(e.de * derivative, e.error + 4);
                    slopes[usize(at)].error += of_de * derivative;
                    if (!of_rows) sums[usize(at)].add(e.kept * e.alpha * entries.g(r, a.indices[k], c), e.error);
                }
            }
            const auto terms = static_cast<double>(end - begin + 1);
            for (std::int64_t c = h, at = 0; c < w; c += heads, ++at) {
                j.near(r, c, found.slopes(r, c), slopes[usize(at)].value,
                       1.01 * slopes[usize(at)].bound(rounding, terms));
                if (!of_rows)
                    j.near(r, w + c, found.sums(r, c), sums[usize(at)].value,
                           sums[usize(at)].bound(rounding, terms));
            }
        }
}

std::string subject_of(const verb::DynamicAttend& v) {
    return fmt::format("{} heads of {} over [{}x{}]", v.shape.heads, v.rows.z.cols / v.shape.heads, v.a.rows,
                       v.a.cols);
}
std::string subject_of(const verb::DynamicBackward& v) {
    return fmt::format("{} heads of {} over [{}x{}], {}", v.shape.heads, v.slopes.cols / v.shape.heads, v.a.rows,
                       v.a.cols, v.side == AttentionSide::rows ? "by rows" : "by neighbours");
}

}  // namespace gnnbench
