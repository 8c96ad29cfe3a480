// exp, log, σ and square roots of a back end against the next wider type, over the whole range of the numbers: every
// exponent and sign with many mantissas, NaN, ±∞ and denormal numbers among them; with GNNBENCH_FUNCTIONS=all, all 2³²
// numbers of float32. What is asked of NaN, ∞ and underflow is said in docs/plugin-guide.md.
//
// GNNBENCH_FUNCTIONS_KERNEL names the back end ("cpu" if unset).
#include <bit>
#include <cstdlib>
#include <functional>
#include <string_view>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "cpu_support.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

constexpr std::int64_t columns = 64;  ///< of the matrices; a whole number of vectors

std::string_view variable(const char* name, std::string_view otherwise) {
    const char* text = std::getenv(name);
    return text && *text ? text : otherwise;
}

template <class T>
struct Format;
template <>
struct Format<float> {
    using Bits = std::uint32_t;
    using Wider = double;
    static constexpr DType dtype = DType::f32;
    static constexpr int mantissa_bits = 23, sampled_bits = 12;
    static constexpr double unit = 0x1p-24;
    static constexpr double lost = 0x1p-126;  ///< results below the smallest normal number may be 0
};
template <>
struct Format<double> {
    using Bits = std::uint64_t;
    using Wider = long double;
    static constexpr DType dtype = DType::f64;
    static constexpr int mantissa_bits = 52, sampled_bits = 8;
    static constexpr double unit = 0x1p-53;
    static constexpr double lost = 0x1p-1022;
};

/// Numbers of one sign and exponent.
template <class T>
class Binade {
public:
    using Bits = typename Format<T>::Bits;
    static constexpr Bits count = Bits{1} << (8 * sizeof(T) - Format<T>::mantissa_bits);
    static constexpr Bits special = (count / 2) - 1;  ///< the exponent of NaN and ∞

    explicit Binade(Bits sign_and_exponent) : number_(sign_and_exponent) {}
    bool finite() const { return number_ % (count / 2) != special; }
    /// Calls f(numbers) for all of them or for those sampled, `chunk` at a time. The first and the last mantissa are
    /// among them.
    void for_chunks(bool all, const std::function<void(const std::vector<T>&)>& f) const {
        constexpr int bits = Format<T>::mantissa_bits;
        const int taken = all ? bits : Format<T>::sampled_bits;
        const Bits chunk = Bits{1} << std::min(taken, 18), step = Bits{1} << (bits - taken);
        std::vector<T> numbers(chunk);
        for (Bits first = 0; first < Bits{1} << taken; first += chunk) {
            for (Bits i = 0; i < chunk; ++i) {
                const Bits k = first + i;
                // Where mantissas are sampled, their low bits vary too; the last one is all ones.
                const Bits low =
                    all ? 0 : (k + 1 == Bits{1} << taken ? step - 1 : (k * 0x9E3779B97F4A7C15u) % step);
                const Bits mantissa = k == 0 ? 0 : k * step + low;
                numbers[i] = std::bit_cast<T>((number_ << bits) | mantissa);
            }
            f(numbers);
        }
    }

private:
    Bits number_;
};

/// Collects the worst difference, and prints the number at which it is.
template <class T>
class Verdict {
public:
    using Wider = typename Format<T>::Wider;
    /// `units`: of the relative error allowed, in u; `absolute`: allowed beside it.
    Verdict(const char* what, double units, double absolute = Format<T>::lost)
        : what_(what), units_(units), absolute_(absolute) {}
    ~Verdict() {
        INFO(what_ << ": " << wrong_ << " of " << count_ << " wrong, worst " << worst_text_);
        CHECK(wrong_ == 0);
        CHECK(count_ > 0);
    }
    Verdict(const Verdict&) = delete;
    Verdict& operator=(const Verdict&) = delete;

