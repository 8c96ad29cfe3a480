// What an experiment file may not say, and where the message points.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "spec/outline_keys.hpp"
#include "spec_fakes.hpp"

using namespace gnnbench;
using Catch::Contains;
using Catch::Equals;
using gnnbench::test::complaint;

namespace {

const std::string head = "dataset: cora\nscheme: serial\n";

}  // namespace

TEST_CASE("an unknown key names its place, what is allowed and the nearest") {
    CHECK_THAT(complaint(head + "epoch: 3\n"),
               Contains("exp.yaml:3:1: epoch: unknown key; allowed: ") && Contains("did you mean 'epochs'?"));
    CHECK_THAT(complaint(head + "model: {hiden: [16]}\n"),
               Contains("exp.yaml:3:9: model.hiden: unknown key") && Contains("did you mean 'hidden'?"));
    CHECK_THAT(complaint(head + "lr: 0.1\n"), Contains("exp.yaml:3:1: lr: unknown key; it belongs into 'train'"));
    CHECK_THAT(complaint(head + "train.lr: 0.1\n"), Contains("write train: {lr: …}"));
    CHECK_THAT(complaint(head + "matrix:\n  gpu: [1, 2]\n"),
               Contains("exp.yaml:4:3: matrix.gpu: unknown key") && Contains("did you mean 'gpus'?"));
    CHECK_THAT(complaint(head + "matrix: {lr: [1, 2]}\n"), Contains("matrix.lr: unknown key; write 'train.lr'"));
}

TEST_CASE("a missing required key is named") {
    CHECK_THAT(complaint("scheme: serial\n"), Contains("exp.yaml:1:1: dataset: required, and missing"));
    CHECK_THAT(complaint("dataset: cora\n"), Contains("exp.yaml:1:1: scheme: required, and missing"));
    CHECK_THAT(complaint(""), Contains("exp.yaml:1:1: expected an experiment") && Contains("found nothing"));
    CHECK_THAT(complaint("- a\n"), Contains("exp.yaml:1:1: expected an experiment") && Contains("found a list"));
}

TEST_CASE("types follow the YAML core schema") {
    CHECK_THAT(
        complaint(head + "epochs: many\n"),
        Equals("exp.yaml:3:9: epochs: expected an integer between 1 and 1000000000; found the text 'many'"));
    CHECK_THAT(complaint(head + "epochs: \"20\"\n"), Contains("found the text '20'"));
    CHECK_THAT(complaint(head + "epochs: 1e2\n"), Contains("found the real number 1e2; write 100"));
    CHECK_THAT(complaint(head + "epochs:\n"), Contains("exp.yaml:3:1: epochs: ") && Contains("found nothing"));
    CHECK_THAT(complaint(head + "separate_wait: yes\n"), Contains("expected true or false; found the text 'yes'"));
    CHECK_THAT(complaint(head + "train: {lr: .nan}\n"),
               Contains("expected a number above 0; found the real number .nan"));
    CHECK_THAT(complaint(head + "seed: 99999999999999999999\n"),
               Contains("found the integer 99999999999999999999"));
    CHECK_THAT(complaint(head + "model: {hidden: 16}\n"),
               Contains("expected a list of integers") && Contains("write [16]"));
    CHECK_THAT(complaint(head + "model: {hidden: [16, x]}\n"),
               Contains("exp.yaml:3:22") && Contains("found the text 'x'"));
    CHECK_THAT(complaint(head + "model: gcn\n"), Contains("model: expected a mapping; found the text 'gcn'"));
    CHECK_THAT(complaint(head + "limits: 3\n"), Contains("allowed: trial_timeout, verify_timeout"));
}

