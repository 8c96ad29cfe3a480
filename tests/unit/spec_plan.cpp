// What would run, what is skipped and why, what is there.

#include "spec_fakes.hpp"

#include "spec/plan.hpp"

using namespace gnnbench;
using gnnbench::test::read;

namespace {

Plan plan(const Experiment& e, Stored stored = {}, PlanRules rules = {}, std::int64_t vertices = 100) {
    static const test::FakePlugins plugins;
    const PlanSources sources{plugins,
                              [=](const DatasetChoice&) -> std::optional<DatasetFacts> {
                                  if (vertices == 0) return {};
                                  return DatasetFacts{{vertices, 10 * vertices, false}, 5, 3};
                              },
                              [=](const std::string&) { return stored; }};
    return make_plan(e, sources, rules, 4);
}

}  // namespace

TEST_CASE("a cell that cannot run is skipped with the reason of whoever said so") {
    const auto reason = [](const std::string& rest, std::int64_t vertices = 100) {
        const Plan p = plan(read("dataset: cora\n" + rest), {}, {}, vertices);
        REQUIRE(p.cells.size() == 1);
        CHECK((p.cells[0].verdict == Verdict::skipped) == !p.cells[0].reason.empty());
        return p.cells[0].reason;
    };
    CHECK(reason("scheme: serial\ngpus: 2\n") == "scheme serial: needs one rank; 2 given");
    CHECK(reason("scheme: square\ngpus: 6\n") == "scheme square: needs a square number of ranks; 6 given");
    CHECK(reason("scheme: mg-gcn\nkernel: cuda\n") == "kernel cuda: no CUDA device");
    CHECK(reason("scheme: mg-gcn\ngpus: 4\npartitioner: metis\n", 3) ==
          "partitioner metis: fewer vertices than parts");
    CHECK(reason("scheme: mg-gcn\ngpus: 4\npartitioner: metis\n", 0).empty());  // not known yet, so not judged
    CHECK(reason("scheme: mg-gcn\nmodel: {aggregate_input: true}\ntrain: {dropout: 0.5}\n").empty());
    CHECK(reason("scheme: {command: ./train}\nmodel: {aggregate_input: true}\ntrain: {dropout: 0.5}\n").empty());
    CHECK(reason("scheme: square\ngpus: 4\n").empty());
    CHECK(reason("scheme: square\ngpus: 4\nslowdown: {3: 2}\n") ==
          "scheme square: slowdown is for schemes that train by batches, which this one does not");
    CHECK(reason("scheme: {command: ./train}\nslowdown: {0: 2}\n") == "scheme train: a program has no slowdown");
    CHECK(reason("scheme: {command: ./train}\nmodel: {sparse_features: true}\n") ==
          "scheme train: sparse_features is not told to programs");
    CHECK(reason("scheme: mg-gcn\ngpus: 2\nslowdown: {0: 2, 3: 2}\n") ==
          "scheme mg-gcn: slowdown names rank 3; ranks are {0 … 1}");
    CHECK(reason("scheme: mg-gcn\ngpus: 4\nslowdown: {3: 2, jitter: 0.5}\n").empty());
    CHECK(reason("scheme: square\ngpus: 4\nslowdown: {3: 1}\n").empty());
}

TEST_CASE("a plan starts no program unless it is told to") {
    static const test::FakePlugins plugins;
    const Experiment e = read("dataset: cora\nscheme: {command: ./train}\n");
    int asked = 0;
    const PlanSources sources{.plugins = plugins,
                              .dataset = [](const DatasetChoice&) { return std::optional<DatasetFacts>(); },
                              .stored = [](const std::string&) { return Stored(); },
                              .program =
                                  [&](const Cell&) {
                                      ++asked;
                                      return std::string("absent");
                                  }};
    CHECK(make_plan(e, sources, {}, 4).run == 1);
    CHECK(asked == 0);
    CHECK(make_plan(e, sources, {.ask_programs = true}, 4).skipped == 1);
    CHECK(asked == 1);
}

TEST_CASE("stored trials count, failures stay until asked for") {
    const Experiment e = read("dataset: cora\nscheme: mg-gcn\ntrials: 5\ngpus: [2, 4]\n");
    Plan p = plan(e);
    CHECK(p.run == 2);
    CHECK(p.trials == 10);
    p = plan(e, {3, 1});
    CHECK(p.cells[0].trials == 1);
    CHECK(p.trials == 2);
    p = plan(e, {3, 2});
    CHECK(p.present == 0);  // two of five failed
    CHECK(p.failed == 2);
    CHECK(p.trials == 0);
    CHECK(p.cells[1].verdict == Verdict::failed);
    p = plan(e, {5, 0});
    CHECK(p.present == 2);
    CHECK(p.failed == 0);
    CHECK(p.cells[1].verdict == Verdict::present);
    CHECK(plan(e, {3, 2}, {.again = Again::failed}).trials == 4);
    CHECK(plan(e, {5, 0}, {.again = Again::all}).trials == 10);
    CHECK(plan(e, {9, 0}).trials == 0);
    CHECK(plan(e, {}, {}, 0).unknown_dataset == 2);
}

