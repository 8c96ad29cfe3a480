// minibatch-p2p: each step against `serial` on the same batch, its volume against the batch's own, evaluation against
// one device's. On all ranks.
#include <catch2/catch.hpp>

#include <gnnbench/batches/batch_training.hpp>
#include <gnnbench/batches/sampled.hpp>

#include "contract/batch_setup.hpp"
#include "contract/serial_training.hpp"
#include "contract/strategy_selection.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

std::vector<GlobalId> all_train_vertices(const DatasetView& d) {
    std::vector<GlobalId> all;
    for (std::size_t v = 0; v < d.split.size(); ++v)
        if (d.split[v] == Split::train) all.push_back(GlobalId{static_cast<std::int64_t>(v)});
    return all;
}

/// The source that the strategy is to draw from.
std::unique_ptr<BatchSource> source_of(const Setup& s, const std::string& sampler, std::int64_t size) {
    if (sampler == "vertices")
        return std::make_unique<VertexSamples>(
            s.data().graph.vertices(), VertexSampleSettings{.batch_vertices = size, .seed = s.train().seed});
    return std::make_unique<NeighbourSamples>(
        s.data().graph, all_train_vertices(s.data()),
        NeighbourSampleSettings{
            .batch_seeds = size, .fan_out = 2, .hops = s.model().layers(), .seed = s.train().seed});
}

/// A batch as a dataset of its own, where train vertices whose loss does not count belong to no split.
OwnedDataset batch_of(const Setup& s, const BatchSource& source, std::int64_t item) {
    const std::vector<GlobalId> vertices = source.vertices(item);
    OwnedDataset d = s.subgraph(vertices);
    if (const auto seeds = source.seeds(item))
        for (std::size_t i = 0; i < vertices.size(); ++i)
            if (d.split[i] == Split::train && !std::ranges::binary_search(*seeds, vertices[i]))
                d.split[i] = Split::none;
    return d;
}

std::vector<ModelVariant> models() {
    ModelVariant sage{.name = "GraphSAGE", .widths = {4, 5, 3}}, several = small_model();
    sage.model.kind = LayerKind::sage;
    sage.model.normalisation = Normalisation::mean;
    sage.model.self_loops = false;
    several.name = "several labels";
    several.labels = Labels::several;
    return {small_model(), sage, several, attending_model(), attending_model(0, LayerKind::gatv2)};
}

Set minibatches(const std::string& sampler, std::int64_t size) {
    return {{"sampler", sampler}, {"batch_vertices", std::to_string(size)}, {"fan_out", "2"}};
}

/// What one rank sends in a step, counted edge by edge: each vertex once to each other rank that aggregates from it,
/// or, backward, whose vertices it aggregates from; of each layer the input, and the gradient of the output. GAT's layers
/// send w + H numbers and, backward, w + 3H; GATv2's w, 2w + 2H, and w again.
std::int64_t sent_elements(const Setup& s, const std::vector<GlobalId>& vertices, const OwnedDataset& batch) {
    const auto& widths = s.model().widths;
    const auto ranks = static_cast<std::size_t>(s.ranks());
    std::vector<std::vector<bool>> forward(vertices.size(), std::vector<bool>(ranks)), backward = forward;
    const auto owner = [&](std::size_t i) {
        return static_cast<std::size_t>(s.problem().index.part_of(vertices[i]));
    };
    for (std::size_t v = 0; v < vertices.size(); ++v)
        for (auto e = static_cast<std::size_t>(batch.indptr[v]); e < static_cast<std::size_t>(batch.indptr[v + 1]);
             ++e) {
            const auto u = static_cast<std::size_t>(batch.indices[e]);
            if (owner(u) == owner(v)) continue;
            forward[u][owner(v)] = true;   // row v of Â needs u
            backward[v][owner(u)] = true;  // row u of Âᵀ needs v
        }
    std::int64_t rows_forward = 0, rows_backward = 0;
    for (std::size_t v = 0; v < vertices.size(); ++v)
        if (owner(v) == static_cast<std::size_t>(s.me())) {
            rows_forward += std::ranges::count(forward[v], true);
            rows_backward += std::ranges::count(backward[v], true);
        }
    std::int64_t elements = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
        if (s.model().attends()) {
            const std::int64_t heads = s.model().heads[l],
                               w = widths[l + 1] * (l + 2 == widths.size() ? heads : 1);
            const bool dynamic = s.model().kind == LayerKind::gatv2;
            elements += rows_forward * (dynamic ? 2 * w : w + heads);  // once more, backward
            elements += rows_backward * (dynamic ? 2 * w + 2 * heads : w + 3 * heads);
        } else {
            elements += rows_forward * widths[l] + rows_backward * widths[l + 1];
        }
    }
    return elements;
}

}  // namespace

