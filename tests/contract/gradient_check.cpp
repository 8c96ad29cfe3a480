// The serial gradient in float64 against central differences of its own loss. Everything else is compared with
// serial, so this is the one place where the derivation itself is checked.
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/training/parameters.hpp>

#include "contract/strategy_case.hpp"
#include "contract/strategy_selection.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

struct Run {
    double loss;
    ModelWeights gradient;
};

Run first_epoch(const DatasetView& data, const ModelVariant& v, const ModelWeights& w) {
    ReferenceResult r = compute_reference(catalog(), {data, v.complete_model(), v.complete_train(), &w, 1});
    return {r.loss[0], std::move(r.gradient[0])};
}

/// (loss(w + h) − loss(w − h)) / 2h for element i of matrix m of `w`.
double slope(const DatasetView& data, const ModelVariant& v, ModelWeights w, std::size_t m, std::size_t i,
             double h) {
    double& x = w.matrices[m].values.values[i];
    const double middle = x;
    x = middle + h;
    const double above = first_epoch(data, v, w).loss;
    x = middle - h;
    return (above - first_epoch(data, v, w).loss) / (2 * h);
}

void check_gradient(const ModelVariant& v, const graphs::NamedGraph& graph) {
    const OwnedDataset owned = dress(graph, v);
    const DatasetView data = owned.view();
    const ModelWeights start = initial_weights(v.complete_model(), 5);
    const Run at = first_epoch(data, v, start);
    int checked = 0, kinks = 0;
    // Of each matrix a third of the elements, in the next case others.
    static std::size_t cases = 0;
    const std::size_t stride = every_case() ? 1 : 3, first = cases++ % stride;
    for (std::size_t m = 0; m < start.matrices.size(); ++m)
        for (std::size_t i = first; i < start.matrices[m].values.values.size(); i += stride) {
            const double fine = slope(data, v, start, m, i, 2.5e-6), off = 1e-7 + 1e-5 * std::abs(fine);
            const double g = at.gradient.matrices[m].values.values[i];
            // Across a kink the slope depends on the step; away from one it does not.
            if (std::abs(g - fine) > off && std::abs(slope(data, v, start, m, i, 1e-5) - fine) > 1e-7) {
                ++kinks;
                continue;
            }
            INFO(v.name << (v.labels == Labels::several ? ", several labels" : "") << ", activation "
                        << static_cast<int>(v.model.activation) << ", aggregated " << v.model.aggregate_input
                        << ", input dropout " << v.train.input_dropout << ", " << start.matrices[m].name
                        << ", element " << i << ": gradient " << g << ", differences " << fine);
            CHECK(std::abs(g - fine) <= off);
            ++checked;
        }
    INFO(kinks << " of " << checked + kinks << " steps crossed a kink");
    const bool smooth = v.model.activation == Activation::sigmoid && v.model.kind != LayerKind::gin;
    CHECK(kinks <= (smooth ? 0 : (checked + kinks) / 10));
}

}  // namespace

TEST_CASE("the serial gradient equals finite differences, in every layer, for every width order and activation") {
    const auto graph = graphs::directed_random(24, 90, true);
    const std::vector<std::vector<std::int64_t>> orders = {{6, 4, 3}, {3, 5, 7}, {4, 6, 3, 5}};
    const Labels labels = GENERATE(Labels::one, Labels::several);
    for (const auto& widths : orders)
        for (const Activation a : {Activation::relu, Activation::leaky_relu, Activation::sigmoid, Activation::elu})
            for (const bool aggregate : {false, true}) {
                ModelVariant v{.name = "gradient check", .widths = widths, .labels = labels};
                v.model.activation = a;
                v.model.aggregate_input = aggregate;
                check_gradient(v, graph);
                v.train.input_dropout = 0.4;
                if (labels == Labels::one && a == Activation::sigmoid) check_gradient(v, graph);
            }
}

