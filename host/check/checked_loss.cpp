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

void CheckedBackend::do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                              double* loss_out) {
    reads("loss", logits);
    writes("loss", grad);
    const HostMatrix before = read_view(inner(), logits);
    const HostLossInput host(inner(), in, logits.rows);
    inner().softmax_cross_entropy(logits, in, grad, loss_out);
    const HostMatrix found = read_view(inner(), grad);
    const Rounding rounding = rounding_of(dtype());
    LossSum loss;
    Judgement j(*ledger_, "loss", shape_of(logits));
    for (std::int64_t r = 0; r < before.rows; ++r) {
        const auto at = usize(r);
        if (host.split[at] != in.counted || host.labels[at] < 0) {
            for (std::int64_t c = 0; c < before.cols; ++c) j.same(r, c, found(r, c), 0);
            continue;
        }
        double top = -std::numeric_limits<double>::infinity();
        for (std::int64_t c = 0; c < before.cols; ++c) top = std::max(top, before(r, c));
        judge_counted_row(j, {before, found, in.scale, 0}, r, host.labels[at], top, exp_sum(before, r, top), loss,
                          rounding);
    }
    j.near(-1, -1, read_array(inner(), loss_out, 1)[0], loss.value, loss.bound);
}

void CheckedBackend::do_row_maxima(ConstMatrixView logits, MatrixView maxima) {
    reads("loss", logits);
    writes("loss", maxima);
    inner().row_maxima(logits, maxima);
    const HostMatrix values = read_view(inner(), logits), found = read_view(inner(), maxima);
    Judgement j(*ledger_, "loss", "maxima of " + shape_of(logits));
    for (std::int64_t r = 0; r < values.rows; ++r) {
        double top = -std::numeric_limits<double>::infinity();
        for (std::int64_t c = 0; c < values.cols; ++c) top = std::max(top, values(r, c));
        j.same(r, 0, found(r, 0), top);
    }
}

void CheckedBackend::do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
    reads("loss", logits);
    reads("loss", maxima);
    writes("loss", sums);
    const HostMatrix values = read_view(inner(), logits), tops = read_view(inner(), maxima);
    inner().row_exp_sums(logits, maxima, sums);
    const HostMatrix found = read_view(inner(), sums);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "loss", "sums of " + shape_of(logits));
    for (std::int64_t r = 0; r < values.rows; ++r) {
        const ExpSum s = exp_sum(values, r, tops(r, 0));
        j.near(r, 0, found(r, 0), s.value,
               rounding.gamma(s.error) * s.value + static_cast<double>(values.cols) * rounding.smallest);
    }
}

void CheckedBackend::do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima,
                                                    ConstMatrixView sums, std::int64_t first_class,
                                                    const LossInput& in, MatrixView grad, double* loss_out) {
    for (const ConstMatrixView m : {logits, maxima, sums}) reads("loss", m);
    writes("loss", grad);
    const HostMatrix before = read_view(inner(), logits), tops = read_view(inner(), maxima),
                     totals = read_view(inner(), sums);
    const HostLossInput host(inner(), in, logits.rows);
    inner().softmax_cross_entropy_shard(logits, maxima, sums, first_class, in, grad, loss_out);
    const HostMatrix found = read_view(inner(), grad);
    const Rounding rounding = rounding_of(dtype());
    LossSum loss;
    Judgement j(*ledger_, "loss", fmt::format("{}, classes from {}", shape_of(logits), first_class));
    for (std::int64_t r = 0; r < before.rows; ++r) {
        const auto at = usize(r);
        if (host.split[at] != in.counted) {
            for (std::int64_t c = 0; c < before.cols; ++c) j.same(r, c, found(r, c), 0);
            continue;
        }
        judge_counted_row(j, {before, found, in.scale, first_class}, r, host.labels[at], tops(r, 0),
                          {totals(r, 0), 0}, loss, rounding);
    }
    j.near(-1, -1, read_array(inner(), loss_out, 1)[0], loss.value, loss.bound);
}

void CheckedBackend::do_count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
    reads("accuracy", logits);
    const HostMatrix values = read_view(inner(), logits);
    const HostLossInput host(inner(), in, logits.rows);
    inner().count_correct(logits, in, counts);
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
    const auto found = read_array(inner(), counts, 6);
    Judgement j(*ledger_, "accuracy", shape_of(logits));
    for (std::size_t i = 0; i < 6; ++i)
        j.same(0, static_cast<std::int64_t>(i), static_cast<double>(found[i]), static_cast<double>(expected[i]));
}

}  // namespace gnnbench