TEST_CASE("minibatch: a step is serial's on the same batch") {
    int without_rows = 0;
    // Above two ranks each case has one size, at another number of ranks another one.
    const std::int64_t batch_sizes[] = {1, 3, 12};
    const bool one_size = mpi_world().size() > 2 && !every_case();
    auto place = static_cast<std::size_t>(mpi_world().size());
    for (const auto& graph : test_graphs())
        for (const ModelVariant& model : models())
            for (const std::string sampler : {"vertices", "neighbours"}) {
                const std::int64_t in_turn = batch_sizes[place++ % 3];
                for (const std::int64_t size : batch_sizes) {
                    if (one_size && size != in_turn) continue;
                    Setup s("minibatch-p2p", graph, 1, minibatches(sampler, size), exactly, {}, model);
                    INFO(graph.name << ", " << model.name << ", " << size << " " << sampler << ", rank " << s.me()
                                    << " of " << s.ranks());
                    REQUIRE(s.unsupported() == "");
                    const auto source = source_of(s, sampler, size);
                    REQUIRE(s.collective().steps(0) == source->batches());
                    ModelWeights expected = s.collective().weights();
                    for (std::int64_t epoch = 0; epoch < 2; ++epoch)
                        for (std::int64_t step = 0; step < std::min<std::int64_t>(source->batches(), 6); ++step) {
                            const std::int64_t item = epoch * source->batches() + step;
                            const OwnedDataset batch = batch_of(s, *source, item);
                            const SerialTraining serial =
                                train_serially(catalog(), batch.view(), s.model(), s.train(), &expected, 1, false);
                            const Step done = s.collective().train_step(epoch, step);
                            CHECK(done.extent == Extent::all_ranks);
                            CHECK(done.samples == train_vertices(batch.view()));
                            CHECK(std::abs(done.loss - serial.loss[0]) < 1e-10);
                            CHECK(largest_difference(s.collective().gradients(), serial.gradient[0]) < 1e-10);
                            CHECK(largest_difference(s.collective().weights(), serial.weights) < 1e-10);
                            expected = serial.weights;
                            const auto mine = std::ranges::count_if(source->vertices(item), [&](GlobalId v) {
                                return s.problem().index.part_of(v) == s.me();
                            });
                            without_rows += mine == 0 ? 1 : 0;
                        }
                }
            }
    const int all = static_cast<int>(mpi_world().sum({static_cast<double>(without_rows)})[0]);
    if (mpi_world().size() > 2) CHECK(all > 0);
}

TEST_CASE("minibatch: a batch of all vertices is serial training, dropout too") {
    for (const auto& graph : test_graphs())
        for (ModelVariant model : {small_model(), attending_model(0.4), attending_model(0.4, LayerKind::gatv2)}) {
            model.train.dropout = 0.3;
            model.train.input_dropout = 0.2;
            Setup s("minibatch-p2p", graph, 1, minibatches("vertices", 1 << 20), exactly, {}, model);
            INFO(graph.name << ", " << model.name);
            REQUIRE(s.collective().steps(0) == 1);
            CHECK(s.held_bytes() == s.stated_memory());
            const SerialTraining serial =
                train_serially(catalog(), s.data(), s.model(), s.train(), nullptr, 4, false);
            for (std::int64_t epoch = 0; epoch < 4; ++epoch)
                CHECK(std::abs(s.collective().train_epoch(epoch).loss -
                               serial.loss[static_cast<std::size_t>(epoch)]) < 1e-10);
            CHECK(largest_difference(s.collective().weights(), serial.weights) < 1e-10);
        }
}

TEST_CASE("minibatch: volume is that of each epoch's own batches, to the byte") {
    bool differs = false;
    for (const auto& graph : test_graphs())
        for (const ModelVariant& model : models())
            for (const std::string sampler : {"vertices", "neighbours"}) {
                Setup s("minibatch-p2p", graph, 1, minibatches(sampler, 7), as_timed, {}, model);
                INFO(graph.name << ", " << model.name << ", " << sampler << ", rank " << s.me());
                CHECK(s.held_bytes() == s.stated_memory());
                const auto source = source_of(s, sampler, 7);
                const auto allocations = s.backend().memory().allocations;
                for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
                    s.collective().train_epoch(epoch);
                    const Volume counted = s.take();
                    CHECK(difference(s.stated(epoch), counted) == "");
                    std::int64_t sent = 0;
                    for (std::int64_t b = 0; b < source->batches(); ++b) {
                        const std::int64_t item = epoch * source->batches() + b;
                        sent += sent_elements(s, source->vertices(item), batch_of(s, *source, item));
                    }
                    const auto messages = counted.find({CommOp::point_to_point, Content::payload});
                    CHECK((messages == counted.end() ? 0 : messages->second.sent_bytes) == sent * s.bytes());
                    differs = differs || difference(s.stated(epoch + 1), counted) != "";
                }
                CHECK(s.backend().memory().allocations == allocations);
            }
    if (mpi_world().size() > 1) CHECK(differs);
}

TEST_CASE("minibatch: evaluation and embeddings are one device's on the whole graph") {
    for (const auto& graph : test_graphs()) {
        Setup s("minibatch-p2p", graph, 1, minibatches("vertices", 9), exactly);
        INFO(graph.name);
        s.collective().train_epoch(0);
        ProcessGroup alone = mpi_self();
        VolumeCounter counter;
        Communicator self(s.backend().connect(alone), s.backend(), counter);
        const ModelWeights weights = s.collective().weights();
        WholeGraphModel whole(s.problem(), weights, {s.backend(), self, alone});
        const Score ours = s.collective().evaluate(), one = whole.score();
        for (std::size_t i = 0; i < ours.of.size(); ++i)
            CHECK((ours.of[i] == one.of[i] || (std::isnan(ours.of[i]) && std::isnan(one.of[i]))));
        const OwnedRows mine = s.collective().embeddings(), all = whole.embeddings();
        CHECK(std::ssize(mine.vertices) == s.problem().index.size(s.me()));
        for (std::size_t i = 0; i < mine.vertices.size(); ++i)
            for (std::int64_t c = 0; c < mine.rows.cols; ++c)
                CHECK(std::abs(mine.rows(static_cast<std::int64_t>(i), c) - all.rows(value(mine.vertices[i]), c)) <
                      1e-10);
    }
}