    void check(Wider x, T found, Wider expected) {
        ++count_;
        if (std::isnan(expected) && std::isnan(found)) return;
        const auto f = static_cast<Wider>(found);
        if (f == expected || (std::isinf(found) && f == static_cast<Wider>(static_cast<T>(expected)))) return;
        const Wider bound = static_cast<Wider>(units_ * Format<T>::unit) * std::abs(expected) + absolute_;
        const Wider ratio = std::abs(f - expected) / bound;
        if (ratio <= 1) return;  // false for NaN
        ++wrong_;
        if (!worst_text_.empty() && !(ratio > worst_)) return;
        worst_ = ratio;
        worst_text_ = fmt::format("x = {:a} ({}): {} for {}", static_cast<double>(x), static_cast<double>(x),
                                  static_cast<double>(found), static_cast<double>(expected));
    }

private:
    const char* what_;
    double units_, absolute_;
    std::int64_t count_ = 0, wrong_ = 0;
    Wider worst_ = 0;
    std::string worst_text_;
};

/// The back end's verbs on arrays of the host.
template <class T>
class TestDevice {
public:
    using Wider = typename Format<T>::Wider;
    TestDevice() {
        const PluginCatalog catalog;
        const auto name = variable("GNNBENCH_FUNCTIONS_KERNEL", "cpu");
        const PluginDescription about = catalog.find(PluginKind::kernel, name);
        const KernelSetting setting{.dtype = Format<T>::dtype, .threads = 2, .params = Params(about.params)};
        plugin_ = catalog.kernel(name);
        if (const std::string why = plugin_->why_unsupported(setting); !why.empty()) {
            fmt::print("skipped: kernel {} ({})\n", name, why);
            return;
        }
        backend_ = plugin_->create(setting);
    }
    explicit operator bool() const { return backend_ != nullptr; }
    Backend& operator*() { return *backend_; }

    Matrix matrix(const std::vector<T>& values, std::int64_t cols = columns) {
        Matrix m = backend_->matrix(std::ssize(values) / cols, cols);
        backend_->upload_bytes(values.data(), m.view().data, values.size() * sizeof(T));
        return m;
    }
    std::vector<T> values(ConstMatrixView m) {
        std::vector<T> out(static_cast<std::size_t>(m.rows * m.cols));
        backend_->download_bytes(m.data, out.data(), out.size() * sizeof(T));
        return out;
    }
    double number(const Buffer& of) {
        double x = 0;
        backend_->download_bytes(of.data(), &x, sizeof x);
        return x;
    }

private:
    std::shared_ptr<const BackendPlugin> plugin_;
    std::unique_ptr<Backend> backend_;
};

/// Calls f(binade) for every sign and exponent.
template <class T, class F>
void for_binades(F&& f) {
    for (typename Format<T>::Bits b = 0; b < Binade<T>::count; ++b) f(Binade<T>(b));
}
template <class T>
bool all_numbers() {
    return sizeof(T) == 4 && variable("GNNBENCH_FUNCTIONS", "") == "all";
}

template <class W>
W exact_sigmoid(W x) {
    const W e = std::exp(-std::abs(x));
    return (x > 0 ? 1 : e) / (1 + e);
}

}  // namespace

TEMPLATE_TEST_CASE("functions: activations and their derivatives", "", float, double) {
    using T = TestType;
    using W = typename Format<T>::Wider;
    TestDevice<T> device;
    if (!device) return;
    const T slope = static_cast<T>(leaky_slope);
    for (const Activation a :
         {Activation::identity, Activation::relu, Activation::leaky_relu, Activation::sigmoid, Activation::elu}) {
        const bool curved = a == Activation::sigmoid || a == Activation::elu;
        Verdict<T> forward("activation", curved ? 5 : 2,
                           a == Activation::leaky_relu || curved ? Format<T>::lost : 0),
            backward("its derivative", 8);
        Epilogue e;
        e.activation = a;
        for_binades<T>([&](const Binade<T>& binade) {
            binade.for_chunks(all_numbers<T>(), [&](const std::vector<T>& x) {
                const Matrix z = device.matrix(x);
                (*device).apply(e, z);
                const std::vector<T> y = device.values(z);
                const Matrix above = device.matrix(std::vector<T>(x.size(), T{1}));
                (*device).apply_backward(e, z, above, above);
                const std::vector<T> d = device.values(above);
                for (std::size_t i = 0; i < x.size(); ++i) {
                    const W v = x[i], h = y[i];
                    const W curve = a == Activation::identity  ? v
                                    : a == Activation::sigmoid ? exact_sigmoid(v)
                                    : v > 0 || std::isnan(v)   ? v
                                    : a == Activation::elu     ? std::expm1(v)
                                    : a == Activation::relu    ? W{0}
                                                               : W{slope} * v;
                    forward.check(v, y[i], curve);
                    // σ' depends on the sign of h alone, which NaN has none of.
                    const W s = a == Activation::identity  ? W{1}
                                : a == Activation::sigmoid ? h * (1 - h)
                                : h > 0                    ? W{1}
                                : a == Activation::elu     ? 1 + h
                                : a == Activation::relu    ? W{0}
                                                           : W{slope};
                    backward.check(v, d[i], s);
                }
            });
        });
    }
}

