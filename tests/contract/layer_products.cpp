// Which products an epoch makes on one device, counted where they are executed: the order rule of each scheme, and
// that `serial` and exact `mg-gcn` do equal work.
#include <algorithm>

#include <catch2/catch.hpp>

#include "contract/recording_backend.hpp"
#include "contract/strategy_case.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

struct Work {
    std::vector<std::string> products;  ///< of one epoch, in order: "spmm 30x30x512"
    std::int64_t spmm_columns = 0;      ///< their widths added up
    std::int64_t allocated_bytes = 0;   ///< by the trainer, beside prepared matrices
    std::int64_t stated_bytes = 0;
    std::int64_t prepared_nonzeros = 0;  ///< of all prepared matrices
    ModelWeights gradients;
};

using Settings = std::map<std::string, std::string>;

Work work_of(const std::string& name, const Settings& set, const ModelVariant& v) {
    const auto graph = graphs::directed_random(20, 70, true);
    const OwnedDataset owned = dress(graph, v);
    const DatasetView data = owned.view();
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const Params params = variants(name, set)[0].params;
    const auto strategy = catalog().strategy(name);
    REQUIRE(strategy->why_unsupported({1, model, train, params}) == "");
    const Partition whole{.parts = 1,
                          .part_of = std::vector<Part>(static_cast<std::size_t>(data.graph.vertices())),
                          .column_part_of = {}};
    const IndexMap index(whole);
    const auto reference = catalog().kernel("reference")->create(kernel_setting_of({"reference", DType::f64}));
    RecordingBackend backend(*reference);
    VolumeCounter counter;
    const ProcessGroup alone = mpi_self();
    Communicator self(backend.connect(alone), backend, counter);
    const Problem problem{data, index, model, train, params, nullptr, 1};
    const std::int64_t before = backend.memory().current_bytes;
    const auto trainer = strategy->make_collective_trainer(problem, {backend, self, alone});
    Work w;
    w.allocated_bytes = backend.memory().current_bytes - before;
    w.stated_bytes = strategy->stated_memory(problem, 0, 8);
    backend.take();  // set-up's
    w.prepared_nonzeros = backend.prepared_nonzeros();
    trainer->train_epoch(0);
    for (const auto& p : backend.take()) {
        w.products.push_back(p.text());
        if (p.sparse) w.spmm_columns += p.columns;
    }
    w.gradients = trainer->gradients();
    return w;
}

ModelVariant widths(std::vector<std::int64_t> w) { return {.name = "widths", .widths = std::move(w)}; }

ModelVariant aggregated(std::vector<std::int64_t> w) {
    ModelVariant v = widths(std::move(w));
    v.model.aggregate_input = true;
    return v;
}

const Settings shortcut{{"gradient_shortcut", "true"}};
const std::vector<std::int64_t> reddit{602, 512, 41}, quickstart{64, 64, 8};

/// Between two trainings' gradients of layer l's weight.
double difference(const Work& one, const Work& other, std::size_t l) {
    const std::string name = "W" + std::to_string(l);
    const HostMatrix &a = one.gradients[name], &b = other.gradients[name];
    double largest = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i)
        largest = std::max(largest, std::abs(a.values[i] - b.values[i]));
    return largest;
}

}  // namespace

TEST_CASE("serial and exact mg-gcn make the same products and hold the same bytes on one device") {
    for (const auto& w : {reddit, quickstart, {9, 4, 2}, {8, 4, 3}, {7, 4, 3}, {3, 5, 8}, {4, 9, 2, 7, 3}, {6, 3}})
        for (const auto& v : {widths(w), aggregated(w)}) {
            const Work serial = work_of("serial", {}, v), mg_gcn = work_of("mg-gcn", {}, v);
            INFO(w.size() - 1 << " layers from " << w[0] << ", aggregated input " << v.model.aggregate_input);
            CHECK(serial.products == mg_gcn.products);
            CHECK(serial.allocated_bytes == mg_gcn.allocated_bytes);
            CHECK(serial.allocated_bytes == serial.stated_bytes);
        }
}

TEST_CASE("the widths of an epoch's products by the matrix add up to the papers'") {
    // Reddit, 602 → 512 → 41 [MG-GCN, section 4.4]: 602 + 41 + 41 exact; min(602, 512) + 41 + 41 in the paper.
    CHECK(work_of("mg-gcn", {}, widths(reddit)).spmm_columns == 684);
    CHECK(work_of("serial", {}, widths(reddit)).spmm_columns == 684);
    CHECK(work_of("mg-gcn", shortcut, widths(reddit)).spmm_columns == 594);
    CHECK(work_of("mg-gcn", {}, aggregated(reddit)).spmm_columns == 82);
    // CAGNET and what descends from it: f forward, g backward, in every layer.
    CHECK(work_of("cagnet-1d", {}, widths(reddit)).spmm_columns == 602 + 512 + 41 + 512);
    // The quickstart: 64 → 64 → 8.
    CHECK(work_of("serial", {}, widths(quickstart)).spmm_columns == 64 + 8 + 8);
    CHECK(work_of("mg-gcn", {}, widths(quickstart)).spmm_columns == 64 + 8 + 8);
    CHECK(work_of("mg-gcn", shortcut, widths(quickstart)).spmm_columns == 64 + 8 + 8);
    CHECK(work_of("cagnet-1d", {}, widths(quickstart)).spmm_columns == 64 + 64 + 8 + 64);
}