TEST_CASE("more threads than cores is told") {
    const Plan p = plan(read("dataset: cora\nscheme: mg-gcn\ngpus: [1, 2, 4]\nthreads_per_rank: 2\n"));
    REQUIRE(p.cells.size() == 3);
    CHECK_FALSE(p.cells[0].oversubscribed);
    CHECK_FALSE(p.cells[1].oversubscribed);
    CHECK(p.cells[2].oversubscribed);
}

TEST_CASE("a question has the widths a trial will have") {
    const Cell c =
        read("dataset: cora\nscheme: mg-gcn\nmodel: {hidden: [32, 8]}\ntrain: {weight_decay: 0.5}\n").cells.at(0);
    const Question known(c, DatasetFacts{{100, 10, false}, 7, 3});
    CHECK(known.model.widths == std::vector<std::int64_t>{7, 32, 8, 3});
    CHECK(known.train.weight_decay == std::vector<double>{0.5, 0.5, 0.5});
    CHECK(Question(c, {}).model.layers() == 3);
}

TEST_CASE("a plan can be of some cells") {
    const Experiment e = read("dataset: cora\nmatrix: {scheme: [mg-gcn, cagnet-1d], gpus: [2, 4]}\n");
    const Plan p = plan(e, {}, {.where = "scheme = 'cagnet-1d' AND gpus > 2"});
    REQUIRE(p.cells.size() == 1);
    CHECK(p.cells[0].cell == 3);
    CHECK(p.run == 1);
    CHECK_THROWS_WITH(plan(e, {}, {.where = "gpu > 2"}), Catch::StartsWith("--where: expected an expression") &&
                                                             Catch::Contains("did you mean 'gpus'?"));
}

TEST_CASE("an expression that fits no cell is refused with the values there are") {
    const Experiment e =
        read("dataset: cora\nmatrix: {scheme: [mg-gcn, cagnet-1d], partitioner: [random, metis], gpus: [1, 2]}\n");
    CHECK_NOTHROW(require_some_cell(e, ""));
    CHECK_NOTHROW(require_some_cell(e, "gpus = 2"));
    CHECK_THROWS_AS(require_some_cell(e, "gpus = 3"), SpecError);
    CHECK_THROWS_WITH(require_some_cell(e, "gpus = 3 AND scheme = 'mggcn'"),
                      Catch::Contains("gpus is 1, 2") && Catch::Contains("scheme is 'mg-gcn', 'cagnet-1d'"));
    // As tables show it: a graph in one part has no partitioner.
    CHECK(plan(e, {}, {.where = "partitioner = 'none'"}).cells.size() == 2);
    CHECK(plan(e, {}, {.where = "partitioner = 'none' AND gpus > 1"}).cells.empty());
    CHECK_THROWS_WITH(require_some_cell(e, "partitioner = 'block'"),
                      Catch::Contains("partitioner is 'none', 'random', 'metis'"));
}

TEST_CASE("a kernel says itself whether it computes in host memory, whatever its name") {
    const Experiment e = read("dataset: cora\nscheme: mg-gcn\ngpus: 2\n");
    test::FakePlugins plugins;
    CHECK(in_host_memory(e.cells.at(0), plugins));
    plugins.host_memory_backend = "cuda";
    CHECK_FALSE(in_host_memory(e.cells.at(0), plugins));
    Cell other = e.cells.at(0);
    other.kernel.name = "cuda";
    CHECK(in_host_memory(other, plugins));
}

TEST_CASE("a cell is skipped where its scheme states more than a rank has, if the scheme is asked") {
    const Experiment e = read("dataset: cora\nmatrix: {scheme: [mg-gcn, cagnet-1d]}\ngpus: 2\n");
    const test::FakePlugins plugins;
    const std::int64_t gib = std::int64_t{1} << 30;
    PlanSources sources{
        plugins,
        [](const DatasetChoice&) -> std::optional<DatasetFacts> { return DatasetFacts{{100, 1000, false}, 5, 3}; },
        [](const std::string&) { return Stored{}; }};
    const PlanRules rules{.host_memory_bytes = 4 * gib};
    CHECK(make_plan(e, sources, rules, 4).cells.at(1).stated.device == 0);
    sources.stated_memory = [=](const Cell& cell) {
        return StatedMemory{.device = cell.scheme.name == "mg-gcn" ? gib : 3 * gib};
    };
    const Plan p = make_plan(e, sources, rules, 4);
    CHECK(p.cells.at(0).verdict == Verdict::run);
    CHECK(p.cells.at(0).stated.device == gib);
    CHECK(p.cells.at(1).verdict == Verdict::skipped);
    CHECK_THAT(p.cells.at(1).reason, Catch::Contains("at least 3") && Catch::Contains("2"));
}

