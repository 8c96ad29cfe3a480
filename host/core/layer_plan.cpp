#include <gnnbench/row_parallel.hpp>

#include <algorithm>

#include <gnnbench/parameters.hpp>
#include <gnnbench/trained_features.hpp>
#include <gnnbench/vertex_data.hpp>

namespace gnnbench {
namespace {

std::int64_t width(const ModelSpec& m, int l) { return m.widths[static_cast<std::size_t>(l)]; }

}  // namespace

DistributedSpmm::~DistributedSpmm() = default;

std::int64_t LayerPlan::forward_width(const ModelSpec& m, int l) const {
    switch (order.at(static_cast<std::size_t>(l))) {
        case LayerOrder::transform_first:
        case LayerOrder::transform_first_shortcut:
            return width(m, l + 1);
        case LayerOrder::aggregate_first:
        case LayerOrder::aggregate_first_kept:
        case LayerOrder::aggregate_first_shortcut:
            return width(m, l);
        case LayerOrder::aggregated_input:
            return 0;
    }
    return 0;
}

std::int64_t LayerPlan::backward_width(const ModelSpec& m, int l) const {
    switch (order.at(static_cast<std::size_t>(l))) {
        case LayerOrder::transform_first:
        case LayerOrder::aggregate_first:
            return width(m, l + 1);
        case LayerOrder::transform_first_shortcut:
            return l == 0 ? 0 : width(m, l + 1);
        case LayerOrder::aggregate_first_kept:
        case LayerOrder::aggregate_first_shortcut:
            return l == 0 ? 0 : width(m, l);
        case LayerOrder::aggregated_input:
            return 0;
    }
    return 0;
}

std::int64_t LayerPlan::widest_spmm(const ModelSpec& m) const {
    std::int64_t widest = 0;
    for (int l = 0; l < m.layers(); ++l) widest = std::max({widest, forward_width(m, l), backward_width(m, l)});
    return widest;
}

std::int64_t LayerPlan::widest_operand(const ModelSpec& m) const {
    const std::int64_t widest = widest_spmm(m);
    return widest > 0 ? widest : std::min<std::int64_t>(width(m, 0), 64);
}

std::int64_t LayerPlan::shared_columns(const ModelSpec& m) const {
    std::int64_t columns = 0;
    for (int l = 0; l < m.layers(); ++l)
        columns = std::max({columns, keeps(l) ? 0 : forward_width(m, l), backward_width(m, l)});
    return columns > 0 ? columns : widest_operand(m);
}

std::int64_t LayerPlan::output_columns(const ModelSpec& m, int l) const {
    return l == 0 ? width(m, 1) : std::max(width(m, l), width(m, l + 1));
}

std::int64_t row_parallel_memory(const LayerPlan& plan, const Problem& p, Part part,
                                 const StateSpmmMemory& product, std::int64_t element_bytes) {
    MemoryStatement m(element_bytes);
    const std::int64_t n = p.index.size(part), f_0 = p.dataset.feature_count;
    const bool trained = trains_features(p.params), moments = p.train.optimizer != OptimizerKind::sgd;
    m.matrix(n, f_0);
    if (p.train.input_dropout > 0) m.matrix(n, f_0);
    if (trained) m.matrix(n, moments ? 3 * f_0 : f_0);  // dX, and its moments
    for (int l = 0; l < p.model.layers(); ++l) {
        m.matrix(n, plan.output_columns(p.model, l));
        if (plan.keeps(l)) m.matrix(n, width(p.model, l));
    }
    m.matrix(n, plan.shared_columns(p.model));
    product(m, plan.widest_operand(p.model));
    ReplicatedParameters::state_memory(m, p.model, p.train);
    VertexData::state_memory(m, n);
    m.list<double>(1);        // the loss
    m.list<std::int64_t>(6);  // correct and total of each split
    return m.bytes();
}

Volume row_parallel_volume(const LayerPlan& plan, const ModelSpec& m, const SpmmVolume& product, int ranks,
                           int rank, std::int64_t element_bytes) {
    Volume v;
    const auto all_reduce = [&](std::int64_t elements, std::int64_t bytes, Content content) {
        if (ranks == 1) return;
        if (elements == 0) return;
        v[{CommOp::all_reduce, content}] += counting::all_reduce(
            elements * bytes, counting::even_block_bytes(elements, bytes, ranks, rank), ranks);
    };
    for (int l = 0; l < m.layers(); ++l) {
        if (const auto f = plan.forward_width(m, l)) v += product(Direction::forward, f);
        if (const auto g = plan.backward_width(m, l)) v += product(Direction::backward, g);
        all_reduce(ReplicatedParameters::layer_elements(m, l), element_bytes, Content::payload);
    }
    all_reduce(1, sizeof(double), Content::metadata);
    return v;
}

Volume block_row_volume(const IndexMap& index, int rank, std::int64_t row_bytes) {
    Volume v;
    for (Part root = 0; root < index.parts(); ++root) {
        const Traffic t = counting::broadcast(index.size(root) * row_bytes, index.parts(), root == rank);
        if (t.messages > 0) v[{CommOp::broadcast, Content::payload}] += t;
    }
    return v;
}

LayerPlan aggregate_first_plan(const Strategy& strategy, const Problem& p) {
    LayerPlan plan{std::vector(static_cast<std::size_t>(p.model.layers()), LayerOrder::aggregate_first)};
    if (aggregates_input(strategy, {p.index.parts(), p.model, p.train, p.params}))
        plan.order[0] = LayerOrder::aggregated_input;
    return plan;
}

std::string row_parallel_why_unsupported(const Setting& s) {
    if (s.model.aggregate_input == AggregateInput::on && s.train.input_dropout > 0)
        return "aggregate_input needs layer 0's input to stay the same, and input_dropout redraws it every epoch";
    if (s.model.aggregate_input == AggregateInput::on && trains_features(s.params))
        return "aggregate_input needs layer 0's input to stay the same, and trainable_features changes it every "
               "epoch";
    return {};
}

}  // namespace gnnbench
