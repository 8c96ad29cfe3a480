#include "sharded_parameters.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/training/parameters.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {
namespace {

/// Elements of a rank's run of layer l.
std::int64_t run_length(const Layout& of_rank, int l) {
    return of_rank.parameter_counts(l)[usize(of_rank.at(of_rank.layer(l).roles.d))];
}

/// Calls visit(element of the whole model) for each element of a rank's run of layer l.
void visit_run(const Layout& of_rank, int l, ModelWeights& whole, auto&& visit) {
    const LayerShape& s = of_rank.layer(l);
    HostMatrix& weight = whole[fmt::format("W{}", l)];
    const std::int64_t begin = of_rank.parameter_begin(l), end = begin + run_length(of_rank, l);
    for (std::int64_t e = begin; e < end; ++e) {
        const std::int64_t row = e / s.g_o, column = s.first_g + e % s.g_o;
        visit(row < s.f_i ? weight(s.first_f + row, column) : whole[fmt::format("b{}", l)](0, column));
    }
}

}  // namespace

ShardedParameters::ShardedParameters(const Layout& layout, const ModelSpec& model, const TrainSpec& train,
                                     const ModelWeights& initial, Backend& backend)
    : layout_(layout), model_(model), train_(train), backend_(backend), start_{0} {
    check_weights(initial, model);
    ModelWeights whole = initial;
    std::vector<double> values;
    for (int l = 0; l < layout.layers(); ++l) {
        const LayerShape& s = layout.layer(l);
        const std::int64_t length = run_length(layout, l);
        counts_.push_back(layout.parameter_counts(l));
        start_.push_back(start_.back() + length);
        decayed_.push_back(std::clamp<std::int64_t>(s.f_i * s.g_o - layout.parameter_begin(l), 0, length));
        visit_run(layout, l, whole, [&](double& w) { values.push_back(w); });
    }
    const auto slab = [&] {
        Matrix m = backend.matrix(start_.back(), 1);
        backend.fill(m, 0);
        return m;
    };
    weights_ = slab();
    backend.upload(std::span<const double>(values), weights_);
    gradients_ = slab();
    if (train.optimizer == OptimizerKind::sgd) return;
    first_moments_ = slab();
    second_moments_ = slab();
}

MatrixView ShardedParameters::shard(const Matrix& slab, int l) const {
    const auto layer = usize(l);
    return slab.view().rows_from(start_[layer], start_[layer + 1] - start_[layer]);
}

void ShardedParameters::step(std::span<const ParameterSlot> more) {
    std::vector<ParameterSlot> slots(more.begin(), more.end());
    const bool moments = train_.optimizer != OptimizerKind::sgd;
    for (int l = 0; l < layout_.layers(); ++l) {
        const auto layer = usize(l);
        const double decay = train_.weight_decay.empty() ? 0 : train_.weight_decay.at(layer);
        const auto add = [&](std::int64_t first, std::int64_t count, double weight_decay) {
            if (count == 0) return;
            const auto part = [&](const Matrix& slab) { return shard(slab, l).rows_from(first, count).data; };
            slots.push_back({.weight = part(weights_),
                             .gradient = part(gradients_),
                             .first_moment = moments ? part(first_moments_) : nullptr,
                             .second_moment = moments ? part(second_moments_) : nullptr,
                             .count = count,
                             .weight_decay = weight_decay});
        };
        const std::int64_t all = start_[layer + 1] - start_[layer];
        add(0, decayed_[layer], decay);
        add(decayed_[layer], all - decayed_[layer], 0);  // biases do not decay
    }
    backend_.optimizer_step(train_, ++step_, slots);
}

Moments ShardedParameters::moments(Communicator& world) const {
    if (train_.optimizer == OptimizerKind::sgd) return {};
    return {assembled(first_moments_, world), assembled(second_moments_, world)};
}

ModelWeights ShardedParameters::assembled(const Matrix& slab, Communicator& world) const {
    std::vector<Layout> layouts;
    std::vector<std::int64_t> rows;  // of every rank's slab
    for (int r = 0; r < world.size(); ++r) {
        const Layout& of_rank = layouts.emplace_back(layout_.grid(), model_, 0, r);
        std::int64_t elements = 0;
        for (int l = 0; l < of_rank.layers(); ++l) elements += run_length(of_rank, l);
        rows.push_back(elements);
    }
    const std::int64_t before = std::reduce(rows.begin(), rows.begin() + world.rank());
    const Matrix all = backend_.matrix(std::reduce(rows.begin(), rows.end()), 1);
    backend_.copy(slab, all.view().rows_from(before, slab.rows()));
    world.all_gather_now(all, rows);
    const HostMatrix host = backend_.download(all);

    ModelWeights whole = zero_weights(model_);
    std::vector<double>::const_iterator next = host.values.begin();
    const auto place = [&](const Layout& of_rank, std::vector<double>::const_iterator from) {
        for (int l = 0; l < of_rank.layers(); ++l) visit_run(of_rank, l, whole, [&](double& w) { w = *from++; });
        return from;
    };
    for (const Layout& of_rank : layouts) next = place(of_rank, next);
    // Biases lie on all ranks along i. Each rank shows its own copy, so that copies can be compared.
    place(layout_, host.values.begin() + before);
    return whole;
}

}  // namespace gnnbench::plexus
