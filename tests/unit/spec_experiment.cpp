// What an experiment file comes to.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec_fakes.hpp"

using namespace gnnbench;
using gnnbench::test::read;

namespace {

const std::string head = "dataset: cora\nscheme: mg-gcn\n";

std::vector<std::string> labels(const Experiment& e) {
    std::vector<std::string> all;
    for (const Cell& c : e.cells)
        all.push_back(c.scheme.label + " " + std::to_string(c.gpus) + " " + c.partitioner.label);
    return all;
}

}  // namespace

TEST_CASE("defaults are those declared") {
    const Experiment e = read(head);
    REQUIRE(e.cells.size() == 1);
    const Cell& c = e.cells[0];
    CHECK(e.name == "exp");
    CHECK(e.trials == 3);
    CHECK(e.limits.trial_timeout_s == 3600);
    CHECK(c.dataset.source == nlohmann::json{{"store", "cora"}});
    CHECK(c.model.widths == std::vector<std::int64_t>{16});
    CHECK(c.train.optimizer == OptimizerKind::adam);
    CHECK(c.train.weight_decay == std::vector<double>{0});
    CHECK(c.kernel.name == "cpu");
    CHECK(c.gpus == 1);
    CHECK(c.epochs == 20);
    CHECK(c.warmup == 2);
    CHECK(c.precision == "float32");
    CHECK(c.scheme.params.boolean("overlap"));
    CHECK(c.scheme.version == "1.0.0");
    CHECK(e.origins.at("warmup") == "default");
    CHECK(e.origins.at("epochs").starts_with("default (20; 1 of ranks that are simulated"));
    CHECK(e.origins.at("dataset") == "exp.yaml:1:10");
}

TEST_CASE("the kind of layers decides the defaults of the matrix, in every cell of its own") {
    const Experiment e = read(R"(
name: kinds
dataset: {generate: dcsbm, vertices: 16}
scheme: mg-gcn
model: {epsilon: 0}
matrix:
  model.layers: [gcn, sage, gin, gat]
)");
    REQUIRE(e.cells.size() == 4);
    const auto of = [&](std::size_t i) -> const ModelSpec& { return e.cells[i].model; };
    CHECK((of(0).kind == LayerKind::gcn && of(0).normalisation == Normalisation::symmetric && of(0).self_loops));
    CHECK((of(1).kind == LayerKind::sage && of(1).normalisation == Normalisation::mean && !of(1).self_loops));
    CHECK((of(2).kind == LayerKind::gin && of(2).normalisation == Normalisation::none && !of(2).self_loops));
    CHECK((of(3).kind == LayerKind::gat && of(3).normalisation == Normalisation::none && of(3).self_loops));
}

TEST_CASE("GAT's heads are one number for all layers, or one for each") {
    const Experiment e = read(R"(
name: gat
dataset: {generate: dcsbm, vertices: 16}
scheme: mg-gcn
model: {layers: gat, hidden: [12], combine: mean, negative_slope: 0.1, residual: true, attention_dropout: 0.6}
matrix:
  model.heads: [4, [3, 1]]
)");
    REQUIRE(e.cells.size() == 2);
    CHECK(e.cells[0].model.heads == std::vector<std::int64_t>{4});
    CHECK((e.cells[0].model.heads_of(0) == 4 && e.cells[0].model.heads_of(1) == 4));
    CHECK((e.cells[1].model.heads_of(0) == 3 && e.cells[1].model.heads_of(1) == 1));
    CHECK(e.cells[0].model.most_heads() == 4);
    CHECK(e.cells[0].model.combine == HeadsCombined::mean);
    CHECK((e.cells[0].model.negative_slope == 0.1 && e.cells[0].model.residual));
    CHECK(e.cells[0].model.attention_dropout == 0.6);
}

