// An input that is aggregated at set-up drops out after its aggregation: as BNS-GCN's and PipeGCN's released code, whose
// layer 0 is one linear map of [X, ÂX] for GraphSAGE and of ÂX for GCN (`--use-pp`). The oracle is a model of one GCN
// layer on a graph without edges, Â = I, whose features are that matrix: what it drops out it has not aggregated.
#include <cmath>
#include <span>

#include <catch2/catch.hpp>

#include <gnnbench/training/parameters.hpp>

#include "contract/strategy_case.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

constexpr std::int64_t features = 4;
constexpr std::int32_t classes = 3;

/// Features in multiples of 1/64, so that sums over neighbours are exact in float32.
OwnedDataset with_exact_features(const graphs::NamedGraph& g) {
    OwnedDataset d = dress(g, features, classes);
    for (float& x : d.features) x = std::round(x * 64) / 64;
    return d;
}

/// ÂX where Â is the graph's matrix of ones.
std::vector<float> sums_of_neighbours(const OwnedDataset& d) {
    std::vector<float> sums(d.features.size());
    for (std::size_t v = 0; v + 1 < d.indptr.size(); ++v)
        for (auto e = usize(d.indptr[v]); e < usize(d.indptr[v + 1]); ++e)
            for (std::size_t c = 0; c < usize(features); ++c)
                sums[v * usize(features) + c] += d.features[usize(d.indices[e]) * usize(features) + c];
    return sums;
}

/// A layer of either kind on the graph itself, and the dense matrix that it is to multiply.
struct Case {
    ModelVariant model;
    OwnedDataset dataset;
    OwnedDataset prepared;  ///< without edges: features ÂX, or [X, ÂX]
};

Case make_case(LayerKind kind) {
    Case c{.model = {.name = "one layer", .widths = {features, classes}},
           .dataset = with_exact_features(graphs::directed_random(24, 90, false)),
           .prepared = {}};
    c.model.model.kind = kind;
    c.model.model.normalisation = Normalisation::none;
    c.model.model.self_loops = false;
    c.model.model.aggregate_input = true;
    c.model.train.input_dropout = 0.4;

    c.prepared = c.dataset;
    c.prepared.indices.clear();
    c.prepared.indptr.assign(c.dataset.indptr.size(), 0);
    c.prepared.transpose = {};
    const std::vector<float> sums = sums_of_neighbours(c.dataset);
    c.prepared.features = sums;
    if (kind != LayerKind::sage) return c;
    c.prepared.feature_count = 2 * features;
    c.prepared.features.clear();
    const auto append_row = [&](const std::vector<float>& half, std::size_t first) {
        const std::span<const float> row = std::span(half).subspan(first, usize(features));
        c.prepared.features.insert(c.prepared.features.end(), row.begin(), row.end());
    };
    for (std::size_t first = 0; first < sums.size(); first += usize(features)) {
        append_row(c.dataset.features, first);
        append_row(sums, first);
    }
    return c;
}

/// The oracle's weights: [W_self; W_neighbour], and the bias.
ModelWeights stacked(const ModelWeights& from, const ModelSpec& model) {
    ModelWeights to = zero_weights(model);
    std::vector<double> all;
    for (std::size_t m = 0; m < from.matrices.size(); ++m) {
        const std::vector<double>& values = from.matrices[m].values.values;
        if (from.matrices[m].role == ParameterRole::bias)
            to.matrices[1].values.values = values;
        else
            all.insert(all.end(), values.begin(), values.end());
    }
    to.matrices[0].values.values = all;
    return to;
}

std::vector<double> all_of(const ModelWeights& w) {
    std::vector<double> all;
    for (const auto& m : w.matrices) all.insert(all.end(), m.values.values.begin(), m.values.values.end());
    return all;
}

}  // namespace

TEST_CASE("dropout of an aggregated input falls on ÂX, of GraphSAGE's on [X, ÂX], each column a draw of its own") {
    for (const LayerKind kind : {LayerKind::gcn, LayerKind::sage}) {
        const Case c = make_case(kind);
        ModelVariant oracle{.name = "oracle",
                            .widths = {kind == LayerKind::sage ? 2 * features : features, classes}};
        oracle.train.input_dropout = c.model.train.input_dropout;
        const ModelSpec model = c.model.complete_model(), dense = oracle.complete_model();
        const ModelWeights start = initial_weights(model, 5), stacked_start = stacked(start, dense);
        const TrainSpec train = c.model.complete_train();
        constexpr int epochs = 4;
        const ReferenceResult found =
            compute_reference(catalog(), {c.dataset.view(), model, train, &start, epochs});
        const ReferenceResult wanted =
            compute_reference(catalog(), {c.prepared.view(), dense, train, &stacked_start, epochs});
        ModelSpec in_every_epoch = model;
        in_every_epoch.aggregate_input = false;
        const ReferenceResult before =
            compute_reference(catalog(), {c.dataset.view(), in_every_epoch, train, &start, epochs});
        for (std::size_t e = 0; e < epochs; ++e) {
            INFO((kind == LayerKind::sage ? "GraphSAGE" : "GCN")
                 << ", epoch " << e << ": loss " << found.loss[e] << ", of the prepared features "
                 << wanted.loss[e] << ", with X dropped before its aggregation " << before.loss[e]);
            CHECK(std::abs(found.loss[e] - wanted.loss[e]) <= 1e-12);
            CHECK(std::abs(found.loss[e] - before.loss[e]) >= 1e-6);
            const std::vector<double> g = all_of(stacked(found.gradient[e], dense)),
                                      h = all_of(wanted.gradient[e]);
            REQUIRE(g.size() == h.size());
            for (std::size_t i = 0; i < g.size(); ++i) CHECK(std::abs(g[i] - h[i]) <= 1e-12);
        }
    }
}

TEST_CASE("without dropout an aggregated input is the same model of GraphSAGE") {
    Case c = make_case(LayerKind::sage);
    c.model.train.input_dropout = 0;
    c.model.widths = {features, 5, classes};
    const ModelSpec model = c.model.complete_model();
    ModelSpec in_every_epoch = model;
    in_every_epoch.aggregate_input = false;
    const TrainSpec train = c.model.complete_train();
    const ReferenceResult once = compute_reference(catalog(), {c.dataset.view(), model, train, nullptr, 4}),
                          every =
                              compute_reference(catalog(), {c.dataset.view(), in_every_epoch, train, nullptr, 4});
    for (std::size_t e = 0; e < once.loss.size(); ++e) CHECK(std::abs(once.loss[e] - every.loss[e]) <= 1e-12);
}
