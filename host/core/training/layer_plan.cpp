#include <gnnbench/training/row_parallel.hpp>

#include <algorithm>
#include <utility>

#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/stated_volume.hpp>
#include <gnnbench/training/trained_features.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/training/vertex_data.hpp>

namespace gnnbench {
namespace {

/// f and g of layer l.
std::pair<std::int64_t, std::int64_t> widths_of(const ModelSpec& m, int l) {
    return {m.widths.at(usize(l)), m.widths.at(usize(l) + 1)};
}

std::int64_t widest_product(const LayerPlan& plan, const ModelSpec& m) {
    std::int64_t widest = 0;
    for (int l = 0; l < m.layers(); ++l)
        for (const Direction d : {Direction::forward, Direction::backward})
            widest = std::max(widest, plan.width(d, m, l));
    return widest;
}

/// Columns that layer l needs for T, U and V, if T is not kept, and for set-up's panels of X.
std::int64_t product_columns(const LayerPlan& plan, const ModelSpec& m, int l) {
    return std::max({plan.keeps(l) ? 0 : plan.width(Direction::forward, m, l),
                     plan.width(Direction::backward, m, l), l == 0 ? plan.setup_panel(m) : 0});
}

}  // namespace

DistributedSpmm::~DistributedSpmm() = default;

std::int64_t LayerPlan::width(Direction d, const ModelSpec& m, int l) const {
    const auto [f, g] = widths_of(m, l);
    const bool forward = d == Direction::forward;
    switch (order.at(usize(l))) {
        case LayerOrder::transform_first:
            return g;
        case LayerOrder::aggregate_first:
            return forward ? f : g;
        case LayerOrder::aggregate_first_kept:
            return forward || has_input_gradient(l) ? f : 0;
        case LayerOrder::transform_first_shortcut:
            require(!has_input_gradient(l), "the gradient shortcut is for a layer whose input is not trained");
            return forward ? g : 0;
        case LayerOrder::aggregated_input:
            require(!has_input_gradient(l), "an aggregated input is layer 0's, and not trained");
            return 0;
    }
    return 0;
}

std::int64_t LayerPlan::setup_panel(const ModelSpec& m) const {
    if (order.at(0) != LayerOrder::aggregated_input) return 0;
    const std::int64_t widest = widest_product(*this, m);
    return std::min({m.widths[0], m.widths[1], widest > 0 ? widest : std::int64_t{64}});
}

std::int64_t LayerPlan::widest_operand(const ModelSpec& m) const {
    return std::max(widest_product(*this, m), setup_panel(m));
}

std::vector<std::int64_t> LayerPlan::received_columns(const ModelSpec& m,
                                                      std::span<const Direction> directions) const {
    std::vector<std::int64_t> columns;
    for (int l = 0; l < m.layers(); ++l) {
        std::int64_t widest = 0;
        for (const Direction d : directions) widest = std::max(widest, width(d, m, l));
        const bool forward = std::ranges::find(directions, Direction::forward) != directions.end();
        columns.push_back(l == 0 && forward ? std::max(widest, setup_panel(m)) : widest);
    }
    if (buffers == Buffers::separate) return columns;
    return {*std::ranges::max_element(columns)};
}

LayerBuffers LayerPlan::layer_buffers(const ModelSpec& m, int l) const {
    const auto [f, g] = widths_of(m, l);
    const std::int64_t kept = keeps(l) ? f : 0;
    if (buffers == Buffers::shared) return {.output = l == 0 ? g : std::max(f, g), .kept = kept};
    return {.output = g, .gradient = g, .product = product_columns(*this, m, l), .kept = kept};
}

std::int64_t LayerPlan::shared_columns(const ModelSpec& m) const {
    if (buffers == Buffers::separate) return 0;
    std::int64_t columns = 0;
    for (int l = 0; l < m.layers(); ++l) columns = std::max(columns, product_columns(*this, m, l));
    return columns;
}

LayerwiseBuffers::LayerwiseBuffers(Kernel& kernel, std::int64_t rows, std::span<const std::int64_t> columns) {
    for (const std::int64_t c : columns) of_layer_.push_back(kernel.matrix(rows, c));
}

void LayerwiseBuffers::state_memory(MemoryStatement& m, std::int64_t rows, std::span<const std::int64_t> columns) {
    for (const std::int64_t c : columns) m.matrix(rows, c);
}

std::int64_t row_parallel_memory(const LayerPlan& plan, const Problem& p, Part part,
                                 const StateSpmmMemory& product, std::int64_t element_bytes) {
    MemoryStatement m(element_bytes);
    const std::int64_t n = p.index.size(part), f_0 = p.dataset.feature_count;
    const bool moments = p.train.optimizer != OptimizerKind::sgd;
    m.matrix(n, f_0);
    if (p.train.input_dropout > 0) m.matrix(n, f_0);
    if (plan.trains_input) m.matrix(n, moments ? 3 * f_0 : f_0);  // dX, and its moments
    for (int l = 0; l < p.model.layers(); ++l) {
        const LayerBuffers of_layer = plan.layer_buffers(p.model, l);
        m.matrix(n, of_layer.output + of_layer.gradient + of_layer.product + of_layer.kept);
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
    VolumeStatement v(element_bytes);
    for (int l = 0; l < m.layers(); ++l) {
        for (const Direction d : {Direction::forward, Direction::backward})
            if (const auto columns = plan.width(d, m, l); columns > 0) v.add(product(d, columns));
        v.all_reduce(ReplicatedParameters::layer_elements(m, l), ranks, rank);
    }
    v.all_reduce_scalars(1, ranks, rank);  // the loss
    return v.total();
}

Volume block_row_volume(const IndexMap& index, int rank, std::int64_t row_bytes) {
    VolumeStatement v(row_bytes);
    for (Part root = 0; root < index.parts(); ++root) v.broadcast(index.size(root), index.parts(), root == rank);
    return v.total();
}

namespace {

LayerPlan plan_of(const Problem& p, std::vector<LayerOrder> order) {
    if (p.model.aggregate_input) order[0] = LayerOrder::aggregated_input;
    return {.order = std::move(order), .trains_input = trains_features(p.params)};
}

}  // namespace

LayerPlan same_order_plan(const Problem& p, LayerOrder order) {
    return plan_of(p, std::vector(usize(p.model.layers()), order));
}

LayerPlan narrowest_plan(const Problem& p) {
    std::vector<LayerOrder> order;
    for (int l = 0; l < p.model.layers(); ++l) {
        const auto [f, g] = widths_of(p.model, l);
        const bool input_gradient = l > 0 || trains_features(p.params);
        order.push_back(f < (input_gradient ? g : 2 * g) ? LayerOrder::aggregate_first_kept
                                                         : LayerOrder::transform_first);
    }
    return plan_of(p, std::move(order));
}

std::string row_parallel_why_unsupported(const Setting& s) { return why_input_not_aggregated(s); }

}  // namespace gnnbench
