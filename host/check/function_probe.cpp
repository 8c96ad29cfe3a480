#include "check/function_probe.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

constexpr std::int64_t columns = 8;

/// ±m·2^e for each exponent of float32 up to `most`, denormal ones among them, and mantissas m between 1 and 2; as many
/// as fill whole rows.
std::vector<float> numbers_up_to(int most) {
    std::vector<float> out;
    for (int e = -149; e <= most; ++e)
        for (const double m : {1.0, 1.1, 1.25, 1.393, 1.5, 1.7, 1.999})
            for (const double sign : {-1.0, 1.0}) out.push_back(static_cast<float>(sign * std::ldexp(m, e)));
    while (std::ssize(out) % columns != 0) out.push_back(0);
    return out;
}

Matrix on_device(Backend& k, const std::vector<float>& values) {
    Matrix m = k.matrix(std::ssize(values) / columns, columns);
    k.upload(std::span<const float>(values), m);
    return m;
}

void probe_activation(Backend& k, Activation activation) {
    const std::vector<float> numbers = numbers_up_to(127);
    const Matrix h = on_device(k, numbers), gradient = on_device(k, std::vector<float>(numbers.size(), 1));
    Epilogue e;
    e.activation = activation;
    k.apply(e, h);
    k.apply_backward(e, h, gradient, gradient);
}

/// In each row, one logit is far from the others, which are 0. Sums of a row stay in range.
void probe_loss(Backend& k, bool multi_label) {
    std::vector<float> logits;
    for (const float x : numbers_up_to(60)) {
        logits.insert(logits.end(), usize(columns), 0.0f);
        logits.back() = x;
    }
    const Matrix m = on_device(k, logits);
    const auto rows = usize(m.rows());
    std::vector<std::int32_t> labels(rows);
    std::vector<std::uint8_t> label_matrix(logits.size());
    for (std::size_t r = 0; r < rows; ++r) {
        labels[r] = r % 2 == 0 ? 0 : columns - 1;
        label_matrix[r * usize(columns) + usize(labels[r])] = 1;
    }
    const auto labels_there = k.upload(std::span<const std::int32_t>(labels));
    const auto matrix_there = k.upload(std::span<const std::uint8_t>(label_matrix));
    const auto split = k.upload(std::span<const Split>(std::vector<Split>(rows, Split::train)));
    const Buffer loss = k.allocate(sizeof(double));
    const LossInput in{.labels = labels_there.data(),
                       .split = split.data(),
                       .label_matrix = matrix_there.data(),
                       .multi_label = multi_label};
    if (multi_label)
        k.binary_cross_entropy(m, in, m, static_cast<double*>(loss.data()));
    else
        k.softmax_cross_entropy(m, in, m, static_cast<double*>(loss.data()));
}

}  // namespace

void probe_functions(Backend& checked, const ModelSpec& model, bool multi_label) {
    if (model.activation != Activation::identity) probe_activation(checked, model.activation);
    probe_loss(checked, multi_label);
}

}  // namespace gnnbench
