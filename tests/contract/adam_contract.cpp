// What Adam leaves behind: weights after several epochs against serial's in float64. SGD's gradients find a wrong
// scale, which Adam hides; these weights find moments that are cut wrongly, steps that are miscounted, a correction
// or a decay that is missing on some shard, and trained features that take another path.
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/training/parameters.hpp>

#include "contract/serial_training.hpp"
#include "contract/strategy_case.hpp"
#include "contract/strategy_selection.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

constexpr std::int64_t epochs = 5;  // as contract::run trains
/// Where a gradient is 0 but for rounding, 1e-17 ÷ 1e-8 of a learning rate of 0.2 may remain, in each epoch.
constexpr double allowed = 1e-8;

/// ‖found − wanted‖_F ÷ ‖wanted‖_F of the worst matrix.
double worst_error(const ModelWeights& found, const ModelWeights& wanted) {
    double worst = 0;
    REQUIRE(found.matrices.size() == wanted.matrices.size());
    for (std::size_t m = 0; m < wanted.matrices.size(); ++m) {
        const auto &x = found.matrices[m].values.values, &y = wanted.matrices[m].values.values;
        double apart = 0, norm = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            apart += std::pow(x[i] - y[i], 2);
            norm += y[i] * y[i];
        }
        worst = std::max(worst, std::sqrt(apart / norm));
    }
    return worst;
}

std::vector<ModelVariant> optimizers() {
    std::vector<ModelVariant> out;
    for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw}) {
        ModelVariant v{.name = kind == OptimizerKind::adam ? "6-5-7-3 by Adam" : "6-5-7-3 by AdamW",
                       .widths = {6, 5, 7, 3}};
        v.optimizer = kind;  // with complete_train's weight decay
        v.model.activation = Activation::sigmoid;
        out.push_back(v);
    }
    return out;
}

/// Errors of every rank's weights and gradients' copies; empty where nothing is wrong.
std::string problem(const Outcome& o, const ModelWeights& wanted) {
    std::string text;
    if (const double error = worst_error(o.weights, wanted); !(error <= allowed))
        text += "weights are " + std::to_string(error) + " off; ";
    if (!o.replicas.within(allowed))
        text += "copies of " + o.replicas.worst + " are " + std::to_string(o.replicas.error) + " apart";
    return text;
}

/// Serial's weights, by model and whether features are trained.
const ModelWeights& serial_weights(const ModelVariant& v, const graphs::NamedGraph& graph, bool trained) {
    static std::map<std::pair<std::string, bool>, ModelWeights> known;
    const auto key = std::pair(v.name, trained);
    if (!known.contains(key)) {
        const OwnedDataset owned = dress(graph, v.widths.front(), static_cast<std::int32_t>(v.widths.back()));
        known[key] = train_serially(catalog(), owned.view(), v.complete_model(), v.complete_train(), nullptr,
                                    epochs, trained)
                         .weights;
    }
    return known.at(key);
}

}  // namespace

TEST_CASE("a strategy's weights after Adam and AdamW are serial's, on every rank, with trained features, too") {
    const auto graph = graphs::directed_random(40, 200, true);
    const ProcessGroup world = mpi_world();
    int trained_cases = 0;
    for (const ListedPlugin& p : catalog().list()) {
        if (p.kind != PluginKind::strategy || !p.usable() || trains_on_batches(catalog(), p.name)) continue;
        std::size_t place = 0;
        for (const StrategyVariant& s : variants(p.name)) {
            std::size_t of_variant = place++;
            for (const ModelVariant& v : optimizers()) {
                if (!of_selection(of_variant++) && !trains_features(s.params)) continue;
                const Outcome o = run(s, "random", {"reference", DType::f64}, v, graph);
                if (!o.skipped.empty() || !o.approximation.empty()) continue;
                const bool trained = trains_features(s.params);
                trained_cases += trained;
                const auto all = world.all_gather(problem(o, serial_weights(v, graph, trained)));
                for (std::size_t r = 0; r < all.size(); ++r) {
                    INFO(p.name << " " << s.changed << ", " << v.name << ", rank " << r << " of " << all.size());
                    CHECK(all[r] == "");
                }
            }
        }
    }
    CHECK(trained_cases > 0);  // plexus-3d at any number of ranks
}

TEST_CASE("copies of weights: one rank's that is off is found, whichever it is") {
    const ProcessGroup world = mpi_world();
    ModelSpec model;
    model.widths = {2, 3, 1};
    ModelWeights w = zero_weights(model);
    for (NamedMatrix& m : w.matrices)
        for (std::size_t i = 0; i < m.values.values.size(); ++i) m.values.values[i] = static_cast<double>(i) - 1;
    CHECK(replica_spread(w, world).error == 0);
    if (world.size() == 1) return;
    for (int wrong = 0; wrong < world.size(); ++wrong)
        for (const double value : {1e-3, std::nan(""), std::numeric_limits<double>::infinity()}) {
            ModelWeights mine = w;
            if (world.rank() == wrong) mine["W1"].values[2] += value;
            const ReplicaSpread spread = replica_spread(mine, world);
            INFO("rank " << wrong << " is off by " << value);
            CHECK(spread.worst == "W1");
            CHECK_FALSE(spread.within(1e-4));
        }
}

TEST_CASE("references are known by the whole model and graph, not by their names") {
    if (mpi_world().rank() != 0) return;
    graphs::NamedGraph one = graphs::looped_path(6), other = graphs::directed_cycle(6);
    other.name = one.name;
    const ModelVariant v{.name = "same"};
    ModelVariant sigmoid = v, wide = v, other_optimizer = v;
    sigmoid.model.activation = Activation::sigmoid;
    wide.widths = {7, 6, 3};
    other_optimizer.optimizer = OptimizerKind::adam;
    const auto loss = [](const graphs::NamedGraph& g, const ModelVariant& m) {
        const OwnedDataset owned = dress(g, m.widths.front(), static_cast<std::int32_t>(m.widths.back()));
        return reference(owned.view(), m, 2, false).loss;
    };
    const std::vector<double> first = loss(one, v);
    CHECK(loss(one, v) == first);
    for (const ModelVariant* changed : {&sigmoid, &wide, &other_optimizer}) CHECK(loss(one, *changed) != first);
    CHECK(loss(other, v) != first);
}