TEST_CASE("a list of seeds is samples of one generated dataset, which share its name") {
    const auto of_seeds = [](const std::string& dataset) {
        std::string all;
        for (const Cell& c : read("scheme: mg-gcn\n" + dataset + "\n").cells)
            all += c.dataset.name + " " + (*c.dataset.source)["seed"].dump() + ", ";
        return all;
    };
    CHECK(of_seeds("dataset: {generate: dcsbm, name: a, seed: [1, 3]}") == "a 1, a 3, ");
    CHECK(of_seeds("matrix: {dataset: {generate: dcsbm, name: a, seed: [1, 3]}}") == "a 1, a 3, ");
    CHECK(of_seeds("dataset: [{generate: dcsbm, name: a, seed: [1, 3]}, {generate: grid, name: b}]") ==
          "a 1, a 3, b 1, ");
    CHECK(of_seeds("dataset: {generate: dcsbm, name: a, seed: [7]}") == "a 7, ");
    CHECK(of_seeds("dataset: [{generate: dcsbm, name: a}, {generate: dcsbm, name: a, seed: 2}]") == "a 1, a 2, ");
    const Experiment e = read(
        "scheme: mg-gcn\ndataset: {generate: dcsbm, name: a, seed: [1, 3]}\n"
        "matrix: {gpus: [1, 2], exclude: [{where: dataset.seed = 3 AND gpus = 2}]}\n");
    CHECK(e.combinations == 4);
    CHECK(e.cells.size() == 3);
    CHECK(e.axes.at(0).key == "dataset");
    CHECK(e.axes.at(0).values.at(1) == "{generate: dcsbm, name: a, seed: 3}");
}

TEST_CASE("GIN's epsilon reaches its cell") {
    const Experiment e = read(
        "name: gin\ndataset: {generate: dcsbm, vertices: 16}\nscheme: mg-gcn\n"
        "model: {layers: gin, epsilon: -0.5, normalisation: none}\n");
    REQUIRE(e.cells.size() == 1);
    CHECK(e.cells[0].model.epsilon == -0.5);
}

TEST_CASE("every key reaches its cell") {
    const Experiment e = read(R"(
name: all keys
description: of an experiment
dataset: {generate: dcsbm, vertices: 0x10, name: small, split: 2}
scheme: {name: mg-gcn, overlap: False, depth: 3}
partitioner: {name: metis, objective: volume}
kernel: cpu
gpus: 4
threads_per_rank: 3
precision: float64
epochs: 7
warmup: 0
trials: 2
seed: 11
separate_wait: true
slowdown: {3: 2, 0: 1.5, 2: 1, jitter: 0.25}
model: {layers: gcn, hidden: [32, 8], activation: leaky_relu, normalisation: mean, feature_normalisation: row,
        self_loops: false, bias: false, initialiser: kaiming, aggregate_input: true, sparse_features: true}
train: {optimizer: sgd, lr: 1, weight_decay: [1e-3, 0, 2], dropout: 0.5, input_dropout: .25, beta1: 0.8, beta2: 0.99,
        epsilon: 1e-6, evaluate_every: 5, patience: 4, initial_weights: /}
limits: {trial_timeout: 10, verify_timeout: 2.5}
)");
    REQUIRE(e.cells.size() == 1);
    const Cell& c = e.cells[0];
    CHECK(e.name == "all keys");
    CHECK(e.description == "of an experiment");
    CHECK(c.dataset.source->at("vertices") == 16);
    CHECK(c.dataset.source->at("split") == 2);
    CHECK(c.dataset.split == 2);
    CHECK(c.dataset.name == "small");
    CHECK(c.scheme.label == "mg-gcn(depth=3, overlap=false)");
    CHECK(c.partitioner.params.choice("objective") == "volume");
    CHECK(c.gpus == 4);
    CHECK(c.threads_per_rank == 3);
    CHECK(c.precision == "float64");
    CHECK(c.epochs == 7);
    CHECK(c.warmup == 0);
    CHECK(c.train.seed == 11);
    CHECK(c.separate_wait);
    CHECK(c.slowdown == Slowdown{.factor = {{0, 1.5}, {3, 2.0}}, .jitter = 0.25});  // 1 is no slowdown
    CHECK(c.model.widths == std::vector<std::int64_t>{32, 8});
    CHECK(c.model.activation == Activation::leaky_relu);
    CHECK(c.model.normalisation == Normalisation::mean);
    CHECK(c.model.feature_normalisation == FeatureNormalisation::row);
    CHECK_FALSE(c.model.self_loops);
    CHECK_FALSE(c.model.bias);
    CHECK(c.model.initialiser == Initialiser::kaiming);
    CHECK(c.model.aggregate_input);
    CHECK(c.model.sparse_features);
    CHECK(c.train.optimizer == OptimizerKind::sgd);
    CHECK(c.train.learning_rate == 1);
    CHECK(c.train.weight_decay == std::vector<double>{1e-3, 0, 2});
    CHECK(c.train.dropout == 0.5);
    CHECK(c.train.input_dropout == 0.25);
    CHECK(c.train.beta1 == 0.8);
    CHECK(c.train.beta2 == 0.99);
    CHECK(c.train.epsilon == 1e-6);
    CHECK(c.evaluate_every == 5);
    CHECK(c.patience == 4);
    CHECK(c.initial_weights == "/");
    CHECK(e.limits.trial_timeout_s == 10);
    CHECK(e.limits.verify_timeout_s == 2.5);
}