TEST_CASE("so do GraphSAGE's, with its self weights, and GIN's, through both its linear maps") {
    const auto graph = graphs::directed_random(24, 90, true);
    for (const auto& widths : {std::vector<std::int64_t>{6, 4, 3}, {3, 5, 7}, {4, 6, 3, 5}}) {
        ModelVariant sage{.name = "GraphSAGE", .widths = widths};
        sage.model.kind = LayerKind::sage;
        sage.model.normalisation = Normalisation::mean;
        sage.model.self_loops = false;
        for (const bool aggregate : {false, true})
            for (const double dropout : {0.0, 0.4}) {
                sage.model.aggregate_input = aggregate;
                sage.train.input_dropout = dropout;
                check_gradient(sage, graph);
            }
        ModelVariant gin{.name = "GIN", .widths = widths};
        gin.model.kind = LayerKind::gin;
        gin.model.normalisation = Normalisation::none;
        gin.model.self_loops = false;
        gin.model.epsilon = 0.3;
        for (const bool aggregate : {false, true}) {
            gin.model.aggregate_input = aggregate;
            check_gradient(gin, graph);
        }
    }
}

TEST_CASE("so does attention's, through scores, softmax and heads, with and without residuals") {
    const auto graph = graphs::directed_random(24, 90, true);
    struct Heads {
        std::vector<std::int64_t> widths, heads;
    };
    for (const auto& [widths, heads] : {Heads{{6, 3}, {1}}, {{3, 8, 7}, {4, 2}}, {{4, 6, 6, 5}, {3, 2, 1}}})
        for (const HeadsCombined combine : {HeadsCombined::columns, HeadsCombined::mean})
            for (const bool residual : {false, true})
                for (const bool self_loops : {false, true}) {
                    ModelVariant gat{.name = "GAT", .widths = widths};
                    gat.model.kind = LayerKind::gat;
                    gat.model.normalisation = Normalisation::none;
                    gat.model.activation = Activation::elu;
                    gat.model.self_loops = self_loops;
                    gat.model.heads = heads;
                    gat.model.combine = combine;
                    gat.model.residual = residual;
                    check_gradient(gat, graph);
                    gat.model.attention_dropout = 0.3;  // every evaluation of the loss draws the same masks
                    check_gradient(gat, graph);
                    gat.name = "GATv2";
                    gat.model.kind = LayerKind::gatv2;
                    check_gradient(gat, graph);
                    gat.model.share_weights = true;
                    if (!residual) check_gradient(gat, graph);
                }
}

TEST_CASE("training the input: a step goes down the finite differences of the loss along X") {
    ModelVariant v{.name = "trained input", .widths = {4, 5, 3}};
    v.model.activation = Activation::sigmoid;
    OwnedDataset owned = dress(graphs::directed_random(20, 70, true), 4, 3);
    const ModelWeights start = initial_weights(v.complete_model(), 5);
    const auto two_epochs = [&](const ModelWeights& w, bool trained) {
        return compute_reference(catalog(),
                                 {owned.view(), v.complete_model(), v.complete_train(), &w, 2, trained});
    };
    const ReferenceResult trained = two_epochs(start, true), fixed = two_epochs(start, false);
    CHECK(trained.loss[0] == fixed.loss[0]);

    // dX by central differences; features are float32, so the steps are powers of two and the points exact enough.
    const std::vector<float> at = owned.features;
    std::vector<double> slopes;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto loss_at = [&](float x) {
            owned.features[i] = x;
            return two_epochs(start, false).loss[0];
        };
        const float above = at[i] + 0x1p-9f, below = at[i] - 0x1p-9f;
        slopes.push_back((loss_at(above) - loss_at(below)) / (double{above} - double{below}));
        owned.features[i] = at[i];
    }
    // The second epoch starts from W − lr (dW + λ W) and X − lr dX: the loss there, seen by a model whose input is
    // fixed.
    const double rate = v.complete_train().learning_rate;
    for (std::size_t i = 0; i < at.size(); ++i) owned.features[i] = static_cast<float>(at[i] - rate * slopes[i]);
    const ReferenceResult both = [&] {
        ModelWeights w = start;
        for (std::size_t m = 0; m < w.matrices.size(); ++m) {
            const std::vector<double>&g = trained.gradient[0].matrices[m].values.values,
                  &from = start.matrices[m].values.values;
            const double decay = w.matrices[m].role == ParameterRole::bias ? 0 : 0.01;
            for (std::size_t i = 0; i < g.size(); ++i)
                w.matrices[m].values.values[i] -= rate * (g[i] + decay * from[i]);
        }
        return two_epochs(w, false);
    }();
    INFO("second loss " << trained.loss[1] << " when trained, " << both.loss[0] << " expected, " << fixed.loss[1]
                        << " with fixed input");
    CHECK(std::abs(trained.loss[1] - both.loss[0]) <= 1e-7);
    CHECK(std::abs(trained.loss[1] - fixed.loss[1]) >= 1e-5);
}