TEST_CASE("a cell is skipped where its ranks' processes together hold more than their host has") {
    const Experiment e = read("dataset: cora\nmatrix: {scheme: [mg-gcn, cagnet-1d]}\ngpus: 2\n");
    test::FakePlugins plugins;
    plugins.host_memory_backend = "cuda";  // what is cut is on the host, whatever the kernel
    const std::int64_t gib = std::int64_t{1} << 30;
    PlanSources sources{
        plugins,
        [](const DatasetChoice&) -> std::optional<DatasetFacts> { return DatasetFacts{{100, 1000, false}, 5, 3}; },
        [](const std::string&) { return Stored{}; }};
    sources.stated_memory = [=](const Cell& cell) {
        // Mapped files do not count: the system takes their pages back.
        return StatedMemory{.host_peak = 9 * gib,
                            .host_own = cell.scheme.name == "mg-gcn" ? 4 * gib : 4 * gib + 1};
    };
    PlanRules rules{.host_memory_bytes = 4 * gib};
    Plan p = make_plan(e, sources, rules, 4);
    CHECK(p.cells.at(0).verdict == Verdict::run);
    CHECK(p.cells.at(1).verdict == Verdict::skipped);
    CHECK_THAT(p.cells.at(1).reason,
               Catch::Contains("2 ranks hold 4.0 GiB") && Catch::Contains("this host has 4.0"));
    rules.force = true;
    CHECK(make_plan(e, sources, rules, 4).cells.at(1).verdict == Verdict::run);
    rules = {.host_memory_bytes = 0};
    CHECK(make_plan(e, sources, rules, 4).cells.at(1).verdict == Verdict::run);
}

TEST_CASE("a cell that cannot fit is skipped with the number, unless forced") {
    // 100,000,000 vertices of 5 features, 16 hidden, 3 classes over 2 ranks: 24 values a vertex, 10 entries a vertex.
    const Experiment e = read("dataset: cora\nscheme: mg-gcn\ngpus: 2\n");
    const std::int64_t n = 100'000'000, gib = std::int64_t{1} << 30;
    const std::int64_t least = 4 * (n * 24 + 4 * (5 * 16 + 16 * 3)) / 2 + 2 * 10 * n / 2;
    Plan p = plan(e, {}, {.host_memory_bytes = 2 * least}, n);
    CHECK(p.cells.at(0).least_memory_bytes == least);
    CHECK(p.cells[0].reason.empty());
    Experiment sparse = e;
    sparse.cells.at(0).model.sparse_features = true;  // 5 features of any vertex may be 0
    CHECK(plan(sparse, {}, {}, n).cells.at(0).least_memory_bytes == least - 4 * n * 5 / 2);
    p = plan(e, {}, {.host_memory_bytes = 8 * gib}, n);
    CHECK(p.skipped == 1);
    CHECK(p.cells[0].reason ==
          "memory: each of its 2 ranks needs at least 5.4 GiB, and its share of this host's memory has 4.0 "
          "GiB (--force runs it anyway)");
    CHECK(plan(e, {}, {.force = true, .host_memory_bytes = 8 * gib}, n).run == 1);
    // Of a cluster's nodes a trial gets as many as its ranks need: here one for each.
    CHECK(plan(e, {}, {.host_memory_bytes = 8 * gib, .cores_of_a_node = 1}, n).run == 1);
    CHECK(plan(e, {}, {.host_memory_bytes = 8 * gib, .cores_of_a_node = 8}, n).skipped == 1);
    CHECK(plan(e, {}, {.host_memory_bytes = 8 * gib}, 0).run == 1);  // not known yet, so not judged
    const Experiment limited = read("dataset: cora\nscheme: mg-gcn\ngpus: 2\nlimits: {memory_per_rank: 5}\n");
    CHECK_THAT(plan(limited, {}, {}, n).cells.at(0).reason,
               Catch::Contains("a rank (limits.memory_per_rank) has 5.0 GiB"));
    CHECK(plan(limited, {}, {}, n / 2).run == 1);
}

TEST_CASE("cells that another build measured are counted") {
    const Experiment e = read("dataset: cora\nscheme: mg-gcn\ntrials: 3\ngpus: [2, 4]\n");
    const Plan p = plan(e, {.ok = 3, .stale = 2});
    CHECK(p.stale == 2);
    CHECK(p.present == 2);
    CHECK(plan(e, {.ok = 1, .stale = 2}, {.stale = true}).trials ==
          4);  // stale ones are not among the ok ones then
}