TEST_CASE("a slowdown varies like every key, and one of factor 1 is none") {
    const Experiment e = read(
        "dataset: cora\nscheme: mg-gcn\ngpus: 4\nmatrix: {slowdown: [{}, {3: 2.0}, {3: 1}, {jitter: 0.5}]}\n");
    REQUIRE(e.cells.size() == 3);
    CHECK(slowdown_text(e.cells[0].slowdown) == "none");
    CHECK(slowdown_text(e.cells[1].slowdown) == "{3: 2}");
    CHECK(slowdown_text(e.cells[2].slowdown) == "{jitter: 0.5}");
    REQUIRE(e.axes.size() == 1);
    CHECK(e.axes[0].values[1] == "{3: 2.0}");
    const std::string varied = "dataset: cora\nscheme: mg-gcn\ngpus: 4\nmatrix: {slowdown: [{}, {3: 2}], ";
    CHECK(read(varied + "exclude: {slowdown: {3: 2.0}}}\n").cells.at(0).slowdown == Slowdown{});
    CHECK(read(varied + "exclude: {where: slowdown = 'none'}}\n").cells.at(0).slowdown.factor.at(3) == 2);
    CHECK(read(varied + "include: {slowdown: {3: 2}, epochs: 9}}\n").cells.at(1).epochs == 9);
    CHECK(read("dataset: cora\nscheme: mg-gcn\n", {"slowdown.0=4"}).cells.at(0).slowdown.factor.at(0) == 4);
}

TEST_CASE("defaults that depend on other keys") {
    CHECK(read(head + "train: {dropout: 0.5}\n").cells[0].train.input_dropout == 0.5);
    CHECK(read(head + "train: {dropout: 0.5, input_dropout: 0}\n").cells[0].train.input_dropout == 0);
    // 8 cores (see read): shared by the ranks of a host, never less than one
    const Experiment e = read(head + "gpus: [1, 2, 3, 16]\npartitioner: random\n");
    REQUIRE(e.cells.size() == 4);
    CHECK(e.cells[0].threads_per_rank == 8);
    CHECK(e.cells[1].threads_per_rank == 4);
    CHECK(e.cells[2].threads_per_rank == 2);
    CHECK(e.cells[3].threads_per_rank == 1);
}

namespace {

/// With a kernel whose ranks are simulated, and which computes values where it is told to.
class WithSimulated : public test::FakePlugins {
public:
    std::vector<std::string> names(PluginKind kind) const override {
        auto all = FakePlugins::names(kind);
        if (kind == PluginKind::kernel) all.emplace_back("simulated");
        return all;
    }
    std::optional<PluginFacts> find(PluginKind kind, std::string_view name) const override {
        static constexpr ParamDecl params[] = {
            {"values", ParamType::boolean, "false", 0, 0, nullptr, "whether values are computed"}};
        if (kind != PluginKind::kernel || name != "simulated") return FakePlugins::find(kind, name);
        return PluginFacts{version, "", params, {}, false, true};
    }
};

std::vector<std::int64_t> epochs_of(const std::string& rest, std::vector<std::string> overrides = {}) {
    static const WithSimulated plugins;
    static const test::FakeDatasets datasets;
    std::vector<std::int64_t> all;
    for (const Cell& c : read_experiment("dataset: cora\nscheme: mg-gcn\n" + rest, "exp.yaml",
                                         {std::move(overrides), 8, 1, ""}, plugins, datasets)
                             .cells)
        all.push_back(c.epochs);
    return all;
}

}  // namespace