TEMPLATE_TEST_CASE("functions: softmax of two classes, and its loss", "", float, double) {
    using T = TestType;
    using W = typename Format<T>::Wider;
    TestDevice<T> device;
    if (!device) return;
    Verdict<T> gradient("softmax", 8);
    const Buffer loss = (*device).allocate(sizeof(double));
    for_binades<T>([&](const Binade<T>& binade) {
        binade.for_chunks(all_numbers<T>(), [&](const std::vector<T>& x) {
            const std::size_t n = x.size();
            std::vector<T> pairs(2 *
                                 n);  // (0, x): the second class has probability σ(x), and the label is the first
            for (std::size_t i = 0; i < n; ++i) pairs[2 * i + 1] = x[i];
            const Matrix logits = device.matrix(pairs, 2);
            const auto labels = (*device).upload(std::span<const std::int32_t>(std::vector<std::int32_t>(n)));
            const auto split = (*device).upload(std::span<const Split>(std::vector<Split>(n, Split::train)));
            // A scale that keeps the sum of the losses within float64.
            const double scale = sizeof(T) == 8 ? 0x1p-20 : 1;
            (*device).softmax_cross_entropy(logits, {labels.data(), split.data(), Split::train, scale}, logits,
                                            static_cast<double*>(loss.data()));
            const std::vector<T> g = device.values(logits);
            W total = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const W v = x[i];
                total += std::max(v, W{0}) + std::log1p(std::exp(-std::abs(v)));
                // ∞ − ∞ is no number; −∞ has probability 0.
                gradient.check(v, g[2 * i + 1], v == INFINITY ? W{NAN} : exact_sigmoid(v) * static_cast<W>(scale));
            }
            if (binade.finite() && total < 0x1p1023) {
                const double u = Format<T>::unit, found = device.number(loss) / scale,
                             wanted = static_cast<double>(total), count = static_cast<double>(n);
                // A float32 sum of exponentials of each row; float64 sums of rows.
                const double allowed = 4 * u * (count + wanted) + count * 0x1p-53 * wanted;
                INFO("from x = " << x[0] << " on: " << found << " for " << wanted << ", within " << allowed);
                CHECK(std::abs(found - wanted) <= allowed);
            }
        });
    });
}

TEMPLATE_TEST_CASE("functions: exponentials of shards", "", float, double) {
    using T = TestType;
    using W = typename Format<T>::Wider;
    TestDevice<T> device;
    if (!device) return;
    Verdict<T> sums("sum", 4), gradient("gradient", 6);
    const Buffer loss = (*device).allocate(sizeof(double));
    for_binades<T>([&](const Binade<T>& binade) {
        binade.for_chunks(all_numbers<T>(), [&](const std::vector<T>& numbers) {
            std::vector<T> x = numbers;  // a logit is at most its row's maximum, here 0
            for (T& v : x) v = v > 0 ? -v : v;
            const auto n = std::ssize(x);
            const Matrix logits = device.matrix(x, 1), out = (*device).matrix(n, 1);
            const Matrix zeros = device.matrix(std::vector<T>(x.size(), T{0}), 1),
                         ones = device.matrix(std::vector<T>(x.size(), T{1}), 1);
            (*device).row_exp_sums(logits, zeros, out);
            const std::vector<T> s = device.values(out);
            const auto labels =
                (*device).upload(std::span<const std::int32_t>(std::vector<std::int32_t>(x.size(), 5)));
            const auto split =
                (*device).upload(std::span<const Split>(std::vector<Split>(x.size(), Split::train)));
            (*device).softmax_cross_entropy_shard(logits, zeros, ones, 0,
                                                  {labels.data(), split.data(), Split::train, 1}, out,
                                                  static_cast<double*>(loss.data()));
            const std::vector<T> g = device.values(out);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const W e = std::exp(W{x[i]});
                sums.check(x[i], s[i], e);
                gradient.check(x[i], g[i], e);
            }
        });
    });
}

