// Which trials count for a cell, what verified it, and which cells an experiment has.
#include <catch2/catch.hpp>

#include "record/database.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::rows;

TEST_CASE("the newest conclusive trial of a number counts; other machines' do not") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("serial", 1);
    const std::string here = machine_fingerprint(samples::machine);
    const auto add = [&](const std::string& uuid, int number, const std::string& status, const std::string& when) {
        d.apply(std::vector<json>{samples::trial(uuid, c, number, when), samples::outcome(uuid, status)});
    };
    CHECK(d.trials_of(c.digest, here).empty());
    add("a", 0, "failed", "2026-01-01T00:00:00.000Z");
    add("b", 0, "ok", "2026-01-02T00:00:00.000Z");
    add("c", 0, "interrupted", "2026-01-03T00:00:00.000Z");
    add("d", 1, "skipped", "2026-01-01T00:00:00.000Z");
    add("e", 1, "interrupted", "2026-01-02T00:00:00.000Z");
    const auto states = d.trials_of(c.digest, here);
    REQUIRE(states.size() == 2);
    CHECK(states[0].trial == "b");
    CHECK(states[0].status == TrialStatus::ok);
    CHECK(states[0].build == "b1");
    CHECK(states[0].conclusive == 2);
    CHECK(states[1].status == TrialStatus::interrupted);
    CHECK(states[1].conclusive == 0);
    CHECK(d.trials_of(c.digest, "elsewhere").empty());

    CHECK(remove_trials(d, std::vector<std::string>{"b", "nobody"}) == 1);
    CHECK(d.trials_of(c.digest, here)[0].trial == "a");
}

TEST_CASE("a verification is found by its key; one that crashed says so") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("mg-gcn", 2);
    CHECK_FALSE(d.verification(c.verification_key));
    json start = samples::trial("v1", c);
    start["purpose"] = "verify";
    d.apply(std::vector<json>{start, samples::outcome("v1", "crashed", "signal 11")});
    CHECK(d.verification(c.verification_key)->status == VerificationStatus::unverified);
    CHECK(d.verification(c.verification_key)->reason == "its verification ended as crashed: signal 11");
    start["trial"] = "v2";
    d.apply(std::vector<json>{start,
                              {{"type", "verification"},
                               {"trial", "v2"},
                               {"status", "verified"},
                               {"reason", ""},
                               {"loss_error", 1e-7},
                               {"gradient_error", 2e-6},
                               {"volume_equal", true},
                               {"sampled_vertices", 0},
                               {"detail", ""}},
                              samples::outcome("v2")});
    const auto v = d.verification(c.verification_key);
    CHECK(v->status == VerificationStatus::verified);
    CHECK(v->gradient_error == 2e-6);
    CHECK(v->volume_equal == true);
    // A verification is not a measured trial.
    CHECK(d.trials_of(c.digest, machine_fingerprint(samples::machine)).empty());
}

TEST_CASE("an experiment's cells are those it has now") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto a = samples::cell("serial", 1), b = samples::cell("mg-gcn", 1), c = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "name: sample", std::vector<CellRecord>{a, b});
    d.apply(samples::whole_trial("t1", a));
    d.register_experiment("sample", "name: sample\n", std::vector<CellRecord>{c, a});
    CHECK(rows(path, "SELECT c.digest FROM experiment_cell x JOIN cell c ON c.id = x.cell_id ORDER BY position") ==
          json{{c.digest}, {a.digest}});
    CHECK(rows(path, "SELECT count(*) FROM cells") == json{{3}});
    CHECK(rows(path, "SELECT count(*) FROM trials WHERE experiment = 'sample'") == json{{1}});
}