TEST_CASE("ranges and words are held") {
    CHECK_THAT(complaint(head + "gpus: 0\n"),
               Contains("expected an integer between 1 and 65536; found the integer 0"));
    CHECK_THAT(complaint(head + "train: {dropout: 1}\n"),
               Contains("between 0 and 1 (1 excluded); found the integer 1"));
    CHECK_THAT(complaint(head + "train: {lr: 0}\n"), Contains("a number above 0"));
    for (const char* limit : {"0", "2e9"})
        CHECK_THAT(complaint(head + fmt::format("limits: {{trial_timeout: {}}}\n", limit)),
                   Contains("a number above 0 and at most 1000000000; found"));
    CHECK_THAT(complaint(head + "epochs: 2000000000\n"), Contains("an integer between 1 and 1000000000; found"));
    CHECK_THAT(complaint(head + "train: {weight_decay: [-1, 0]}\n"),
               Contains("of at least 0, or a list with one per layer"));
    CHECK_THAT(complaint(head + "train: {weight_decay: []}\n"), Contains("found an empty list"));
    CHECK_THAT(
        complaint(head + "model: {activation: rleu}\n"),
        Contains("exp.yaml:3:21: model.activation: found the text 'rleu'; allowed: identity, relu, leaky_relu, "
                 "sigmoid, elu; did you mean 'relu'?"));
    CHECK_THAT(complaint(head + "model: {aggregate_input: maybe}\n"), Contains("true or false"));
}

TEST_CASE("what contradicts the kind of layers is refused where it is written") {
    CHECK_THAT(complaint(head + "model: {layers: sage, normalisation: symmetric}\n"),
               Contains("exp.yaml:3:38: model.normalisation: layers: sage has mean; found symmetric"));
    CHECK_THAT(complaint(head + "model: {layers: gin, normalisation: mean}\n"),
               Contains("layers: gin has none; found mean"));
    CHECK_THAT(complaint(head + "model: {layers: gin, self_loops: true}\n"),
               Contains("model.self_loops: layers: gin adds a vertex's own row by itself"));
    CHECK_THAT(complaint(head + "model: {layers: sage, epsilon: 0.5}\n"),
               Contains("model.epsilon: is GIN's; model.layers is sage"));
    CHECK_THAT(complaint(head + "model: {layers: gan}\n"), Contains("allowed: gcn, sage, gin, gat, gatv2"));
    CHECK_THAT(complaint(head + "model: {layers: gat, normalisation: mean}\n"),
               Contains("model.normalisation: layers: gat has none; found mean"));
    CHECK_THAT(complaint(head + "model: {layers: gat, epsilon: 1}\n"), Contains("model.epsilon: is GIN's"));
}

TEST_CASE("GAT's keys are for GAT and GATv2 alone, and its heads divide what they share") {
    for (const char* key :
         {"heads: 2", "combine: mean", "negative_slope: 0.1", "residual: true", "attention_dropout: 0.1"}) {
        const std::string found = complaint(head + "model: {layers: sage, " + key + "}\n");
        INFO(found);
        CHECK_THAT(found, Contains("is GAT's and GATv2's; model.layers is sage"));
    }
    CHECK_THAT(complaint(head + "model: {layers: gat, share_weights: true}\n"),
               Contains("model.share_weights: is GATv2's; model.layers is gat"));
    CHECK_THAT(complaint(head + "model: {layers: gat, hidden: [16, 12], heads: 8}\n"),
               Contains("model.hidden: layer 1 has 12 columns for 8 heads") && Contains("a multiple of 8"));
    CHECK_THAT(complaint(head + "model: {layers: gat, hidden: [16], heads: [8, 4, 1]}\n"),
               Contains("model.heads: expected one number, or 2 (one per layer: 1 hidden and the last); found 3"));
    CHECK_THAT(complaint(head + "model: {layers: gat, heads: 0}\n"),
               Contains("model.heads: expected an integer between 1 and 1024, or a list with one per layer"));
    CHECK_THAT(complaint(head + "model: {layers: gat, heads: []}\n"), Contains("found an empty list"));
    CHECK_THAT(complaint(head + "model: {layers: gat, heads: [2, 1.5]}\n"), Contains("found the real number 1.5"));
    CHECK_THAT(complaint(head + "model: {layers: gat, negative_slope: 2}\n"),
               Contains("a number between 0 and 1"));
}

