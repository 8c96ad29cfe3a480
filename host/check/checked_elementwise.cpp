// Checks of element-wise verbs, sums, rows and the optimizer.
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/checked_backend.hpp"
#include "check/judge_products.hpp"

namespace gnnbench {
namespace {

/// σ'(z) from y = σ(z), and what rounding y may change of it, in u.
struct Slope {
    double value, error;
};
Slope slope(Activation a, double y) {
    switch (a) {
        case Activation::identity:
            return {1, 0};
        case Activation::relu:
            return {y > 0 ? 1.0 : 0.0, 0};
        case Activation::leaky_relu:
            return {y > 0 ? 1 : leaky_slope, y > 0 ? 0 : leaky_slope};
        case Activation::sigmoid:
            return {y * (1 - y), 4 * std::abs(y) + 2 * std::abs(y * (1 - y))};
        case Activation::elu:
            return {y > 0 ? 1 : 1 + y, y > 0 ? 0 : 2 * std::abs(y) + std::abs(1 + y)};
    }
    return {1, 0};
}

template <class Same>
void for_elements(const HostMatrix& m, Same&& f) {
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = 0; c < m.cols; ++c) f(r, c);
}

/// x in the back end's type.
double rounded(double x, DType t) { return t == DType::f32 ? static_cast<double>(static_cast<float>(x)) : x; }

/// One parameter array before or after a step.
struct SlotValues {
    std::vector<double> weight, gradient, first, second;
    SlotValues(Backend& k, const ParameterSlot& s, bool moments)
        : weight(read_numbers(k, s.weight, s.count, k.dtype())),
          gradient(read_numbers(k, s.gradient, s.count, k.dtype())) {
        if (!moments) return;
        first = read_numbers(k, s.first_moment, s.count, k.dtype());
        second = read_numbers(k, s.second_moment, s.count, k.dtype());
    }
};

/// SGD: w − η(g + λw). Adam (Kingma & Ba 2015), algorithm 1, with λ in the gradient; AdamW (Loshchilov & Hutter
/// 2019), algorithm 2: decoupled λ. The step is checked from the moments that the back end stored, which are checked
/// separately.
void judge_step(Judgement& j, const TrainSpec& o, std::int64_t step, double decay, const SlotValues& before,
                const SlotValues& after, const Rounding& rounding) {
    const double few = rounding.gamma(12);
    const double c1 = 1 - std::pow(o.beta1, static_cast<double>(step)),
                 c2 = 1 - std::pow(o.beta2, static_cast<double>(step));
    const bool apart = o.optimizer == OptimizerKind::adamw;
    for (std::size_t i = 0; i < before.weight.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const double w = before.weight[i], inside = apart ? 0 : decay * w;
        const double g = before.gradient[i] + inside, g_size = std::abs(before.gradient[i]) + std::abs(inside);
        if (o.optimizer == OptimizerKind::sgd) {
            j.near(at, 0, after.weight[i], w - o.learning_rate * g,
                   few * o.learning_rate * g_size + 2 * rounding.unit * std::abs(w) + rounding.smallest);
            continue;
        }
        const double m = o.beta1 * before.first[i] + (1 - o.beta1) * g;
        const double v = o.beta2 * before.second[i] + (1 - o.beta2) * g * g;
        j.near(at, 1, after.first[i], m,
               few * (o.beta1 * std::abs(before.first[i]) + (1 - o.beta1) * g_size) + 4 * rounding.smallest);
        j.near(at, 2, after.second[i], v,
               2 * few * (o.beta2 * before.second[i] + (1 - o.beta2) * g_size * g_size) + 4 * rounding.smallest);
        const double update = (after.first[i] / c1) / (std::sqrt(std::max(0.0, after.second[i]) / c2) + o.epsilon);
        const double shrink = apart ? decay * w : 0;
        j.near(at, 0, after.weight[i], w - o.learning_rate * (update + shrink),
               few * o.learning_rate * (std::abs(update) + std::abs(shrink)) +
                   (apart ? 4 : 2) * rounding.unit * std::abs(w) + rounding.smallest);
    }
}

}  // namespace

std::string shape_of(ConstMatrixView m) { return fmt::format("[{}x{}]", m.rows, m.cols); }

void CheckedBackend::judge(const verb::Apply& v) {
    const HostMatrix before = read_view(inner(), v.x);
    const HostEpilogue host = read_epilogue(inner(), v.e, v.z.rows, v.z.cols);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.z);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, v.operation(), shape_of(v.z));
    for_elements(found, [&](std::int64_t r, std::int64_t c) {
        const double bias = host.bias.empty() ? 0 : host.bias[usize(c)];
        judge_finished(j, {r, c, found(r, c)}, before(r, c) + bias,
                       rounding.gamma(host.bias.empty() ? 0 : 1) * std::abs(before(r, c) + bias), host, rounding);
    });
}

void CheckedBackend::judge(const verb::ApplyBackward& v) {
    const HostMatrix output = read_view(inner(), v.h), above = read_view(inner(), v.dh);
    const HostEpilogue host = read_epilogue(inner(), v.e, v.h.rows, v.h.cols);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.dz);
    const Rounding rounding = rounding_of(dtype());
    const double scale = host.dropout.active() ? host.dropout.scale() : 1;
    Judgement j(*ledger_, "activation-backward", shape_of(v.dz));
    for_elements(found, [&](std::int64_t r, std::int64_t c) {
        if (host.dropped(r, c)) return j.same(r, c, found(r, c), 0);
        // h is an operand, so rounding does not affect its sign.
        const Slope s = slope(host.activation, output(r, c) / scale);
        const double size = std::abs(above(r, c)) * scale;
        const double roundings = (host.dropout.active() ? 3 : 0) + (s.value == 1 || s.value == 0 ? 0 : 2);
        j.near(r, c, found(r, c), above(r, c) * scale * s.value,
               rounding.gamma(roundings) * size * std::abs(s.value) + rounding.unit * s.error * size +
                   (roundings > 0 ? 4 * rounding.smallest : 0));
    });
}

