// What a row-parallel strategy states of an epoch, from its plan.
#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/training/loss.hpp>
#include <gnnbench/training/network.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/training/stated_volume.hpp>
#include <gnnbench/training/vertex_data.hpp>

#include <fmt/format.h>

namespace gnnbench {

std::int64_t row_parallel_memory(const LayerPlan& plan, const Problem& p, Part part,
                                 const StateSpmmMemory& product, std::int64_t element_bytes, std::int64_t copies) {
    MemoryStatement m(element_bytes);
    const std::int64_t n = p.index.size(part) + copies, f_0 = p.dataset.feature_count;
    if (plan.holds_dense_input()) m.matrix(n, f_0);
    if (plan.trains_input() && p.train.optimizer != OptimizerKind::sgd) m.matrix(n, 2 * f_0);  // X's moments
    Network::state_memory(m, plan, p.model, p.train, n);
    product(m, plan.widest_operand());
    VertexData::state_memory(m, p.dataset, n, p.dataset.classes);
    m.list<double>(1);  // the loss
    m.list<std::int64_t>(score_counts(p.dataset.multi_label()));
    return m.bytes();
}

Volume row_parallel_volume(const LayerPlan& plan, const SpmmVolume& product, int ranks, int rank,
                           std::int64_t element_bytes) {
    const LayerVolume of_layer = [&](const LayerProduct& p) { return product(p.direction, p.width); };
    return row_parallel_volume(plan, of_layer, ranks, rank, element_bytes);
}

Volume row_parallel_volume(const LayerPlan& plan, const LayerVolume& product, int ranks, int rank,
                           std::int64_t element_bytes) {
    VolumeStatement v(element_bytes);
    for (int l = 0; l < plan.size(); ++l) {
        const Layer& layer = plan.layer(l);
        for (const Direction d : {Direction::forward, Direction::backward})
            if (const auto columns = layer.width(d); columns > 0) v.add(product({l, d, columns}));
        if (const auto columns = layer.again(); columns > 0)
            v.add(product({l, Direction::forward, columns, true}));
        v.all_reduce(layer.spec().elements(), ranks, rank);
    }
    v.all_reduce_scalars(1, ranks, rank);  // the loss
    return v.total();
}

Volume block_row_volume(const IndexMap& index, int rank, std::int64_t row_bytes) {
    VolumeStatement v(row_bytes);
    for (Part root = 0; root < index.parts(); ++root) v.broadcast(index.size(root), index.parts(), root == rank);
    return v.total();
}

LayerPlan same_order_plan(const Problem& p, LayerOrder order, LayerOrder attends) {
    return plan_layers(p.model, trains_features(p.params), [=](const LayerSpec&) { return order; }, attends);
}

LayerPlan narrowest_plan(const Problem& p) { return narrowest_plan(p.model, trains_features(p.params)); }

std::string row_parallel_why_unsupported(const Setting& s, std::string_view no_attention) {
    if (s.model.attends()) {
        if (s.model.aggregate_input)
            return "layers: gat and gatv2 transform X before they aggregate, so ÂX is of no use to them";
        if (!no_attention.empty())
            return fmt::format("layers: {}: {}", s.model.kind == LayerKind::gat ? "gat" : "gatv2", no_attention);
    }
    const std::string why = why_input_not_aggregated(s);
    return why.empty() ? why_features_not_sparse(s) : why;
}

}  // namespace gnnbench
