// A network made for many rows trains a batch of fewer as a network of just those rows does.
#include <catch2/catch.hpp>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/network.hpp>

#include "contract/strategy_case.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

/// The whole matrix, on this device.
class LocalSpmm final : public DistributedSpmm {
public:
    LocalSpmm(const GraphView& graph, const ModelSpec& model, Backend& backend) : backend_(backend) {
        const Adjacency a(graph, model);
        const Partition whole{
            .parts = 1, .part_of = std::vector<Part>(usize(graph.vertices())), .column_part_of = {}};
        const IndexMap index(whole);
        blocks_ = std::make_unique<PreparedBlocks>(a, index, 0, backend);
    }
    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        backend_.spmm(blocks_->block(d, 0), b, c, {}, e);
    }
    void accumulate(Direction d, BlockSum& sum) override { sum.add(blocks_->block(d, 0), sum.operand(), {}); }

private:
    Backend& backend_;
    std::unique_ptr<PreparedBlocks> blocks_;
};

/// A batch: features, labels and splits on the device, and the matrix.
struct Batch {
    Batch(const graphs::NamedGraph& graph, const ModelSpec& model, Backend& backend)
        : owned(dress(graph, model.widths.front(), static_cast<std::int32_t>(model.widths.back()))),
          x(backend.matrix(graph.view().vertices(), model.widths.front())),
          labels(backend.upload(std::span<const std::int32_t>(owned.labels))),
          split(backend.upload(std::span<const Split>(owned.split))),
          ids(backend.upload(std::span<const std::int64_t>(std::vector<std::int64_t>(owned.labels.size(), 7)))),
          loss(backend.upload(std::span<const double>(std::array{0.0}))),
          spmm(graph.view(), model, backend) {
        backend.upload(std::span<const float>(owned.features), x);
    }

    ModelWeights gradients(Network& network, Backend& backend, std::int64_t step) {
        const ConstMatrixView z = network.forward(x.view(), ids.data(), Pass::training, step, spmm);
        backend.softmax_cross_entropy(z, {.labels = labels.data(), .split = split.data(), .scale = 0.1},
                                      network.output_gradient(), loss.data());
        int layers = 0;
        network.backward(spmm, [&](MatrixView row, bool last) {
            CHECK(row.cols == network.plan().spec(network.plan().size() - ++layers).elements());
            CHECK(last == (layers == network.plan().size() && !network.plan().trains_input()));
        });
        CHECK(layers == network.plan().size());
        return network.parameters().gradients();
    }

    OwnedDataset owned;
    Matrix x;
    Array<std::int32_t> labels;
    Array<Split> split;
    Array<std::int64_t> ids;
    Array<double> loss;
    LocalSpmm spmm;
};

ModelSpec model_of(LayerKind kind) {
    ModelSpec m;
    m.kind = kind;
    m.widths = {5, 8, 2, 3};
    if (kind == LayerKind::gcn) return m;
    m.normalisation = kind == LayerKind::sage ? Normalisation::mean : Normalisation::none;
    m.self_loops = false;
    if (m.attends()) m.heads = {4, 2, 3};
    return m;
}

}  // namespace

TEST_CASE("a network made for many rows trains batches of fewer, one after another, to the bit") {
    const auto backend = catalog().kernel("reference")->create({.dtype = DType::f64});
    TrainSpec train;
    train.dropout = train.input_dropout = 0.3;
    for (const LayerKind kind :
         {LayerKind::gcn, LayerKind::sage, LayerKind::gin, LayerKind::gat, LayerKind::gatv2})
        for (const Buffers buffers : {Buffers::shared, Buffers::separate})
            for (const bool trains_input : {false, true}) {
                INFO("kind " << static_cast<int>(kind) << ", separate buffers " << (buffers == Buffers::separate)
                             << ", trained input " << trains_input);
                const ModelSpec model = model_of(kind);
                LayerPlan plan = narrowest_plan(model, trains_input);
                plan.buffers = buffers;
                const ModelWeights start = initial_weights(model, 3);
                const auto held = backend->memory().current_bytes;
                Network large(plan, model, train, start, 40, *backend);
                MemoryStatement stated(8);
                Network::state_memory(stated, plan, model, train, 40);
                CHECK(backend->memory().current_bytes - held == stated.bytes());
                std::int64_t step = 0;
                for (const std::int32_t rows : {40, 17, 29, 1}) {
                    Batch batch(graphs::directed_random(rows, 4 * rows, true), model, *backend);
                    Network exact(plan, model, train, start, rows, *backend);
                    large.set_rows(rows);
                    const auto before = backend->memory().allocations;
                    const ModelWeights found = batch.gradients(large, *backend, ++step);
                    CHECK(backend->memory().allocations == before);
                    const ModelWeights wanted = batch.gradients(exact, *backend, step);
                    for (std::size_t m = 0; m < wanted.matrices.size(); ++m) {
                        INFO(rows << " rows, " << wanted.matrices[m].name);
                        CHECK(found.matrices[m].values.values == wanted.matrices[m].values.values);
                    }
                }
                CHECK_THROWS(large.set_rows(41));
            }
}