TEST_CASE("a simulated cell has one epoch unless the experiment says how many") {
    using All = std::vector<std::int64_t>;
    CHECK(epochs_of("kernel: cpu\n") == All{20});
    CHECK(epochs_of("kernel: simulated\n") == All{1});
    CHECK(epochs_of("kernel: [cpu, simulated]\n") == All{20, 1});
    CHECK(epochs_of("kernel: {name: simulated, values: true}\n") == All{20});  // which trains
    CHECK(epochs_of("kernel: simulated\nepochs: 20\n") == All{20});
    CHECK(epochs_of("kernel: simulated\n", {"epochs=3"}) == All{3});
    CHECK(epochs_of("kernel: simulated\nepochs: [2, 4]\n") == All{2, 4});
    CHECK(epochs_of("kernel: simulated\nmatrix: {gpus: [1, 2], include: [{gpus: 2, epochs: 5}]}\n") == All{1, 5});
}

TEST_CASE("every list of the matrix multiplies, the last fastest") {
    const Experiment e = read(
        "dataset: cora\nmatrix:\n  scheme: [cagnet-1d, {name: mg-gcn, overlap: false}]\n"
        "  partitioner: [random, metis]\n  gpus: [2, 4]\n");
    CHECK(e.combinations == 8);
    CHECK(labels(e) == std::vector<std::string>{"cagnet-1d 2 random", "cagnet-1d 4 random", "cagnet-1d 2 metis",
                                                "cagnet-1d 4 metis", "mg-gcn(overlap=false) 2 random",
                                                "mg-gcn(overlap=false) 4 random", "mg-gcn(overlap=false) 2 metis",
                                                "mg-gcn(overlap=false) 4 metis"});
    REQUIRE(e.axes.size() == 3);
    CHECK(e.axes[0].values[1] == "{name: mg-gcn, overlap: false}");
    CHECK(e.choices[5] == std::vector<std::int32_t>{1, 0, 1});
    CHECK(e.origins.at("gpus") == "matrix");
}

TEST_CASE("one rank is measured once, not once per partitioner") {
    const Experiment e = read(
        "dataset: cora\nmatrix:\n  scheme: [serial, mg-gcn]\n  partitioner: [random, metis]\n  gpus: [1, 2]\n");
    CHECK(e.combinations == 8);
    CHECK(labels(e) == std::vector<std::string>{"serial 1 none", "serial 2 random", "serial 2 metis",
                                                "mg-gcn 1 none", "mg-gcn 2 random", "mg-gcn 2 metis"});
    CHECK(e.cells[0].partitioner.name == "block");
}

TEST_CASE("equal cells become one") {
    CHECK(read(head + "gpus: [2, 2, 4]\n").cells.size() == 2);
    CHECK(read("dataset: cora\nscheme: [mg-gcn, {name: mg-gcn, overlap: true}]\n").cells.size() == 1);
    CHECK(read("dataset: cora\nscheme: [mg-gcn, {name: mg-gcn, overlap: True}]\n").cells.size() == 1);
    CHECK(read(head + "matrix: {separate_wait: [false, FALSE, true, True]}\n").cells.size() == 2);
}

TEST_CASE("sections vary whole or by key") {
    Experiment e =
        read(head + "model: {bias: false}\nmatrix: {model.hidden: [[8], [8, 8]], train.lr: [1, 0.5], seed: 4}\n");
    REQUIRE(e.cells.size() == 4);
    CHECK(e.cells[3].model.widths == std::vector<std::int64_t>{8, 8});
    CHECK(e.cells[3].train.learning_rate == 0.5);
    CHECK(e.cells[3].train.seed == 4);
    CHECK_FALSE(e.cells[3].model.bias);
    e = read(head + "matrix:\n  model: [{hidden: [8]}, {activation: sigmoid}]\n  train: {dropout: 0.5}\n");
    REQUIRE(e.cells.size() == 2);
    CHECK(e.cells[0].model.widths == std::vector<std::int64_t>{8});
    CHECK(e.cells[0].model.activation == Activation::relu);
    CHECK(e.cells[1].model.widths == std::vector<std::int64_t>{16});  // the default
    CHECK(e.cells[1].model.activation == Activation::sigmoid);
    CHECK(e.cells[1].train.dropout == 0.5);
    e = read("scheme: mg-gcn\nmatrix: {train.weight_decay: [0, 1e-3], dataset: [cora, {generate: grid}]}\n");
    REQUIRE(e.cells.size() == 4);
    CHECK(e.cells[2].train.weight_decay == std::vector<double>{1e-3});
    CHECK(e.cells[3].dataset.name == "grid-20000");
}

