#include <gnnbench/training/parameters.hpp>

#include <cmath>

#include <fmt/format.h>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

void draw_initial(const ParameterSpec& p, Initialiser initialiser, std::uint64_t seed, HostMatrix& w) {
    const std::int64_t in = p.heads > 0 ? p.cols / p.heads : p.rows, out = p.heads > 0 ? 1 : p.cols;
    const double fan = static_cast<double>(initialiser == Initialiser::glorot ? in + out : in);
    const double limit = std::sqrt(6 / fan);
    for (std::int64_t i = 0; i < p.rows; ++i)
        for (std::int64_t j = 0; j < p.cols; ++j)
            w(i, j) = limit * (2 * unit_interval(random_word(seed, Draw::weights, static_cast<std::uint64_t>(i),
                                                             static_cast<std::uint32_t>(j), p.draw)) -
                               1);
}

}  // namespace

ModelWeights zero_weights(const ModelSpec& model) {
    ModelWeights out;
    for (const ParameterSpec& p : parameters_of(model))
        out.matrices.push_back({p.name, p.layer, p.role, HostMatrix(p.rows, p.cols)});
    return out;
}

ModelWeights initial_weights(const ModelSpec& model, std::uint64_t seed) {
    ModelWeights out = zero_weights(model);
    std::size_t i = 0;
    for (const ParameterSpec& p : parameters_of(model)) {
        HostMatrix& values = out.matrices[i++].values;
        if (p.role != ParameterRole::bias) draw_initial(p, model.initialiser, seed, values);
    }
    return out;
}

std::int64_t parameter_elements(const ModelSpec& model) {
    std::int64_t elements = 0;
    for (const ParameterSpec& p : parameters_of(model)) elements += p.rows * p.cols;
    return elements;
}

void check_weights(const ModelWeights& given, const ModelSpec& model) {
    const std::vector<ParameterSpec> wanted = parameters_of(model);
    if (given.matrices.size() != wanted.size())
        throw DataError(fmt::format("{} initial matrices are given; the model needs {}", given.matrices.size(),
                                    wanted.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const ParameterSpec& p = wanted[i];
        const auto& [name, layer, role, m] = given.matrices[i];
        if (name != p.name || m.rows != p.rows || m.cols != p.cols)
            throw DataError(fmt::format("initial matrix {} is {}, {}x{}; the model needs {}, {}x{}", i, name,
                                        m.rows, m.cols, p.name, p.rows, p.cols));
    }
}

void ReplicatedParameters::state_memory(MemoryStatement& m, const ModelSpec& model, const TrainSpec& train) {
    // Weights and gradients, and both moments unless plain gradient descent needs none.
    const std::int64_t slabs = train.optimizer == OptimizerKind::sgd ? 2 : 4;
    for (const ParameterSpec& p : parameters_of(model)) m.matrix(slabs, p.rows * p.cols);
}

ReplicatedParameters::ReplicatedParameters(const ModelSpec& model, const TrainSpec& train,
                                           const ModelWeights& initial, Backend& backend)
    : train_(train), backend_(backend) {
    check_weights(initial, model);
    for (const LayerSpec& layer : layers_of(model, false)) {
        auto& placed = layers_.emplace_back();
        for (const ParameterSpec& p : layer.parameters) {
            placed.push_back({p, elements_});
            elements_ += p.rows * p.cols;
        }
    }
    values_ = backend.matrix(1, elements_);
    gradients_ = backend.matrix(1, elements_);
    backend.fill(gradients_, 0);
    if (train.optimizer != OptimizerKind::sgd) {
        first_moments_ = backend.matrix(1, elements_);
        second_moments_ = backend.matrix(1, elements_);
        backend.fill(first_moments_, 0);
        backend.fill(second_moments_, 0);
    }
    auto next = initial.matrices.begin();
    for (const auto& layer : layers_)
        for (const Placed& p : layer)
            backend.upload(std::span<const double>((next++)->values.values), view(values_, p));
}

MatrixView ReplicatedParameters::view(const Matrix& slab, const Placed& p) const {
    return slab.view().cols_from(p.start, p.spec.rows * p.spec.cols).reshaped(p.spec.rows, p.spec.cols);
}

LayerParameters ReplicatedParameters::of_layer(const Matrix& slab, int layer) const {
    const MatrixView none{nullptr, 1, 0, 0, backend_.dtype()};
    LayerParameters out{none, none, none, none, none, none};
    for (const Placed& p : layers_[usize(layer)]) {
        const MatrixView m = view(slab, p);
        switch (p.spec.role) {
            case ParameterRole::self_weight:
                out.self_weight = m;
                break;
            case ParameterRole::row_weight:
                out.row_weight = m;
                break;
            case ParameterRole::weight:
                out.weight = m;
                break;
            case ParameterRole::bias:
                out.bias = m;
                break;
            case ParameterRole::attention_row:
                out.attention_row = m;
                break;
            case ParameterRole::attention_neighbour:
                out.attention_neighbour = m;
                break;
        }
    }
    return out;
}

MatrixView ReplicatedParameters::gradient_row(int layer) const {
    const auto l = usize(layer);
    const std::int64_t first = layers_[l].front().start,
                       end = l + 1 < layers_.size() ? layers_[l + 1].front().start : elements_;
    return gradients_.view().cols_from(first, end - first).reshaped(1, end - first);
}

namespace {

/// Adds the slot; to the last one, where it continues that one's arrays and has its decay.
void append(std::vector<ParameterSlot>& slots, const ParameterSlot& slot, std::size_t element_bytes) {
    if (!slots.empty()) {
        ParameterSlot& last = slots.back();
        const std::size_t bytes = usize(last.count) * element_bytes;
        const auto continues = [&](const void* before, const void* next) {
            return before ? static_cast<const char*>(before) + bytes == next : !next;
        };
        if (last.weight_decay == slot.weight_decay && continues(last.weight, slot.weight) &&
            continues(last.gradient, slot.gradient) && continues(last.first_moment, slot.first_moment) &&
            continues(last.second_moment, slot.second_moment)) {
            last.count += slot.count;
            return;
        }
    }
    slots.push_back(slot);
}

}  // namespace

void ReplicatedParameters::step() {
    std::vector<ParameterSlot> slots;
    const bool moments = train_.optimizer != OptimizerKind::sgd;
    for (const auto& layer : layers_)
        for (const Placed& p : layer) {
            const bool decays = p.spec.role != ParameterRole::bias && !train_.weight_decay.empty();
            append(slots,
                   {.weight = view(values_, p).data,
                    .gradient = view(gradients_, p).data,
                    .first_moment = moments ? view(first_moments_, p).data : nullptr,
                    .second_moment = moments ? view(second_moments_, p).data : nullptr,
                    .count = p.spec.rows * p.spec.cols,
                    .weight_decay = decays ? train_.weight_decay.at(usize(p.spec.layer)) : 0},
                   size_of(backend_.dtype()));
        }
    backend_.optimizer_step(train_, ++step_, slots);
}

Moments ReplicatedParameters::moments() const {
    if (train_.optimizer == OptimizerKind::sgd) return {};
    return {download(first_moments_), download(second_moments_)};
}

ModelWeights ReplicatedParameters::download(const Matrix& slab) const {
    ModelWeights out;
    for (const auto& layer : layers_)
        for (const Placed& p : layer)
            out.matrices.push_back({p.spec.name, p.spec.layer, p.spec.role, backend_.download(view(slab, p))});
    return out;
}

}  // namespace gnnbench
