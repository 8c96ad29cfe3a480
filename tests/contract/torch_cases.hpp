#pragma once
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <gnnbench/training/parameters.hpp>

#include "worker/workload.hpp"

/// Graphs, models and trainings as autograd/make.py and staleness/make.py write them, with what PyTorch made of them.
namespace gnnbench::contract::torch {

using nlohmann::json;

/// `file` is in tests/contract.
inline json read_cases(const std::string& file) {
    std::ifstream in(std::string(GNNBENCH_SOURCE_DIR "/tests/contract/") + file);
    REQUIRE(in.good());
    return json::parse(in);
}

inline OwnedDataset dataset(const json& g, std::int64_t features) {
    OwnedDataset d;
    d.name = g.at("name");
    d.feature_count = features;
    d.classes = 3;
    d.indptr.assign(1, 0);
    for (const json& row : g.at("rows")) {
        for (const json& entry : row) {
            d.indices.push_back(entry.at(0));
            if (g.at("weighted")) d.weights.push_back(entry.at(1));
        }
        d.indptr.push_back(std::ssize(d.indices));
    }
    for (const json& row : g.at("features"))
        for (std::int64_t c = 0; c < features; ++c) d.features.push_back(row.at(static_cast<std::size_t>(c)));
    if (g.contains("labels"))
        for (const json& label : g.at("labels")) d.labels.push_back(label);
    else
        for (const json& row : g.at("label_matrix"))
            for (const json& has : row) d.label_matrix.push_back(has);
    for (const json& train : g.at("train")) d.split.push_back(train == 1 ? Split::train : Split::test);
    return d;
}

inline ModelSpec model_of(const json& c) {
    const std::map<std::string, Activation> activations = {{"relu", Activation::relu},
                                                           {"leaky_relu", Activation::leaky_relu},
                                                           {"sigmoid", Activation::sigmoid},
                                                           {"elu", Activation::elu}};
    ModelSpec m;
    m.widths = c.at("widths").get<std::vector<std::int64_t>>();
    m.activation = activations.at(c.at("activation"));
    m.kind = std::map<std::string, LayerKind>{{"gcn", LayerKind::gcn},
                                              {"sage", LayerKind::sage},
                                              {"gin", LayerKind::gin},
                                              {"gat", LayerKind::gat},
                                              {"gatv2", LayerKind::gatv2}}
                 .at(c.at("layers"));
    m.epsilon = c.at("epsilon");
    m.normalisation =
        std::map<std::string, Normalisation>{
            {"symmetric", Normalisation::symmetric}, {"mean", Normalisation::mean}, {"none", Normalisation::none}}
            .at(c.at("normalisation"));
    m.self_loops = c.at("self_loops");
    m.bias = c.at("bias");
    if (!m.attends()) return m;
    m.heads = c.at("heads").get<std::vector<std::int64_t>>();
    m.combine = c.at("combine") == "mean" ? HeadsCombined::mean : HeadsCombined::columns;
    m.negative_slope = c.at("negative_slope");
    m.residual = c.at("residual");
    m.attention_dropout = c.value("attention_dropout", 0.0);
    m.share_weights = c.value("share_weights", false);
    return m;
}

inline TrainSpec training_of(const json& c, double rate) {
    const std::map<std::string, OptimizerKind> kinds = {
        {"sgd", OptimizerKind::sgd}, {"adam", OptimizerKind::adam}, {"adamw", OptimizerKind::adamw}};
    TrainSpec t;
    t.optimizer = kinds.at(c.at("optimizer"));
    t.learning_rate = rate;
    t.weight_decay = c.at("weight_decay").get<std::vector<double>>();
    return t;
}

inline ModelWeights matrices(const json& flat, const ModelSpec& m) {
    ModelWeights out = zero_weights(m);
    std::size_t weights = 0, biases = 0;  // read so far
    for (auto& [name, layer, role, w] : out.matrices) {
        const bool bias = role == ParameterRole::bias;
        w.values = flat.at(bias ? "biases" : "weights").at(bias ? biases++ : weights++).get<std::vector<double>>();
        REQUIRE(std::ssize(w.values) == w.rows * w.cols);
    }
    return out;
}

/// ‖found − wanted‖_F / ‖wanted‖_F of the worst matrix; of one that is smaller than `least` relative to that.
inline double worst_error(const ModelWeights& found, const ModelWeights& wanted, double least = 1e-12) {
    double worst = 0;
    REQUIRE(found.matrices.size() == wanted.matrices.size());
    for (std::size_t m = 0; m < wanted.matrices.size(); ++m) {
        const auto &x = found.matrices[m].values.values, &y = wanted.matrices[m].values.values;
        REQUIRE(x.size() == y.size());
        double difference = 0, norm = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            difference += (x[i] - y[i]) * (x[i] - y[i]);
            norm += y[i] * y[i];
        }
        worst = std::max(worst, std::sqrt(difference) / std::max(std::sqrt(norm), least));
    }
    return worst;
}

}  // namespace gnnbench::contract::torch
