#include <gnnbench/training/layer_plan.hpp>

#include <algorithm>

namespace gnnbench {
namespace {

std::int64_t widest_product(const LayerPlan& plan) {
    std::int64_t widest = 0;
    for (const auto& layer : plan.layers)
        for (const Direction d : {Direction::forward, Direction::backward})
            widest = std::max(widest, layer->width(d));
    return widest;
}

/// Of a layer 0 whose input is aggregated at set-up. Self weights need X beside ÂX.
LayerOrder without_product(const LayerSpec& spec) {
    return spec.has(ParameterRole::self_weight) ? aggregated_at_setup : dense;
}

/// Columns that layer l needs between its products, and for set-up's panels of X.
std::int64_t product_columns(const LayerPlan& plan, int l) {
    return std::max(plan.layer(l).product_columns(), l == 0 ? plan.setup_panel() : 0);
}

}  // namespace

std::int64_t LayerPlan::setup_panel() const {
    if (!aggregated_input) return 0;
    const std::int64_t widest = widest_product(*this);
    return std::min({spec(0).f, spec(0).g, widest > 0 ? widest : std::int64_t{64}});
}

std::int64_t LayerPlan::widest_operand() const { return std::max(widest_product(*this), setup_panel()); }

std::int64_t LayerPlan::widest_room() const {
    std::int64_t widest = 0;
    for (const auto& layer : layers) widest = std::max(widest, layer->room());
    return widest;
}

std::vector<std::int64_t> LayerPlan::received_columns(std::span<const Direction> directions) const {
    std::vector<std::int64_t> columns;
    for (int l = 0; l < size(); ++l) {
        std::int64_t widest = 0;
        for (const Direction d : directions) widest = std::max(widest, layer(l).width(d));
        const bool forward = std::ranges::find(directions, Direction::forward) != directions.end();
        columns.push_back(l == 0 && forward ? std::max(widest, setup_panel()) : widest);
    }
    if (buffers == Buffers::separate) return columns;
    return {*std::ranges::max_element(columns)};
}

LayerBuffers LayerPlan::layer_buffers(int l) const {
    const auto f = spec(l).f, g = spec(l).g, kept = stacks() ? 0 : layer(l).kept_columns();
    if (buffers == Buffers::separate)
        return {.output = g, .gradient = g, .product = stacks() ? 0 : product_columns(*this, l), .kept = kept};
    const bool holds_dh = l > 0 && !layer(l).reads_gradient_late();
    return {.output = holds_dh ? std::max(f, g) : g, .kept = kept};
}

std::int64_t LayerPlan::kept_before(int l) const {
    std::int64_t columns = 0;
    for (int before = 0; before < l; ++before) columns += layer(before).kept_columns();
    return columns;
}

std::int64_t LayerPlan::shared_columns() const {
    std::int64_t columns = 0;
    if (stacks()) {
        for (int l = 0; l < size(); ++l)
            columns = std::max(columns, kept_before(l + 1) + layer(l).product_columns());
        return columns;
    }
    if (buffers == Buffers::separate) return 0;
    for (int l = 0; l < size(); ++l) columns = std::max(columns, product_columns(*this, l));
    return columns;
}

std::int64_t LayerPlan::late_gradient_columns() const {
    if (buffers == Buffers::separate) return 0;
    std::int64_t columns = 0;
    for (int l = 1; l < size(); ++l)
        if (layer(l).reads_gradient_late()) columns = std::max(columns, spec(l).f);
    return columns;
}

LayerPlan plan_layers(const ModelSpec& model, bool trains_input, const ChooseOrder& order, LayerOrder attends) {
    LayerPlan plan{
        .layers = {}, .aggregated_input = model.aggregate_input, .sparse_features = model.sparse_features};
    for (const LayerSpec& spec : layers_of(model, trains_input)) {
        const bool aggregated = plan.layers.empty() && model.aggregate_input;
        const LayerOrder chosen = spec.attention    ? attends
                                  : aggregated      ? without_product(spec)
                                  : spec.aggregates ? order(spec)
                                                    : dense;
        plan.layers.push_back(chosen(spec));
    }
    return plan;
}

LayerPlan narrowest_plan(const ModelSpec& model, bool trains_input) {
    return plan_layers(model, trains_input, [](const LayerSpec& s) -> LayerOrder {
        return s.f < (s.input_gradient ? s.g : 2 * s.g) ? aggregate_first_kept : transform_first;
    });
}

LayerwiseBuffers::LayerwiseBuffers(Backend& backend, std::int64_t rows, std::span<const std::int64_t> columns) {
    for (const std::int64_t c : columns) of_layer_.push_back(backend.matrix(rows, c));
}

void LayerwiseBuffers::state_memory(MemoryStatement& m, std::int64_t rows, std::span<const std::int64_t> columns) {
    for (const std::int64_t c : columns) m.matrix(rows, c);
}

}  // namespace gnnbench