TEST_CASE("layer 0 transforms first where twice its output is no wider than its input") {
    CHECK(work_of("serial", {}, widths({9, 4, 2})).spmm_columns == 4 + 4 + 2 + 2);
    CHECK(work_of("serial", {}, widths({8, 4, 2})).spmm_columns == 4 + 4 + 2 + 2);
    CHECK(work_of("serial", {}, widths({7, 4, 2})).spmm_columns == 7 + 2 + 2);
    // ÂX takes n · 7 elements from forward to backward; the buffer that layers share then needs 2 columns, not 4.
    const Work kept = work_of("mg-gcn", {}, widths({7, 4, 2})),
               paper = work_of("mg-gcn", shortcut, widths({7, 4, 2}));
    CHECK(kept.allocated_bytes - paper.allocated_bytes == 8 * 20 * (7 - (4 - 2)));
}

TEST_CASE("a layer 0 whose input is trained multiplies for its gradient, too") {
    const Settings trained{{trainable_features, "true"}};
    CHECK(work_of("serial", trained, widths({7, 4, 2})).spmm_columns == 4 + 4 + 2 + 2);
    CHECK(work_of("serial", trained, widths({4, 7, 2})).spmm_columns == 4 + 4 + 2 + 2);
}

TEST_CASE("cagnet-1d by outer products stores the matrix once, and makes the same products' widths") {
    const Work both = work_of("cagnet-1d", {}, widths(quickstart)),
               once = work_of("cagnet-1d", {{"backward", "outer_product"}}, widths(quickstart));
    CHECK(both.prepared_nonzeros == 2 * once.prepared_nonzeros);
    CHECK(work_of("serial", {}, widths(quickstart)).prepared_nonzeros == both.prepared_nonzeros);
    CHECK(once.spmm_columns == both.spmm_columns);
    CHECK(once.allocated_bytes == once.stated_bytes);
    for (std::size_t l = 0; l + 1 < quickstart.size(); ++l) CHECK(difference(once, both, l) < 1e-14);
}

TEST_CASE("mg-gcn's shortcut changes the gradient of layer 0 alone") {
    for (const auto& w : {std::vector<std::int64_t>{6, 4, 9, 3}, {6, 6, 2, 5}, {5, 3, 3}}) {
        const Work exact = work_of("mg-gcn", {}, widths(w)), paper = work_of("mg-gcn", shortcut, widths(w));
        INFO("widths from " << w[0] << " to " << w[1] << " and " << w[2]);
        CHECK(difference(exact, paper, 0) > 1e-4);
        for (std::size_t l = 1; l + 1 < w.size(); ++l) CHECK(difference(exact, paper, l) < 1e-14);
    }
    // Where layer 0 widens, neither makes a second product; with the shortcut T = ÂX, 3 columns, is not kept, but takes one
    // more in the buffer that layers share.
    const Work exact = work_of("mg-gcn", {}, widths({3, 6, 2})),
               paper = work_of("mg-gcn", shortcut, widths({3, 6, 2}));
    CHECK(difference(exact, paper, 0) > 1e-4);
    CHECK(difference(exact, paper, 1) < 1e-14);
    CHECK(exact.products == paper.products);
    CHECK(exact.allocated_bytes - paper.allocated_bytes == 8 * 20 * (3 - (3 - 2)));
    CHECK(paper.allocated_bytes == paper.stated_bytes);
}

TEST_CASE("sparse features are sparse operands wherever a scheme multiplies X itself, and its order stays") {
    using Products = std::vector<std::string>;
    const auto sparse = [](std::vector<std::int64_t> w) {
        ModelVariant v = widths(std::move(w));
        v.model.sparse_features = true;
        return v;
    };
    const std::int64_t dense_x = std::int64_t{8} * 20 * 9;
    for (const std::string name : {"serial", "mg-gcn"}) {  // T = XW … dW = XᵀU
        INFO(name);
        const Work dense = work_of(name, {}, widths({9, 4})), work = work_of(name, {}, sparse({9, 4}));
        CHECK(dense.products == Products{"gemm 20x9x4", "spmm 20x20x4", "spmm 20x20x4", "gemm 9x20x4"});
        CHECK(work.products == Products{"spmm 20x9x4", "spmm 20x20x4", "spmm 20x20x4", "spmm 9x20x4"});
        CHECK(work.allocated_bytes == work.stated_bytes);
        CHECK(dense.allocated_bytes - work.allocated_bytes == dense_x);
    }
    CHECK(work_of("mg-gcn", shortcut, sparse({9, 4})).products ==
          Products{"spmm 20x9x4", "spmm 20x20x4", "spmm 9x20x4"});
    {  // T = ÂX of the dense X, whose rows travel; dW = XᵀU of the sparse one. Both are held.
        const Work dense = work_of("cagnet-1d", {}, widths({9, 4})),
                   work = work_of("cagnet-1d", {}, sparse({9, 4}));
        CHECK(work.products == Products{"spmm 20x20x9", "gemm 20x9x4", "spmm 20x20x4", "spmm 9x20x4"});
        CHECK(work.allocated_bytes == work.stated_bytes);
        CHECK(work.allocated_bytes == dense.allocated_bytes);
    }
    for (const auto& [name, w] : {std::pair{"bns-gcn", std::vector<std::int64_t>{9, 4}}, {"serial", {7, 4}}}) {
        INFO(name);  // T = ÂX is kept for dW = TᵀG: X is in no other product
        const Work dense = work_of(name, {}, widths(w)), work = work_of(name, {}, sparse(w));
        CHECK(work.products == dense.products);
        CHECK(work.prepared_nonzeros == dense.prepared_nonzeros);
        CHECK(work.allocated_bytes == dense.allocated_bytes);
    }
}