TEST_CASE("overrides win over the file and over the matrix") {
    const std::string text =
        "dataset: {generate: dcsbm}\nepochs: 3\nmatrix: {scheme: [serial, mg-gcn], gpus: [1, 2]}\n";
    CHECK(read(text, {"epochs=5"}).cells[0].epochs == 5);
    CHECK(read(text, {"epochs=5"}).origins.at("epochs") == "--set epochs=5");
    CHECK(labels(read(text, {"gpus=4", "scheme=mg-gcn"})) == std::vector<std::string>{"mg-gcn 4 block"});
    CHECK(labels(read(text, {"gpus=[2, 4]", "scheme=mg-gcn"})) ==
          std::vector<std::string>{"mg-gcn 2 block", "mg-gcn 4 block"});
    CHECK(labels(read(text, {"matrix.gpus=[4]", "matrix.scheme=mg-gcn"})) ==
          std::vector<std::string>{"mg-gcn 4 block"});
    CHECK(labels(read("dataset: {generate: dcsbm}\nscheme: serial\ngpus: 1\n",
                      {"matrix.gpus=[2]", "matrix.scheme=[mg-gcn]"})) ==
          std::vector<std::string>{"mg-gcn 2 block"});
    const std::string zipped =
        "dataset: {generate: dcsbm}\nscheme: mg-gcn\nmatrix: {zip: {gpus: [1, 2], seed: [3, 4]}}\n";
    CHECK(read(zipped, {"matrix.seed=[0, 1, 2]"}).cells.size() == 6);
    CHECK(read(zipped, {"matrix.seed=[0, 1, 2]", "matrix.gpus=[4]"}).cells.size() == 3);
    CHECK(read("dataset: cora\nscheme: mg-gcn\nmatrix:\n", {"matrix.gpus=[1, 2]"}).cells.size() == 2);
    CHECK(labels(read(head, {"gpus=2", "scheme.overlap=false"})) ==
          std::vector<std::string>{"mg-gcn(overlap=false) 2 block"});
    CHECK(read(text, {"train.lr=0.5"}).cells[0].train.learning_rate == 0.5);
    CHECK(read(text, {"model.hidden=[4, 4]"}).cells[0].model.widths.size() == 2);
    CHECK(read(text, {"matrix.model.hidden=[[4], [5]]", "gpus=2", "scheme=mg-gcn"}).cells.size() == 2);
    CHECK(read(text, {"dataset.vertices=50"}).cells[0].dataset.name == "dcsbm-50");
    CHECK(read(text, {"dataset=cora"}).cells[0].dataset.name == "cora");
    CHECK(read(text, {"epochs=5", "epochs=6"}).cells[0].epochs == 6);
    CHECK(read("scheme: serial\n", {"dataset={generate: grid, vertices: 4}"}).cells[0].dataset.name == "grid-4");
    CHECK(read(head + "matrix: {train.lr: [1, 2]}\n", {"train.lr=3"}).cells.size() == 1);
}

