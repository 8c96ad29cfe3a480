#include <gnnbench/training/parameters.hpp>

#include <cmath>

#include <fmt/format.h>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

ModelWeights initial_weights(const ModelSpec& model, std::uint64_t seed) {
    ModelWeights out;
    for (int l = 0; l < model.layers(); ++l) {
        const auto f = model.widths[usize(l)], g = model.widths[usize(l) + 1];
        const double fan = static_cast<double>(model.initialiser == Initialiser::glorot ? f + g : f);
        const double limit = std::sqrt(6 / fan);
        HostMatrix w(f, g);
        for (std::int64_t i = 0; i < f; ++i)
            for (std::int64_t j = 0; j < g; ++j)
                w(i, j) =
                    limit *
                    (2 * unit_interval(random_word(seed, Draw::weights, static_cast<std::uint64_t>(i),
                                                   static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(l))) -
                     1);
        out.weight.push_back(std::move(w));
        if (model.bias) out.bias.emplace_back(1, g);
    }
    return out;
}

std::int64_t ReplicatedParameters::layer_elements(const ModelSpec& model, int l) {
    const auto f = model.widths[usize(l)], g = model.widths[usize(l) + 1];
    return f * g + (model.bias ? g : 0);
}

void ReplicatedParameters::state_memory(MemoryStatement& m, const ModelSpec& model, const TrainSpec& train) {
    // Weights and gradients, and both moments unless plain gradient descent needs none.
    const std::int64_t slabs = train.optimizer == OptimizerKind::sgd ? 2 : 4;
    for (int l = 0; l < model.layers(); ++l) m.matrix(slabs, layer_elements(model, l));
}

ReplicatedParameters::ReplicatedParameters(const ModelSpec& model, const TrainSpec& train,
                                           const ModelWeights& initial, Kernel& kernel)
    : model_(model), train_(train), kernel_(kernel), start_{0} {
    for (int l = 0; l < model.layers(); ++l) start_.push_back(start_.back() + layer_elements(model, l));
    const std::int64_t total = start_.back();
    weights_ = kernel.matrix(1, total);
    gradients_ = kernel.matrix(1, total);
    kernel.fill(gradients_, 0);
    if (train.optimizer != OptimizerKind::sgd) {
        first_moments_ = kernel.matrix(1, total);
        second_moments_ = kernel.matrix(1, total);
        kernel.fill(first_moments_, 0);
        kernel.fill(second_moments_, 0);
    }
    for (int l = 0; l < model.layers(); ++l) {
        const auto check = [&](const HostMatrix& given, MatrixView wanted, const char* what) {
            if (given.rows != wanted.rows || given.cols != wanted.cols)
                throw DataError(fmt::format("initial {} of layer {} is {}x{}; the model needs {}x{}", what, l,
                                            given.rows, given.cols, wanted.rows, wanted.cols));
            kernel.upload(std::span<const double>(given.values), wanted);
        };
        check(initial.weight.at(usize(l)), weight(l), "weight");
        if (model.bias) check(initial.bias.at(usize(l)), bias(l), "bias");
    }
}

MatrixView ReplicatedParameters::weight_of(const Matrix& slab, int l) const {
    const auto f = model_.widths[usize(l)], g = model_.widths[usize(l) + 1];
    return slab.view().cols_from(start_[usize(l)], f * g).reshaped(f, g);
}

MatrixView ReplicatedParameters::bias_of(const Matrix& slab, int l) const {
    if (!model_.bias) return {nullptr, 1, 0, 0, kernel_.dtype()};
    const auto g = model_.widths[usize(l) + 1];
    return slab.view().cols_from(start_[usize(l) + 1] - g, g).reshaped(1, g);
}

MatrixView ReplicatedParameters::gradient(int l) const {
    const std::int64_t count = layer_elements(model_, l);
    return gradients_.view().cols_from(start_[usize(l)], count).reshaped(1, count);
}

void ReplicatedParameters::step() {
    std::vector<ParameterSlot> slots;
    const auto add = [&](auto&& part, double decay) {
        const MatrixView w = part(weights_);
        if (w.empty()) return;
        const bool moments = train_.optimizer != OptimizerKind::sgd;
        slots.push_back({.weight = w.data,
                         .gradient = part(gradients_).data,
                         .first_moment = moments ? part(first_moments_).data : nullptr,
                         .second_moment = moments ? part(second_moments_).data : nullptr,
                         .count = w.rows * w.cols,
                         .weight_decay = decay});
    };
    for (int l = 0; l < model_.layers(); ++l) {
        const double decay = train_.weight_decay.empty() ? 0 : train_.weight_decay.at(usize(l));
        add([&](const Matrix& slab) { return weight_of(slab, l); }, decay);
        add([&](const Matrix& slab) { return bias_of(slab, l); }, 0);
    }
    kernel_.optimizer_step(train_, ++step_, slots);
}

ModelWeights ReplicatedParameters::download(const Matrix& slab) const {
    ModelWeights out;
    for (int l = 0; l < model_.layers(); ++l) {
        out.weight.push_back(kernel_.download(weight_of(slab, l)));
        if (model_.bias) out.bias.push_back(kernel_.download(bias_of(slab, l)));
    }
    return out;
}

}  // namespace gnnbench