TEST_CASE("a slowdown that cannot be is refused where it is written") {
    CHECK_THAT(complaint(head + "slowdown: 2\n"),
               Contains("exp.yaml:3:11: slowdown: expected a mapping from ranks to factors of at least 1") &&
                   Contains("found the integer 2"));
    CHECK_THAT(
        complaint(head + "slowdown: {0: 2, 3: 0.5}\n"),
        Contains("exp.yaml:3:21: slowdown.3: expected a factor between 1 and 1000000; found the real number 0.5"));
    CHECK_THAT(complaint(head + "slowdown: {3: fast}\n"), Contains("found the text 'fast'"));
    CHECK_THAT(complaint(head + "slowdown: {3: .nan}\n"), Contains("found the real number .nan"));
    CHECK_THAT(
        complaint(head + "slowdown: {3: 2, jitter: 1.5}\n"),
        Contains("exp.yaml:3:26: slowdown.jitter: expected a number between 0 and 1; found the real number 1.5"));
    CHECK_THAT(complaint(head + "slowdown: {jitter: -0.1}\n"), Contains("found the real number -0.1"));
    CHECK_THAT(complaint(head + "slowdown: {3: 2, lasts: 0.5}\n"),
               Contains("slowdown.lasts: is of what is drawn: give a jitter or a spread above 0, too"));
    CHECK_THAT(
        complaint(head + "slowdown: {spread: 0.1, lasts: -0.5}\n"),
        Contains("slowdown.lasts: expected seconds between 0.000001 and 1000000; found the real number -0.5"));
    for (const char* key : {"-1", "03", "3.0", "rank 3", "65536", "99999999999999999999", "jiter"}) {
        INFO(key);
        CHECK_THAT(
            complaint(head + "slowdown: {" + key + ": 2}\n"),
            Contains("exp.yaml:3:12: slowdown." + std::string(key) +
                     ": expected a rank from 0 to 65535, jitter, spread or lasts, as key; found '" + key + "'"));
    }
    CHECK_THAT(complaint(head + "slowdown: {3: 2, 3: 4}\n"), Contains("given twice"));
    CHECK_THAT(complaint(head + "matrix: {slowdown: [{}, {3: 0}]}\n"), Contains("exp.yaml:3:29: slowdown.3: "));
}

TEST_CASE("keys that do not fit together are refused") {
    CHECK_THAT(
        complaint(head + "train: {weight_decay: [1, 2, 3]}\n"),
        Contains("exp.yaml:3:23: train.weight_decay: expected one number, or 2 (one per layer: 1 hidden and the "
                 "last); found 3"));
    CHECK_THAT(complaint(head + "train: {patience: 3}\n"),
               Contains("exp.yaml:3:19") && Contains("set train.evaluate_every"));
}

TEST_CASE("syntax errors and repeated keys have a place") {
    CHECK_THAT(complaint("name: [a\n"), Contains("exp.yaml:") && Contains("syntax error"));
    CHECK_THAT(
        complaint(head + "epochs: 3\nepochs: 4\n"),
        Contains("exp.yaml:4:1: epochs: the key is given twice in one mapping; the other is at exp.yaml:3:9"));
    CHECK_THAT(complaint(head + "---\nname: b\n"),
               Contains("expected one YAML document; found more from here on"));
    // yaml-cpp finds an empty document before a character that begins none, without end.
    for (const char* text : {",", ",*a\n", "a\n, b\n"}) CHECK_FALSE(complaint(text).empty());
    CHECK_THAT(complaint(","), Contains("exp.yaml:1:1: expected one YAML document"));
    CHECK_THAT(complaint(head + "[1]: 2\n"), Contains("exp.yaml:3:1: expected a word as key"));
    CHECK_THAT(complaint(head + "model: &m {hidden: *m}\n"), Contains("exp.yaml:3:"));
    CHECK_THAT(complaint("a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                         "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                         "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"),
               Contains("nested deeper"));
}