TEST_CASE("sparse features are refused where layer 0's input is not X, by every scheme alike") {
    const auto refusal = [](const std::string& name, const Settings& set, auto&& change) {
        ModelVariant v = widths({7, 3, 2});
        v.model.sparse_features = true;
        change(v);
        const ModelSpec model = v.complete_model();
        const TrainSpec train = v.complete_train();
        const Params params = variants(name, set)[0].params;
        return catalog().strategy(name)->why_unsupported({1, model, train, params});
    };
    const auto nothing = [](ModelVariant&) {};
    for (const std::string name : {"serial", "cagnet-1d", "mg-gcn", "sa-1d", "demirci-p2p", "bns-gcn"}) {
        INFO(name);
        CHECK(refusal(name, {}, nothing) == "");
        CHECK(refusal(name, {}, [](auto& v) { v.train.dropout = 0.5; }) == "");
        CHECK_THAT(refusal(name, {}, [](auto& v) { v.train.input_dropout = 0.5; }),
                   Catch::Contains("input_dropout"));
        CHECK_THAT(refusal(name, {}, [](auto& v) { v.model.aggregate_input = true; }),
                   Catch::Contains("exclude each other"));
    }
    CHECK_THAT(refusal("serial", {{trainable_features, "true"}}, nothing), Catch::Contains("trainable_features"));
    for (const std::string name : {"cluster-gcn", "allreduce-gcn", "gossip-gcn", "minibatch-p2p"}) {
        INFO(name);
        CHECK_THAT(refusal(name, {}, nothing), Catch::Contains("every batch gathers its own rows of X"));
    }
}

TEST_CASE("GraphSAGE with an aggregated input makes two products in layer 0, and holds ÂX beside X") {
    using Products = std::vector<std::string>;
    ModelVariant v = aggregated({9, 4, 2});
    v.model.kind = LayerKind::sage;
    v.model.normalisation = Normalisation::mean;
    v.model.self_loops = false;
    for (const double dropout : {0.0, 0.5}) {
        v.train.input_dropout = dropout;
        const Work work = work_of("serial", {}, v), mg_gcn = work_of("mg-gcn", {}, v);
        CHECK(work.products == Products{"gemm 20x9x4", "gemm 20x9x4", "gemm 20x4x2", "spmm 20x20x2", "gemm 20x4x2",
                                        "spmm 20x20x2", "gemm 4x20x2", "gemm 4x20x2", "gemm 20x2x4", "gemm 20x2x4",
                                        "gemm 9x20x4", "gemm 9x20x4"});
        CHECK(mg_gcn.products == work.products);
        CHECK(mg_gcn.allocated_bytes == work.allocated_bytes);
        CHECK(work.allocated_bytes == work.stated_bytes);
    }
}

TEST_CASE("an aggregated input is refused where X is trained, by every scheme alike") {
    const auto refusal = [](const std::string& name, const Settings& set, double input_dropout,
                            LayerKind kind = LayerKind::gcn) {
        ModelVariant v = aggregated({7, 4, 2});
        v.train.input_dropout = input_dropout;
        v.model.kind = kind;
        const ModelSpec model = v.complete_model();
        const TrainSpec train = v.complete_train();
        const Params params = variants(name, set)[0].params;
        return catalog().strategy(name)->why_unsupported({1, model, train, params});
    };
    for (const std::string name :
         {"serial", "cagnet-1d", "mg-gcn", "sa-1d", "demirci-p2p", "bns-gcn", "plexus-3d"}) {
        INFO(name);
        for (const double dropout : {0.0, 0.5}) {
            CHECK(refusal(name, {}, dropout) == "");
            CHECK((name == "plexus-3d") != (refusal(name, {}, dropout, LayerKind::sage) == ""));
        }
    }
    for (const std::string name : {"serial", "plexus-3d"}) {
        INFO(name);
        CHECK(refusal(name, {{trainable_features, "true"}}, 0).find("trainable_features") != std::string::npos);
    }
    CHECK(refusal("mg-gcn", shortcut, 0).find("exclude each other") != std::string::npos);
}