TEMPLATE_TEST_CASE("functions: binary cross-entropy of either label", "", float, double) {
    using T = TestType;
    using W = typename Format<T>::Wider;
    TestDevice<T> device;
    if (!device) return;
    const Buffer loss = (*device).allocate(sizeof(double));
    for (const std::uint8_t label : {0, 1}) {
        Verdict<T> gradient("binary cross-entropy", 6);
        for_binades<T>([&](const Binade<T>& binade) {
            binade.for_chunks(all_numbers<T>(), [&](const std::vector<T>& x) {
                const Matrix logits = device.matrix(x);
                const auto rows = static_cast<std::size_t>(logits.rows());
                const auto labels =
                    (*device).upload(std::span<const std::uint8_t>(std::vector<std::uint8_t>(x.size(), label)));
                const auto split =
                    (*device).upload(std::span<const Split>(std::vector<Split>(rows, Split::train)));
                // Sums of a row's finite losses overflow in the largest binades, in both types.
                const LossInput in{.split = split.data(), .label_matrix = labels.data(), .multi_label = true};
                (*device).binary_cross_entropy(logits, in, logits, static_cast<double*>(loss.data()));
                const std::vector<T> g = device.values(logits);
                W total = 0;
                for (std::size_t i = 0; i < x.size(); ++i) {
                    const W t = label == 1 ? -W{x[i]} : W{x[i]};
                    total += std::max(t, W{0}) + std::log1p(std::exp(-std::abs(t)));
                    gradient.check(x[i], g[i], label == 1 ? -exact_sigmoid(t) : exact_sigmoid(t));
                }
                const W most = std::numeric_limits<T>::max();
                if (binade.finite() && total < most / 2 && total < 0x1p1000L) {
                    const double found = device.number(loss), wanted = static_cast<double>(total),
                                 count = static_cast<double>(x.size());
                    INFO("from x = " << x[0] << " on: " << found << " for " << wanted);
                    CHECK(std::abs(found - wanted) <= (columns + 8) * Format<T>::unit * wanted +
                                                          count * 0x1p-53 * wanted + Format<T>::lost * count);
                }
            });
        });
    }
}

TEMPLATE_TEST_CASE("functions: the first step of Adam, of gradients whose squares are in range", "", float,
                   double) {
    using T = TestType;
    using W = typename Format<T>::Wider;
    TestDevice<T> device;
    if (!device) return;
    Verdict<T> steps("step", 16, 128 * Format<T>::lost);  // a denormal moment, divided by ε
    const TrainSpec spec{.optimizer = OptimizerKind::adam, .learning_rate = 0.25, .weight_decay = {}};
    const T most = sizeof(T) == 4 ? T(0x1p60) : T(0x1p500);
    for_binades<T>([&](const Binade<T>& binade) {
        binade.for_chunks(all_numbers<T>(), [&](const std::vector<T>& x) {
            if (std::abs(x[0]) > most && !std::isinf(x[0])) return;
            const std::vector<T> zeros(x.size());
            const Matrix w = device.matrix(zeros), m = device.matrix(zeros), v = device.matrix(zeros),
                         g = device.matrix(x);
            const ParameterSlot slot{w.view().data, g.view().data, m.view().data, v.view().data, std::ssize(x), 0};
            (*device).optimizer_step(spec, 1, std::span(&slot, 1));
            const std::vector<T> found = device.values(w);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const W gradient = x[i];
                steps.check(gradient, found[i],
                            -W{0.25} * gradient / (std::abs(gradient) + static_cast<W>(spec.epsilon)));
            }
        });
    });
}
