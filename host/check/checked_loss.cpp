// Checks of the loss, whole or in shards of classes, and of accuracy.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/checked_backend.hpp"
#include "check/host_copy.hpp"

namespace gnnbench {
namespace {

struct HostLossInput {
    std::vector<std::int32_t> labels;
    std::vector<Split> split;
    HostLossInput(Backend& k, const LossInput& in, std::int64_t rows)
        : labels(read_array(k, in.labels, rows)), split(read_array(k, in.split, rows)) {}
};

/// Σ exp(x − top) of a row, and the relative error that it may have, in u: of an exponential |x − top| for its rounded
/// argument and function_error, and one for each addition.
struct ExpSum {
    double value = 0, error = 0;
};
ExpSum exp_sum(const HostMatrix& logits, std::int64_t row, double top) {
    ExpSum s;
    double weighted = 0;
    for (std::int64_t c = 0; c < logits.cols; ++c) {
        const double x = logits(row, c) - top, e = std::exp(x);
        s.value += e;
        weighted += std::abs(x) * e;
    }
    s.error = (s.value > 0 ? weighted / s.value : 0) + function_error + static_cast<double>(logits.cols);
    return s;
}

/// The back end's operands and results.
struct LossCase {
    const HostMatrix& logits;
    const HostMatrix& grad;
    double scale;
    std::int64_t first_class;
};

/// The loss of this rank's counted rows, and its rounding bound.
struct LossSum {
    double value = 0, bound = 0;
};

/// Gradient of a counted row, ( exp(x − top) / sum − onehot ) · scale; adds to the loss where the label is here.
void judge_counted_row(Judgement& j, const LossCase& l, std::int64_t row, std::int32_t label, double top,
                       ExpSum sum, LossSum& loss, const Rounding& rounding) {
    for (std::int64_t c = 0; c < l.logits.cols; ++c) {
        const double x = l.logits(row, c) - top, p = std::exp(x) / sum.value;
        const bool own = l.first_class + c == label;
        const double error = std::abs(x) + function_error + sum.error + 4;
        j.near(
            row, c, l.grad(row, c), (p - (own ? 1 : 0)) * l.scale,
            rounding.gamma(error) * p * l.scale + rounding.gamma(4) * (own ? l.scale : 0) + 4 * rounding.smallest);
        if (!own) continue;
        const double log_sum = std::log(sum.value);
        loss.value += (log_sum - x) * l.scale;
        loss.bound += (rounding.gamma(sum.error) +
                       rounding.gamma(4 + function_error) * (std::abs(log_sum) + std::abs(x) + std::abs(top))) *
                      l.scale;
    }
}

}  // namespace

void CheckedBackend::judge(const verb::SoftmaxCrossEntropy& v) {
    const HostMatrix before = read_view(inner(), v.logits);
    const HostLossInput host(inner(), v.in, v.logits.rows);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.grad);
    const Rounding rounding = rounding_of(dtype());
    LossSum loss;
    Judgement j(*ledger_, "loss", shape_of(v.logits));
    for (std::int64_t r = 0; r < before.rows; ++r) {
        const auto at = usize(r);
        if (host.split[at] != v.in.counted || host.labels[at] < 0) {
            for (std::int64_t c = 0; c < before.cols; ++c) j.same(r, c, found(r, c), 0);
            continue;
        }
        double top = -std::numeric_limits<double>::infinity();
        for (std::int64_t c = 0; c < before.cols; ++c) top = std::max(top, before(r, c));
        judge_counted_row(j, {before, found, v.in.scale, 0}, r, host.labels[at], top, exp_sum(before, r, top),
                          loss, rounding);
    }
    j.near(-1, -1, read_array(inner(), v.loss_out, 1)[0], loss.value, loss.bound);
}

void CheckedBackend::judge(const verb::RowMaxima& v) {
    inner().run(v);
    const HostMatrix values = read_view(inner(), v.logits), found = read_view(inner(), v.maxima);
    Judgement j(*ledger_, "loss", "maxima of " + shape_of(v.logits));
    for (std::int64_t r = 0; r < values.rows; ++r) {
        double top = -std::numeric_limits<double>::infinity();
        for (std::int64_t c = 0; c < values.cols; ++c) top = std::max(top, values(r, c));
        j.same(r, 0, found(r, 0), top);
    }
}

void CheckedBackend::judge(const verb::RowExpSums& v) {
    const HostMatrix values = read_view(inner(), v.logits), tops = read_view(inner(), v.maxima);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.sums);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "loss", "sums of " + shape_of(v.logits));
    for (std::int64_t r = 0; r < values.rows; ++r) {
        const ExpSum s = exp_sum(values, r, tops(r, 0));
        j.near(r, 0, found(r, 0), s.value,
               rounding.gamma(s.error) * s.value + static_cast<double>(values.cols) * rounding.smallest);
    }
}

void CheckedBackend::judge(const verb::SoftmaxCrossEntropyShard& v) {
    const HostMatrix before = read_view(inner(), v.logits), tops = read_view(inner(), v.maxima),
                     totals = read_view(inner(), v.sums);
    const HostLossInput host(inner(), v.in, v.logits.rows);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.grad);
    const Rounding rounding = rounding_of(dtype());
    LossSum loss;
    Judgement j(*ledger_, "loss", fmt::format("{}, classes from {}", shape_of(v.logits), v.first_class));
    for (std::int64_t r = 0; r < before.rows; ++r) {
        const auto at = usize(r);
        if (host.split[at] != v.in.counted) {
            for (std::int64_t c = 0; c < before.cols; ++c) j.same(r, c, found(r, c), 0);
            continue;
        }
        judge_counted_row(j, {before, found, v.in.scale, v.first_class}, r, host.labels[at], tops(r, 0),
                          {totals(r, 0), 0}, loss, rounding);
    }
    j.near(-1, -1, read_array(inner(), v.loss_out, 1)[0], loss.value, loss.bound);
}

void CheckedBackend::judge(const verb::CountCorrect& v) {
    const HostMatrix values = read_view(inner(), v.logits);
    const HostLossInput host(inner(), v.in, v.logits.rows);
    inner().run(v);
    std::array<std::int64_t, 6> expected{};
    for (std::int64_t r = 0; r < values.rows; ++r) {
        const auto at = usize(r);
        if (host.split[at] == Split::none) continue;
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < values.cols; ++c)
            if (values(r, c) > values(r, best)) best = c;
        const auto slot = 2 * (usize(host.split[at]) - 1);
        expected[slot] += best == host.labels[at];
        ++expected[slot + 1];
    }
    const auto found = read_array(inner(), v.counts, 6);
    Judgement j(*ledger_, "accuracy", shape_of(v.logits));
    for (std::size_t i = 0; i < 6; ++i)
        j.same(0, static_cast<std::int64_t>(i), static_cast<double>(found[i]), static_cast<double>(expected[i]));
}

}  // namespace gnnbench
