#include "contract/strategy_models.hpp"

#include <utility>

namespace gnnbench::contract {

ModelVariant variant_of(LayerKind kind, const std::vector<std::int64_t>& widths) {
    const bool sage = kind == LayerKind::sage;
    ModelVariant v{.name = std::string(sage ? "GraphSAGE" : "GIN") + " to " + std::to_string(widths[1]),
                   .widths = widths};
    v.model.kind = kind;
    v.model.normalisation = sage ? Normalisation::mean : Normalisation::none;
    v.model.self_loops = false;
    if (!sage) v.model.epsilon = -0.25;
    return v;
}

ModelVariant attention(const std::vector<std::int64_t>& widths, const std::vector<std::int64_t>& heads,
                       LayerKind kind) {
    ModelVariant v{.name = std::string(kind == LayerKind::gat ? "GAT" : "GATv2") + " to " +
                           std::to_string(widths[1]) + ", heads " + std::to_string(heads[0]),
                   .widths = widths};
    v.model.kind = kind;
    v.model.normalisation = Normalisation::none;
    v.model.activation = Activation::elu;
    v.model.heads = heads;
    return v;
}

std::vector<ModelVariant> all_models() {
    std::vector<ModelVariant> m = {{.name = "narrowing", .widths = {9, 6, 4, 2}},
                                   {.name = "widening", .widths = {2, 3, 5, 8}},
                                   {.name = "one layer", .widths = {6, 3}},
                                   {.name = "up and down, one class over", .widths = {4, 9, 2, 7, 3}},
                                   {.name = "equal widths", .widths = {4, 4, 4}}};
    const auto with = [&](const char* name, auto&& change) {
        ModelVariant v{.name = name};
        change(v);
        m.push_back(v);
    };
    with("sigmoid", [](auto& v) { v.model.activation = Activation::sigmoid; });
    with("leaky relu, no bias", [](auto& v) {
        v.model.activation = Activation::leaky_relu;
        v.model.bias = false;
    });
    with("mean", [](auto& v) { v.model.normalisation = Normalisation::mean; });
    with("no normalisation, no self-loops", [](auto& v) {
        v.model.normalisation = Normalisation::none;
        v.model.self_loops = false;
        v.train.learning_rate = 0.01;
    });
    with("dropout", [](auto& v) { v.train.dropout = v.train.input_dropout = 0.4; });
    with("hidden dropout, widening", [](auto& v) {
        v.train.dropout = 0.4;
        v.widths = {3, 6, 4};
    });
    with("aggregated input", [](auto& v) { v.model.aggregate_input = true; });
    with("aggregated input, widening", [](auto& v) {
        v.model.aggregate_input = true;
        v.widths = {3, 5, 4};
    });
    with("aggregated input, dropped", [](auto& v) {
        v.model.aggregate_input = true;
        v.train.dropout = v.train.input_dropout = 0.4;
    });
    for (const auto& [dropout, widths] :
         {std::pair{0.0, std::vector<std::int64_t>{9, 6, 2}}, {0.4, {3, 5, 4}}, {0.4, {6, 3}}}) {
        m.push_back(variant_of(LayerKind::sage, widths));
        m.back().name += dropout > 0 ? ", aggregated input, dropped" : ", aggregated input";
        m.back().model.aggregate_input = true;
        m.back().train.input_dropout = dropout;
    }
    for (const LayerKind kind : {LayerKind::sage, LayerKind::gin})
        for (const auto& widths : {std::vector<std::int64_t>{9, 6, 4, 2}, {3, 5, 4}})
            m.push_back(variant_of(kind, widths));
    m.push_back(variant_of(LayerKind::sage, {4, 9, 2, 3}));
    m.back().name += ", dropout, no bias";
    m.back().train.dropout = m.back().train.input_dropout = 0.4;
    m.back().model.bias = false;
    m.push_back(variant_of(LayerKind::gin, {4, 9, 2, 3}));
    m.back().name += ", dropout, sigmoid";
    m.back().train.dropout = 0.4;
    m.back().model.activation = Activation::sigmoid;
    m.push_back(variant_of(LayerKind::gin, {3, 5, 4}));
    m.back().name += ", aggregated input";
    m.back().model.aggregate_input = true;
    for (const auto& widths : {std::vector<std::int64_t>{9, 4, 2}, {3, 5, 4}, {6, 3}})
        with("sparse features", [&](auto& v) {
            v.model.sparse_features = true;
            v.widths = widths;
        });
    for (const LayerKind kind : {LayerKind::sage, LayerKind::gin})
        for (const auto& widths : {std::vector<std::int64_t>{9, 4, 2}, {3, 5, 4}}) {
            m.push_back(variant_of(kind, widths));
            m.back().name += ", sparse features, hidden dropout";
            m.back().model.sparse_features = true;
            m.back().train.dropout = 0.4;
        }
    with("sparse features, normalised", [](auto& v) {
        v.model.sparse_features = true;
        v.model.feature_normalisation = FeatureNormalisation::row;
    });
    m.push_back(attention({9, 8, 6, 2}, {4, 2, 1}));
    m.push_back(attention({5, 6, 3}, {3, 2}));
    m.back().name += ", coefficients dropped";
    m.back().model.attention_dropout = 0.4;
    m.push_back(attention({3, 8, 4}, {8}));
    m.back().name += ", dropout, no bias, residual";
    m.back().train.dropout = m.back().train.input_dropout = 0.4;
    m.back().model.bias = false;
    m.back().model.residual = true;
    m.back().model.attention_dropout = 0.6;
    m.push_back(attention({9, 8, 6, 2}, {4, 2, 1}, LayerKind::gatv2));
    m.push_back(attention({5, 6, 3}, {3, 2}, LayerKind::gatv2));
    m.back().name += ", coefficients dropped, shared weights";
    m.back().model.attention_dropout = 0.4;
    m.back().model.share_weights = true;
    m.push_back(attention({3, 8, 4}, {8}, LayerKind::gatv2));
    m.back().name += ", dropout, no bias, residual";
    m.back().train.dropout = m.back().train.input_dropout = 0.4;
    m.back().model.bias = false;
    m.back().model.residual = true;
    m.push_back(attention({6, 3}, {3}));
    m.back().name += ", no self-loops, sparse features";
    m.back().model.self_loops = false;
    m.back().model.sparse_features = true;
    m.push_back(attention({4, 5, 7, 3}, {2, 3, 1}));
    m.back().name += ", means";
    m.back().model.combine = HeadsCombined::mean;
    with("normalised features, kaiming", [](auto& v) {
        v.model.feature_normalisation = FeatureNormalisation::row;
        v.model.initialiser = Initialiser::kaiming;
    });
    return m;
}

}  // namespace gnnbench::contract