TEST_CASE("a plugin under its name elsewhere is answered by its name here") {
    CHECK_THAT(complaint(head + "kernel: gpu\n"),
               Contains("there is no kernel 'gpu'; here that is the kernel 'cuda'; allowed: cpu, cuda"));
    CHECK_THAT(complaint(head + "partitioner: kway\n"), Contains("here that is the partitioner 'metis'"));
}

namespace {

/// A build without the kernel cuda.
class WithoutCuda : public test::FakePlugins {
public:
    std::vector<std::string> names(PluginKind kind) const override {
        auto all = FakePlugins::names(kind);
        std::erase(all, "cuda");
        return all;
    }
};

}  // namespace

TEST_CASE("a plugin of gnnbench's that is not built here is no unknown word") {
    const WithoutCuda plugins;
    const test::FakeDatasets datasets;
    const auto said = [&](const std::string& kernel) {
        try {
            read_experiment(head + "kernel: " + kernel + "\n", "exp.yaml", {}, plugins, datasets);
        } catch (const ExperimentError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK_THAT(said("cuda"), Contains("exp.yaml:3:9: kernel: the kernel 'cuda' is not built here") &&
                                 Contains("nvcc") && Contains("./dev build") && Contains("GNNBENCH_CUDA=ON") &&
                                 Contains("built: cpu"));
    CHECK_THAT(said("gpu"),
               Contains("there is no kernel 'gpu'; here that is the kernel 'cuda', which is not built "
                        "here") &&
                   Contains("./dev build"));
    // Any folder of plugins/ is known, with no list to keep.
    CHECK_THAT(said("reference"),
               Contains("the kernel 'reference' is not built here; ./dev build builds it; built: cpu"));
    CHECK_THAT(complaint("dataset: cora\nscheme: plexus-3d\n"),
               Contains("the scheme 'plexus-3d' is not built here"));
    CHECK_THAT(said("cuba"), Contains("there is no kernel 'cuba'; allowed: cpu") && !Contains("built"));
}

TEST_CASE("a key under its name elsewhere is answered by its name here") {
    CHECK_THAT(
        complaint(head + "learning_rate: 0.1\n"),
        Contains("exp.yaml:3:1: learning_rate: unknown key; here that is 'lr' of 'train'; write train: {lr: …}"));
    CHECK_THAT(complaint(head + "train: {learning_rate: 0.1}\n"),
               Contains("exp.yaml:3:9: train.learning_rate: unknown key; here that is 'lr'"));
    CHECK_THAT(complaint(head + "matrix: {learning-rate: [0.1, 1]}\n"),
               Contains("matrix.learning-rate: unknown key; here that is 'train.lr'"));
    CHECK_THAT(complaint(head + "matrix: {train.learning_rate: [0.1, 1]}\n"), Contains("here that is 'train.lr'"));
    CHECK_THAT(complaint(head + "model: {num_layers: 2}\n"),
               Contains("model.num_layers: unknown key; here that is 'hidden'"));
    CHECK_THAT(complaint(head + "train: {num_epochs: 2}\n"),
               Contains("train.num_epochs: unknown key; here that is 'epochs' at the top level"));
    CHECK_THAT(complaint(head + "world_size: 2\n"), Contains("world_size: unknown key; here that is 'gpus'"));
    CHECK_THAT(complaint(head + "NumGPUs: 2\n"), Contains("here that is 'gpus'"));
    CHECK_THAT(complaint(head, {"learning_rate=0.1"}), Contains("here that is 'lr' of 'train'"));
    for (const auto& [elsewhere, path] : keys_elsewhere()) {
        INFO(elsewhere);
        CHECK(find_field(path));
        CHECK_FALSE(find_field(elsewhere));
    }
}

TEST_CASE("several values with commas and no brackets are answered by the list") {
    CHECK_THAT(complaint(head + "gpus: 2,4\n"),
               Contains("exp.yaml:3:7: gpus: expected an integer between 1 and 65536; found the text '2,4'; for "
                        "several values, write a list: gpus: [2, 4]"));
    CHECK_THAT(complaint(head + "gpus: 2 4 8\n"), Contains("gpus: [2, 4, 8]"));
    CHECK_THAT(complaint(head, {"gpus=2,4"}), Contains("gpus: [2, 4]"));
    CHECK_THAT(complaint(head + "train:\n  lr: 0.1, 0.01\n"),
               Contains("for several values, write a list in matrix: train.lr: [0.1, 0.01]"));
    CHECK_THAT(complaint(head + "precision: float32,float64\n"), Contains("precision: [float32, float64]"));
    CHECK_THAT(complaint("dataset: cora\nscheme: serial, mg-gcn\n"),
               Contains("for several values, write a list: scheme: [serial, mg-gcn]"));
    CHECK_THAT(complaint(head + "model:\n  hidden: 64,32\n"), Contains("write [64, 32]"));
    // What is no list, or of a key that does not vary, is not called one.
    CHECK_THAT(complaint(head + "gpus: two, four\n"), !Contains("write a list"));
    CHECK_THAT(complaint(head + "trials: 2,4\n"), !Contains("write a list"));
    CHECK_THAT(complaint(head + "gpus: 2,0\n"), !Contains("write a list"));
}

TEST_CASE("every error of a file is reported, in its order") {
    const std::string all =
        complaint("scheme: seral\nepochs: x\ngpus: 0\nmodel: {activation: relo}\nwarmup: -1\n");
    CHECK_THAT(all, Contains("exp.yaml:1:1: dataset: required"));
    CHECK_THAT(all,
               Contains("exp.yaml:1:9: scheme: there is no scheme 'seral'") && Contains("did you mean 'serial'?"));
    CHECK_THAT(all,
               Contains("2:9: epochs") && Contains("3:7: gpus") && Contains("4:21") && Contains("5:9: warmup"));
    CHECK(std::count(all.begin(), all.end(), '\n') == 5);
    CHECK(all.find("2:9") < all.find("5:9"));
}

TEST_CASE("a plugin's parameters are checked against its declarations") {
    CHECK_THAT(
        complaint("dataset: cora\nscheme: {name: mg-gcn, overlp: true}\n"),
        Contains(
            "exp.yaml:2:24: scheme.overlp: scheme 'mg-gcn' has no parameter 'overlp'; allowed: overlap, depth, "
            "name; did you mean 'overlap'?"));
    CHECK_THAT(
        complaint("dataset: cora\nscheme: {name: mg-gcn, overlap: 3}\n"),
        Contains("exp.yaml:2:33: scheme.overlap: scheme 'mg-gcn' expects true or false; found the integer 3"));
    CHECK_THAT(complaint("dataset: cora\nscheme: {name: mg-gcn, depth: 9}\n"),
               Contains("depth") && Contains("between 1 and 8"));
    CHECK_THAT(complaint(head + "partitioner: {name: metis, objective: cuts}\n"),
               Contains("3:39") && Contains("one of cut, volume"));
    CHECK_THAT(complaint("dataset: cora\nscheme: {name: mg-gcn, overlap: [true, false]}\n"),
               Contains("list several mappings"));
    CHECK_THAT(complaint("dataset: cora\nscheme: {overlap: true}\n"),
               Contains("2:9") && Contains("a mapping without 'name'"));
    CHECK_THAT(complaint("dataset: cora\nscheme: 3\n"),
               Contains("expected a scheme's name") && Contains("the integer 3"));
    CHECK_THAT(complaint(head + "kernel: cpuu\n"), Contains("allowed: cpu, cuda; did you mean 'cpu'?"));
}

TEST_CASE("datasets that cannot be are refused") {
    const std::string rest = "\nscheme: serial\n";
    CHECK_THAT(complaint("dataset: coro" + rest),
               Contains("exp.yaml:1:10: dataset: expected a stored dataset's name; found "
                        "the text 'coro'; allowed: amazon0601, cora; did you mean 'cora'?"));
    CHECK_THAT(complaint("dataset: {store: nothere}" + rest), Contains("1:18"));
    CHECK_THAT(complaint("dataset: {store: cora, directed: true}" + rest),
               Contains("has no parameter 'directed'"));
    CHECK_THAT(complaint("dataset: {generate: dcsbn}" + rest),
               Contains("1:21: dataset.generate") && Contains("'dcsbm'?"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, vertexes: 3}" + rest),
               Contains("1:28") && Contains("'vertices'?"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, vertices: 0}" + rest), Contains("1:38: dataset.vertices"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, path: a}" + rest),
               Contains("none or several of store, path, generate and expect"));
    CHECK_THAT(complaint("dataset: {vertices: 3}" + rest), Contains("none or several"));
    CHECK_THAT(complaint("dataset: no/where" + rest),
               Contains("expected a stored dataset's name; found the text 'no/where'"));
    CHECK_THAT(complaint("dataset: {expect: papers100m, localty: 0.9}" + rest),
               Contains("has no parameter 'localty'"));
    CHECK_THAT(complaint("dataset: {expect: [a]}" + rest),
               Contains("1:19: dataset.expect: expected a dataset's profile"));
    CHECK_THAT(complaint("dataset: {expect: papers100m}" + rest),
               Contains("1:10: dataset: expect: \"papers100m\" is a graph that is not there") &&
                   Contains("found kernel cpu, allowed is kernel: {name: simulated, machine: …}"));
    const std::string too_long(5000, 'a');
    CHECK_THAT(complaint("dataset: {path: " + too_long + ".tsv}" + rest), Contains("there is no file or folder"));
    CHECK_THAT(complaint("dataset: x/" + too_long + rest), Contains("expected a stored dataset's name"));
    CHECK_THAT(complaint(head + "train: {initial_weights: " + too_long + "}\n"),
               Contains("expected a folder; there is none"));
    CHECK_THAT(complaint("dataset: {path: nowhere.tsv}" + rest),
               Contains("1:17: dataset.path: there is no file or folder /"));
    CHECK_THAT(complaint("dataset: {path: \"${GNNBENCH_UNSET_HERE}/a.tsv\"}" + rest),
               Contains("the environment variable GNNBENCH_UNSET_HERE") && Contains("--set dataset.path="));
    CHECK_THAT(complaint("dataset: {path: \"${UNCLOSED\"}" + rest), Contains("expected '}' after '${'"));
    CHECK_THAT(complaint("dataset: {store: cora, split: -1}" + rest),
               Contains("dataset.split: expected an integer from 0"));
    CHECK_THAT(complaint("dataset: {path: /, format: metiss}" + rest),
               Contains("dataset.format") && Contains("'metis'?"));
    CHECK_THAT(complaint("dataset: {path: /}" + rest), Contains("the format is not known"));
    CHECK_THAT(complaint("dataset:\n- {generate: dcsbm}\n- {generate: dcsbm, features: 3}" + rest),
               Contains("exp.yaml:3:3: dataset: two datasets would be shown as 'dcsbm-20000'"));
    // Samples share a name; what else differs must not.
    CHECK_THAT(
        complaint("dataset:\n- {generate: dcsbm, seed: [1, 2]}\n- {generate: dcsbm, features: 3, seed: 4}" + rest),
        Contains("exp.yaml:3:3: dataset: two datasets would be shown as 'dcsbm-20000'"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, seed: [1, x]}" + rest),
               Contains("1:38: dataset.seed: generator 'dcsbm' expects an integer") && Contains("the text 'x'"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, seed: []}" + rest),
               Contains("1:34") && Contains("an integer"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, features: [1, 2]}" + rest),
               Contains("list several mappings"));
    CHECK_THAT(complaint("dataset: {store: cora, seed: [1, 2]}" + rest), Contains("has no parameter 'seed'"));
}

TEST_CASE("what a matrix cannot be") {
    CHECK_THAT(complaint(head + "matrix: {trials: [1, 2]}\n"),
               Contains("cannot vary") && Contains("'trials' outside matrix"));
    CHECK_THAT(complaint(head + "matrix: {gpus: []}\n"), Contains("an empty list gives no cell"));
    CHECK_THAT(complaint(head + "matrix: [gpus]\n"),
               Contains("expected a mapping of keys to lists; found a list"));
    CHECK_THAT(complaint(head + "gpus: 2\nmatrix: {gpus: [1, 2]}\n"),
               Contains("exp.yaml:4:16: gpus: given twice: also at exp.yaml:3:7"));
    CHECK_THAT(complaint(head + "model: {hidden: [8]}\nmatrix: {model.hidden: [[8], [16]]}\n"),
               Contains("given twice"));
    CHECK_THAT(complaint(head + "matrix: {model.hidden: [64, 32]}\n"),
               Contains("[[64, 32]] for one model, [[64], [32]]"));
    CHECK_THAT(complaint(head + "train: {lr: [0.1, 0.2]}\n"), Contains("list them in matrix under 'train.lr'"));
    std::string thousand;
    for (int i = 1; i <= 1001; ++i) thousand += std::to_string(i) + ",";
    CHECK_THAT(complaint(head + "matrix: {seed: [" + thousand + "], epochs: [" + thousand + "]}\n"),
               Contains("more than 1000000 cells"));
}

TEST_CASE("a bad override names itself") {
    CHECK_THAT(complaint(head, {"epochs=many"}), Contains("--set epochs=many: epochs: expected an integer"));
    CHECK_THAT(complaint(head, {"epochz=3"}),
               Contains("--set epochz=3: epochz: unknown key") && Contains("'epochs'?"));
    CHECK_THAT(complaint(head, {"epochs"}), Contains("--set epochs: expected key=value"));
    CHECK_THAT(complaint(head, {"epochs.a=1"}), Contains("--set epochs.a=1: epochs: expected an integer"));
    CHECK_THAT(complaint(head + "epochs: 3\n", {"epochs.a=1"}), Contains("expected a mapping at 'epochs'"));
    CHECK_THAT(complaint(head, {"train.lr=[1"}),
               Contains("--set train.lr=[1: expected YAML; found a syntax error"));
}

TEST_CASE("text that is no UTF-8 is found at its place") {
    CHECK_THAT(complaint(head + "name: caf\xe9\n"),
               Contains("exp.yaml:3:10: expected text in UTF-8; found the byte 0xe9"));
    CHECK_THAT(complaint("\xff"), Contains("exp.yaml:1:1: expected text in UTF-8"));
}

TEST_CASE("of very many findings the first hundred are told, and soon") {
    std::string text = head;
    for (int i = 0; i < 60000; ++i) text += "key" + std::to_string(i) + ": 1\n";
    const auto begin = std::chrono::steady_clock::now();
    const std::string said = complaint(text);
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
          20);  // it took minutes
    CHECK(std::count(said.begin(), said.end(), '\n') == 100);
    CHECK_THAT(said, Contains("exp.yaml:3:1: key0") && Contains("and 9899 more; mend the first 100"));
}

TEST_CASE("a pipe as an experiment is refused, not waited for") {
    const test::FakePlugins plugins;
    const test::FakeDatasets datasets;
    const std::filesystem::path pipe =
        std::filesystem::temp_directory_path() / ("gnnbench-pipe-" + std::to_string(::getpid()));
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(load_experiment(pipe, {}, plugins, datasets), Contains("that is a pipe"));
    std::filesystem::remove(pipe);
    CHECK_THROWS_WITH(load_experiment("/dev/zero", {}, plugins, datasets), Contains("a device"));
    CHECK_THROWS_WITH(load_experiment(std::string(400, 'n'), {}, plugins, datasets),
                      Contains("File name too long"));
}

TEST_CASE("a file that is not there") {
    const test::FakePlugins plugins;
    const test::FakeDatasets datasets;
    CHECK_THROWS_WITH(load_experiment("/nowhere/exp.yaml", {}, plugins, datasets),
                      Equals("expected an experiment file at '/nowhere/exp.yaml'; No such file or directory"));
    CHECK_THROWS_WITH(load_experiment("/", {}, plugins, datasets), Contains("that is a folder"));
}