void CheckedBackend::judge(const verb::ColumnSums& v) {
    const HostMatrix terms = read_view(inner(), v.g);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "column-sums", shape_of(v.g));
    for (std::int64_t c = 0; c < terms.cols; ++c) {
        double sum = 0, size = 0;
        for (std::int64_t r = 0; r < terms.rows; ++r) {
            sum += terms(r, c);
            size += std::abs(terms(r, c));
        }
        j.near(0, c, found(0, c), sum, rounding.gamma(static_cast<double>(terms.rows)) * size);
    }
}

void CheckedBackend::judge(const verb::OptimizerStep& v) {
    const bool moments = v.spec.optimizer != OptimizerKind::sgd;
    const auto size = static_cast<std::int64_t>(size_of(dtype()));
    std::vector<SlotValues> before;
    for (const ParameterSlot& s : v.slots) {
        in_flight_->check_access("optimizer", s.weight, s.count * size, true);
        in_flight_->check_access("optimizer", s.gradient, s.count * size, false);
        before.emplace_back(inner(), s, moments);
    }
    inner().run(v);
    for (std::size_t i = 0; i < v.slots.size(); ++i) {
        Judgement j(*ledger_, "optimizer",
                    fmt::format("step {}, array {} of {} elements", v.step, i, v.slots[i].count));
        judge_step(j, v.spec, v.step, v.slots[i].weight_decay, before[i], SlotValues(inner(), v.slots[i], moments),
                   rounding_of(dtype()));
    }
}

void CheckedBackend::judge(const verb::Fill& v) {
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.m);
    const double expected = rounded(v.value, dtype());
    Judgement j(*ledger_, "fill", shape_of(v.m));
    for_elements(found, [&](std::int64_t r, std::int64_t c) { j.same(r, c, found(r, c), expected); });
}

void CheckedBackend::judge(const verb::Copy& v) {
    const HostMatrix source = read_view(inner(), v.from);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.to);
    Judgement j(*ledger_, "copy", shape_of(v.to));
    for_elements(found, [&](std::int64_t r, std::int64_t c) { j.same(r, c, found(r, c), source(r, c)); });
}

void CheckedBackend::judge(const verb::Axpby& v) {
    const HostMatrix added = read_view(inner(), v.x), before = read_view(inner(), v.y);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.y);
    const Rounding rounding = rounding_of(dtype());
    // Factors are rounded to the back end's type, then two products and a sum.
    Judgement j(*ledger_, "axpby", shape_of(v.y));
    for_elements(found, [&](std::int64_t r, std::int64_t c) {
        const double a = v.alpha * added(r, c), b = v.beta * before(r, c);
        j.near(r, c, found(r, c), a + b, rounding.gamma(3) * (std::abs(a) + std::abs(b)) + 4 * rounding.smallest);
    });
}

void CheckedBackend::judge(const verb::SquaredDistance& v) {
    const HostMatrix x = read_view(inner(), v.x), y = read_view(inner(), v.y);
    inner().run(v);
    const std::vector<double> found = read_array(inner(), v.out, 2);
    double apart = 0, size = 0;
    for_elements(x, [&](std::int64_t r, std::int64_t c) {
        const double difference = x(r, c) - y(r, c);
        apart += difference * difference;
        size += y(r, c) * y(r, c);
    });
    // Differences may be rounded to the back end's type; sums are float64.
    const double of_sums = rounding_of(DType::f64).gamma(static_cast<double>(x.values.size()) + 4);
    const double allowed = rounding_of(dtype()).gamma(4) + of_sums;
    Judgement j(*ledger_, "squared-distance", shape_of(v.x));
    j.near(-1, -1, found[0], apart, allowed * apart);
    j.near(-1, -1, found[1], size, allowed * size);
}

void CheckedBackend::judge(const verb::GatherRows& v) {
    const HostMatrix source = read_view(inner(), v.from);
    const auto places = read_array(inner(), v.rows, v.to.rows);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.to);
    Judgement j(*ledger_, "gather-rows", shape_of(v.to));
    for_elements(found,
                 [&](std::int64_t r, std::int64_t c) { j.same(r, c, found(r, c), source(places[usize(r)], c)); });
}

void CheckedBackend::judge(const verb::ScatterAddRows& v) {
    const HostMatrix source = read_view(inner(), v.from);
    HostMatrix expected = read_view(inner(), v.to);
    const auto places = read_array(inner(), v.rows, v.from.rows);
    inner().run(v);
    // One addition, correctly rounded; rows that are not named stay as they were.
    for_elements(source, [&](std::int64_t r, std::int64_t c) {
        double& sum = expected(places[usize(r)], c);
        sum = rounded(sum + source(r, c), dtype());
    });
    const HostMatrix found = read_view(inner(), v.to);
    Judgement j(*ledger_, "scatter-add-rows", shape_of(v.from));
    for_elements(found, [&](std::int64_t r, std::int64_t c) { j.same(r, c, found(r, c), expected(r, c)); });
}

}  // namespace gnnbench
