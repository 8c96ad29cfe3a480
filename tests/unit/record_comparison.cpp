#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/comparison.hpp"
#include "record/database.hpp"
#include "record/varying.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

TEST_CASE("an experiment that is not there: those that are, are named") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    d.register_experiment("quickstart", "", {});
    CHECK_THROWS_AS(read_comparison(folder / "r.sqlite", "quick"), SpecError);
    CHECK_THROWS_WITH(read_comparison(folder / "r.sqlite", "quick"),
                      Catch::Contains("no experiment 'quick'; it has quickstart"));
    CHECK_THROWS_AS(read_verifications(folder / "r.sqlite", "quick"), SpecError);
    CHECK(read_comparison(folder / "r.sqlite", "quickstart").cells.empty());
}

TEST_CASE("a comparison is read from trials of one machine") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto mg = samples::cell("mg-gcn", 2), serial = samples::cell("serial", 1),
               never = samples::cell("mg-gcn", 4);
    d.register_experiment("sample", "", std::vector<CellRecord>{serial, mg, never});
    // Three trials of mg-gcn: 3 s, 3 s (after a failure that was rerun), and one that crashed.
    d.apply(samples::whole_trial("m0", mg, 0));
    d.apply(std::vector<json>{samples::trial("m1-failed", mg, 1, "2025-12-31T00:00:00.000Z"),
                              samples::outcome("m1-failed", "failed", "x")});
    d.apply(samples::whole_trial("m1", mg, 1));
    d.apply(std::vector<json>{samples::trial("m2", mg, 2), samples::outcome("m2", "crashed", "signal 11")});
    d.apply(std::vector<json>{samples::trial("s0", serial, 0), samples::outcome("s0", "oom", "too big")});
    // Another machine, earlier: not in it, but counted.
    auto elsewhere = samples::whole_trial("far", never, 0);
    elsewhere[0]["machine"] = {{"cpu", "Other"}};
    elsewhere[0]["started"] = "2025-01-01T00:00:00.000Z";
    d.apply(elsewhere);

    const ComparisonData c = read_comparison(path, "sample");
    CHECK(c.machine == "Sample CPU, 4 cores");
    CHECK(c.other_machines == 1);
    CHECK(c.other_keys.empty());
    CHECK(c.epochs == 3);
    REQUIRE(c.cells.size() == 3);
    CHECK(c.cells[0].status == "oom");
    CHECK(c.cells[0].reason == "too big");
    CHECK_FALSE(c.cells[0].epoch_s);
    CHECK(c.cells[1].status == "ok");
    CHECK(c.cells[1].epoch_s->trials == 2);
    CHECK(c.cells[1].epoch_s->median == 3);
    CHECK(c.cells[1].other_trials == "1 of 3 trials ended otherwise (crashed: signal 11)");
    CHECK(c.cells[1].sent_bytes_per_epoch == 100);
    CHECK(c.cells[1].test_accuracy == 0.8);
    CHECK(c.cells[1].synthetic == "graph, labels");
    CHECK(c.cells[1].aggregated_input);
    CHECK_FALSE(c.cells[1].volume_differs);
    CHECK(c.cells[1].verification.status == "unverified");
    CHECK(c.cells[2].status.empty());

    const ComparisonData far = read_comparison(path, "sample", machine_fingerprint({{"cpu", "Other"}}));
    CHECK(far.cells[2].epoch_s->median == 3);
    CHECK(far.cells[1].status.empty());
    CHECK(read_verifications(path, "sample").size() == 3);
}

TEST_CASE("fields that differ between cells of one place are found") {
    const std::vector<json> identities{{{"seed", 1}, {"gpus", 1}, {"train", {{"lr", 0.1}}}},
                                       {{"seed", 2}, {"gpus", 1}, {"train", {{"lr", 0.1}}}},
                                       {{"seed", 1}, {"gpus", 2}, {"train", {{"lr", 0.1}, {"note", "x"}}}}};
    const std::vector<std::string> places{"a", "a", "b"};
    const VaryingFields v = varying_fields(places, identities);
    CHECK(v.names == std::vector<std::string>{"seed"});
    CHECK(v.values == std::vector<std::vector<std::string>>{{"1"}, {"2"}, {"1"}});
    const std::vector<std::string> together{"a", "a", "a"};
    CHECK(varying_fields(together, identities).names == std::vector<std::string>{"gpus", "seed", "note"});
}

TEST_CASE("what has a label differs by it, and only below it where labels are alike") {
    const auto kernel = [](const char* label, json params) {
        return json{{"kernel", {{"label", label}, {"params", std::move(params)}}}};
    };
    const std::vector<std::string> places{"a", "a"};
    const std::vector<json> apart{kernel("cpu", {{"format", "csr"}}), kernel("cuda", {{"tf32", false}})};
    CHECK(varying_fields(places, apart).names == std::vector<std::string>{"kernel"});
    CHECK(varying_fields(places, apart).values == std::vector<std::vector<std::string>>{{"cpu"}, {"cuda"}});
    const std::vector<json> alike{kernel("mine", {{"format", "csr"}}), kernel("mine", {{"format", "ell"}})};
    CHECK(varying_fields(places, alike).names == std::vector<std::string>{"format"});
}