TEST_CASE("overrides win over sections that vary whole") {
    const auto shown = [](const std::string& text, const std::vector<std::string>& overrides) {
        std::vector<std::string> all;
        for (const Cell& c : read(head + text, overrides).cells)
            all.push_back(
                fmt::format("{} {} {}", fmt::join(c.model.widths, "-"), c.train.dropout, c.train.learning_rate));
        return all;
    };
    using All = std::vector<std::string>;
    const std::string by_list = "matrix: {train: [{lr: 0.1}, {lr: 0.2, dropout: 0.5}]}\n";
    CHECK(shown(by_list, {}) == All{"16 0 0.1", "16 0.5 0.2"});
    CHECK(shown(by_list, {"train.lr=3"}) == All{"16 0 3", "16 0.5 3"});
    CHECK(shown("train: {weight_decay: 0}\n" + by_list, {"train.lr=3"}) == All{"16 0 3", "16 0.5 3"});
    CHECK(shown(by_list, {"train={lr: 3}"}) == All{"16 0 3"});
    CHECK(shown(by_list, {"matrix.train.lr=[3, 4]"}) == All{"16 0 3", "16 0 4", "16 0.5 3", "16 0.5 4"});
    CHECK(shown(by_list, {"matrix.train=[{lr: 3}, {lr: 4}]"}) == All{"16 0 3", "16 0 4"});
    CHECK(shown("matrix: {train: [{lr: 0.1}, {lr: 0.2}]}\n", {"train.lr=3"}) == All{"16 0 3"});
    CHECK(shown("matrix: {train: {lr: 0.1, dropout: 0.5}}\n", {"matrix.train.lr=[3]"}) == All{"16 0.5 3"});
    const std::string zipped = "matrix: {zip: {model: [{hidden: [8]}, {hidden: [9]}], train.lr: [0.1, 0.2]}}\n";
    CHECK(shown(zipped, {"model.hidden=[4]"}) == All{"4 0 0.1", "4 0 0.2"});
    CHECK(shown(zipped, {"matrix.model=[{hidden: [4]}, {hidden: [5]}]"}) ==
          All{"4 0 0.1", "5 0 0.1", "4 0 0.2", "5 0 0.2"});
    CHECK(shown("model: {hidden: [8]}\n", {"matrix.model=[{hidden: [4]}, {hidden: [5]}]"}) ==
          All{"4 0 0.01", "5 0 0.01"});
    CHECK(shown("matrix: {model.hidden: [[8]]}\n", {"matrix.model=[{hidden: [4]}]"}) == All{"4 0 0.01"});
    const std::string at_the_top = "train: [{lr: 0.1}, {lr: 0.2, dropout: 0.5}]\n";
    CHECK(shown(at_the_top, {"train.lr=3"}) == All{"16 0 3", "16 0.5 3"});
    CHECK(shown(at_the_top, {"matrix.train.lr=[3]"}) == All{"16 0 3", "16 0.5 3"});
    CHECK(read("dataset: cora\nscheme: mg-gcn\ngpus: 1\nscaling: {strong: [1, 2]}\n", {"matrix.gpus=[4]"})
              .cells.size() == 1);
}

TEST_CASE("paths start at the file's folder, may name variables, and are absolute in the cell") {
    const auto folder = std::filesystem::temp_directory_path() / ("gnnbench_spec_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "data");
    std::ofstream(folder / "data/a.tsv") << "0 1\n";
    std::ofstream(folder / "exp.yaml") << "dataset: {path: data/a.tsv, directed: false}\nscheme: serial\n";
    std::ofstream(folder / "env.yaml")
        << "dataset: {path: \"${GNNBENCH_TEST_PATH:-data}/a.tsv\"}\nscheme: serial\n";
    const test::FakePlugins plugins;
    const test::FakeDatasets datasets;
    const auto source = [&](const char* file) {
        return *load_experiment(folder / file, {{}, 8, 1}, plugins, datasets).cells.at(0).dataset.source;
    };
    const std::string whole = (folder / "data/a.tsv").string();
    CHECK(source("exp.yaml") == nlohmann::json{{"path", whole}, {"format", "edge-list"}, {"directed", false}});
    CHECK(source("env.yaml")["path"] == whole);
    setenv("GNNBENCH_TEST_PATH", (folder / "data/../data").c_str(), 1);
    CHECK(source("env.yaml")["path"] == whole);
    unsetenv("GNNBENCH_TEST_PATH");
    std::filesystem::remove_all(folder);
}

TEST_CASE("ten thousand cells expand") {  // how fast, bench_results says
    std::string seeds;
    for (int i = 0; i < 2500; ++i) seeds += std::to_string(i) + ", ";
    const Experiment e =
        read("dataset: {generate: dcsbm}\nmatrix:\n  scheme: [cagnet-1d, mg-gcn]\n  gpus: [2, 4]\n  seed: [" +
             seeds + "]\n");
    CHECK(e.cells.size() == 10000);
}
