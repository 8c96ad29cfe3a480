// The serial gradient in float64 against central differences of its own loss. Everything else is compared with
// serial, so this is the one place where the derivation itself is checked.
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/parameters.hpp>

#include "contract/strategy_case.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

struct Run {
    double loss;
    ModelWeights gradient;
};

Run first_epoch(const DatasetView& data, const ModelVariant& v, const ModelWeights& w) {
    ReferenceResult r = compute_reference(catalog(), data, v.complete_model(), v.complete_train(), &w, 1);
    return {r.loss[0], std::move(r.gradient[0])};
}

/// (loss(w + h) − loss(w − h)) / 2h for element i of matrix m of `w`.
double slope(const DatasetView& data, const ModelVariant& v, ModelWeights w, std::vector<HostMatrix> ModelWeights::*side,
             std::size_t m, std::size_t i, double h) {
    double& x = (w.*side)[m].values[i];
    const double middle = x;
    x = middle + h;
    const double above = first_epoch(data, v, w).loss;
    x = middle - h;
    return (above - first_epoch(data, v, w).loss) / (2 * h);
}

}  // namespace

TEST_CASE("the serial gradient equals finite differences, in every layer, for every width order and activation") {
    const auto graph = graphs::directed_random(24, 90, true);
    const std::vector<std::vector<std::int64_t>> orders = {{6, 4, 3}, {3, 5, 7}, {4, 6, 3, 5}};
    for (const auto& widths : orders)
        for (const Activation a : {Activation::relu, Activation::leaky_relu, Activation::sigmoid})
            for (const AggregateInput aggregate : {AggregateInput::off, AggregateInput::on}) {
                ModelVariant v{.name = "gradient check", .widths = widths};
                v.model.activation = a;
                v.model.aggregate_input = aggregate;
                const OwnedDataset owned = dress(graph, widths.front(), static_cast<std::int32_t>(widths.back()));
                const DatasetView data = owned.view();
                const ModelWeights start = initial_weights(v.complete_model(), 5);
                const Run at = first_epoch(data, v, start);
                int checked = 0, kinks = 0;
                for (const auto side : {&ModelWeights::weight, &ModelWeights::bias})
                    for (std::size_t m = 0; m < (start.*side).size(); ++m)
                        for (std::size_t i = 0; i < (start.*side)[m].values.size(); ++i) {
                            const double coarse = slope(data, v, start, side, m, i, 1e-5);
                            const double fine = slope(data, v, start, side, m, i, 2.5e-6);
                            // Across a kink the slope depends on the step; away from one it does not.
                            if (std::abs(coarse - fine) > 1e-7) {
                                ++kinks;
                                continue;
                            }
                            const double g = (at.gradient.*side)[m].values[i];
                            INFO("activation " << static_cast<int>(a) << ", aggregated " << (aggregate == AggregateInput::on)
                                               << ", layer " << m << (side == &ModelWeights::bias ? " bias" : " weight")
                                               << ", element " << i << ": gradient " << g << ", differences " << fine);
                            CHECK(std::abs(g - fine) <= 1e-7 + 1e-5 * std::abs(fine));
                            ++checked;
                        }
                INFO(kinks << " of " << checked + kinks << " steps crossed a kink");
                CHECK(kinks <= (a == Activation::sigmoid ? 0 : (checked + kinks) / 10));
            }
}
