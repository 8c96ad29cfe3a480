// `serial` on `reference` in float64 against PyTorch: losses and gradients by its autograd, weights by its optimizers.
// Every other check ends at serial, which shares its trainer with half the schemes; this one ends outside the tree.
// autograd/make.py wrote autograd/cases.json.
#include <cmath>
#include <fstream>
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <gnnbench/training/parameters.hpp>

#include "contract/serial_training.hpp"
#include "worker/workload.hpp"

using namespace gnnbench;
using contract::SerialTraining;
using nlohmann::json;

namespace {

constexpr double allowed = 1e-10;

json read_cases() {
    std::ifstream in(GNNBENCH_SOURCE_DIR "/tests/contract/autograd/cases.json");
    REQUIRE(in.good());
    return json::parse(in);
}

OwnedDataset dataset(const json& g, std::int64_t features) {
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

ModelSpec model_of(const json& c) {
    const std::map<std::string, Activation> activations = {
        {"relu", Activation::relu}, {"leaky_relu", Activation::leaky_relu}, {"sigmoid", Activation::sigmoid}};
    ModelSpec m;
    m.widths = c.at("widths").get<std::vector<std::int64_t>>();
    m.activation = activations.at(c.at("activation"));
    m.kind =
        std::map<std::string, LayerKind>{
            {"gcn", LayerKind::gcn}, {"sage", LayerKind::sage}, {"gin", LayerKind::gin}}
            .at(c.at("layers"));
    m.epsilon = c.at("epsilon");
    m.normalisation =
        std::map<std::string, Normalisation>{
            {"symmetric", Normalisation::symmetric}, {"mean", Normalisation::mean}, {"none", Normalisation::none}}
            .at(c.at("normalisation"));
    m.self_loops = c.at("self_loops");
    m.bias = c.at("bias");
    return m;
}

TrainSpec training_of(const json& c, double rate) {
    const std::map<std::string, OptimizerKind> kinds = {
        {"sgd", OptimizerKind::sgd}, {"adam", OptimizerKind::adam}, {"adamw", OptimizerKind::adamw}};
    TrainSpec t;
    t.optimizer = kinds.at(c.at("optimizer"));
    t.learning_rate = rate;
    t.weight_decay = c.at("weight_decay").get<std::vector<double>>();
    return t;
}

ModelWeights matrices(const json& flat, const ModelSpec& m) {
    ModelWeights out = zero_weights(m);
    std::size_t weights = 0, biases = 0;  // read so far
    for (auto& [name, layer, role, w] : out.matrices) {
        const bool bias = role == ParameterRole::bias;
        w.values = flat.at(bias ? "biases" : "weights").at(bias ? biases++ : weights++).get<std::vector<double>>();
        REQUIRE(std::ssize(w.values) == w.rows * w.cols);
    }
    return out;
}

/// ‖found − wanted‖_F / ‖wanted‖_F of the worst matrix.
double worst_error(const ModelWeights& found, const ModelWeights& wanted) {
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
        worst = std::max(worst, std::sqrt(difference) / std::max(std::sqrt(norm), 1e-12));
    }
    return worst;
}

}  // namespace

TEST_CASE("serial has the losses and gradients of PyTorch's autograd, and its optimizers' weights") {
    const json made = read_cases();
    const PluginCatalog catalog;
    int optimizers_seen = 0, kinds_seen = 0, label_matrices = 0;
    for (const json& c : made.at("cases")) {
        const OwnedDataset owned =
            dataset(made.at("graphs").at(c.at("graph").get<std::size_t>()), c.at("widths").at(0));
        ModelSpec model = model_of(c);
        const TrainSpec train = training_of(c, made.at("learning_rate"));
        const ModelWeights initial = matrices(c.at("initial"), model);
        const bool trained = c.at("trained_features");
        optimizers_seen |= 1 << static_cast<int>(train.optimizer);
        kinds_seen |= 1 << static_cast<int>(model.kind);
        label_matrices += owned.view().multi_label();
        for (const bool aggregate : {false, true}) {
            if (trained && aggregate) continue;                        // X changes
            if (model.kind == LayerKind::sage && aggregate) continue;  // X itself is needed
            model.aggregate_input = aggregate;
            const SerialTraining found = contract::train_serially(catalog, owned.view(), model, train, &initial,
                                                                  made.at("epochs"), trained);
            INFO(owned.name << ", layers " << c.at("layers") << ", widths " << c.at("widths") << ", "
                            << c.at("activation") << ", " << c.at("normalisation") << ", bias " << c.at("bias")
                            << ", self-loops " << c.at("self_loops") << ", " << c.at("optimizer")
                            << ", trained features " << trained << ", aggregated input " << aggregate);
            for (std::size_t e = 0; e < found.loss.size(); ++e) {
                const double wanted = c.at("loss").at(e);
                INFO("epoch " << e << ": loss " << found.loss[e] << ", PyTorch's " << wanted);
                CHECK(std::abs(found.loss[e] - wanted) <= allowed * wanted);
            }
            const double of_gradient = worst_error(found.gradient[0], matrices(c.at("gradient"), model));
            const double of_weights = worst_error(found.weights, matrices(c.at("final"), model));
            INFO("gradient error " << of_gradient << ", error of the final weights " << of_weights);
            CHECK(of_gradient <= allowed);
            CHECK(of_weights <= allowed);
        }
    }
    CHECK(optimizers_seen == 7);
    CHECK(kinds_seen == 7);
    CHECK(label_matrices == 9);
}
