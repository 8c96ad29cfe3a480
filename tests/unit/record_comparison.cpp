#include <catch2/catch.hpp>

#include <algorithm>

#include <gnnbench/error.hpp>

#include "record/compare.hpp"
#include "record/comparison.hpp"
#include "record/database.hpp"
#include "record/query.hpp"
#include "record/origin.hpp"
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
    // Another machine, earlier: not in it, but counted.
    auto elsewhere = samples::whole_trial("far", never, 0);
    elsewhere[0]["machine"] = {{"cpu", "Other"}};
    d.apply(elsewhere);
    // Three trials of mg-gcn: 3 s, 3 s (after a failure that was rerun), and one that crashed.
    d.apply(samples::whole_trial("m0", mg, 0));
    d.apply(std::vector<json>{samples::trial("m1-failed", mg, 1, "2025-12-31T00:00:00.000Z"),
                              samples::outcome("m1-failed", "failed", "x")});
    d.apply(samples::whole_trial("m1", mg, 1));
    d.apply(std::vector<json>{samples::trial("m2", mg, 2), samples::outcome("m2", "crashed", "signal 11")});
    d.apply(std::vector<json>{samples::trial("s0", serial, 0), samples::outcome("s0", "oom", "too big")});

    const ComparisonData c = read_comparison(path, "sample");
    CHECK(c.machine == "Sample CPU, 4 cores");
    CHECK(c.other_machines == 1);
    CHECK(c.other_keys.empty());
    CHECK(c.epochs == 3);
    REQUIRE(c.cells.size() == 3);
    CHECK(c.cells[0].status == TrialStatus::oom);
    CHECK(c.cells[0].reason == "too big");
    CHECK_FALSE(c.cells[0].epoch_s);
    CHECK(c.cells[1].status == TrialStatus::ok);
    CHECK(c.cells[1].epoch_s->trials == 2);
    CHECK(c.cells[1].epoch_s->median == 3);
    CHECK(c.cells[1].other_trials == "1 of 3 trials ended otherwise (crashed: signal 11)");
    CHECK(c.cells[1].sent_bytes_per_epoch == 100);
    CHECK(c.cells[1].test_score == 0.8);
    CHECK(c.cells[1].score_metric == "accuracy");  // of lines that name none
    CHECK(c.cells[1].synthetic == "graph, labels");
    CHECK(c.cells[1].aggregated_input);
    CHECK_FALSE(c.cells[1].volume_differs);
    CHECK(c.cells[1].verification.status == VerificationStatus::unverified);
    CHECK_FALSE(c.cells[2].status);

    const ComparisonData far = read_comparison(path, "sample", machine_fingerprint({{"cpu", "Other"}}));
    CHECK(far.cells[2].epoch_s->median == 3);
    CHECK(far.machine == "Other, Sample CPU");  // trials ran on something else than its processor
    CHECK_FALSE(far.cells[1].status);
    CHECK(read_verifications(path, "sample").size() == 3);
}

TEST_CASE("cells of one place that differ in slowdown are told apart by it") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto even = samples::cell("gossip-gcn", 4);
    auto slowed = even;
    slowed.digest += "-slowed";
    slowed.identity["slowdown"] = {{"factors", {{3, 2.0}}}, {"jitter", 0.0}, {"label", "{3: 2}"}};
    d.register_experiment("sample", "", std::vector<CellRecord>{even, slowed});
    const ComparisonData c = read_comparison(path, "sample");
    CHECK(c.other_keys == std::vector<std::string>{"slowdown"});
    REQUIRE(c.cells.size() == 2);
    CHECK(c.cells[0].others == std::vector<std::string>{"none"});
    CHECK(c.cells[1].others == std::vector<std::string>{"{3: 2}"});
    CHECK(field_text(c.cells[1].fields, "slowdown") == "{3: 2}");
}

TEST_CASE("an expression chooses among an experiment's cells, for tables, origins and verifications") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    d.register_experiment("sample", "", std::vector{samples::cell("serial", 1), samples::cell("mg-gcn", 2)});
    CHECK(read_comparison(path, "sample").cells.size() == 2);
    CHECK(read_comparison(path, "sample", "", "gpus = 2").cells.at(0).scheme == "mg-gcn");
    CHECK(read_origin(path, "sample", "gpus = 2").cells.size() == 1);
    CHECK(read_verifications(path, "sample", "scheme = 'serial'").at(0).gpus == 1);
    CHECK_THROWS_WITH(read_comparison(path, "sample", "", "gpus = 3"),
                      Catch::Contains("no cell of 'sample' fits \"gpus = 3\""));
}

TEST_CASE("cells of one place that differ in sparse features are told apart by it") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    auto dense = samples::cell("mg-gcn", 4);
    dense.identity["model"]["sparse_features"] = false;
    auto sparse = dense;
    sparse.digest += "-sparse";
    sparse.identity["model"]["sparse_features"] = true;
    d.register_experiment("sample", "", std::vector<CellRecord>{dense, sparse});
    const ComparisonData c = read_comparison(path, "sample");
    CHECK(c.other_keys == std::vector<std::string>{"sparse_features"});
    REQUIRE(c.cells.size() == 2);
    CHECK(c.cells[0].others == std::vector<std::string>{"false"});
    CHECK(c.cells[1].others == std::vector<std::string>{"true"});
    CHECK_FALSE(c.cells[0].sparse_features);
    CHECK(c.cells[1].sparse_features);
}

TEST_CASE("fields that differ between cells of one place are found") {
    const auto cell = [](std::int64_t seed, std::int64_t gpus) {
        return CellFields{{"seed", seed}, {"gpus", gpus}, {"train.lr", 0.1}};
    };
    std::vector<CellFields> cells{cell(1, 1), cell(2, 1), cell(1, 2)};
    cells[2]["train.note"] = std::string("x");
    const std::vector<std::string> places{"a", "a", "b"};
    const VaryingFields v = varying_fields(places, cells);
    CHECK(v.names == std::vector<std::string>{"seed"});
    CHECK(v.values == std::vector<std::vector<std::string>>{{"1"}, {"2"}, {"1"}});
    const std::vector<std::string> together{"a", "a", "a"};
    CHECK(varying_fields(together, cells).names == std::vector<std::string>{"gpus", "seed", "note"});
}

TEST_CASE("what has a label differs by it, and only in its parameters where labels are the same") {
    const auto kernel = [](const std::string& label, const std::string& param, CellValue value) {
        return CellFields{{"kernel", label}, {"kernel_label", label}, {"kernel." + param, std::move(value)}};
    };
    const std::vector<std::string> places{"a", "a"};
    const std::vector apart{kernel("cpu", "format", "csr"), kernel("cuda", "tf32", false)};
    CHECK(varying_fields(places, apart).names == std::vector<std::string>{"kernel"});
    CHECK(varying_fields(places, apart).values == std::vector<std::vector<std::string>>{{"cpu"}, {"cuda"}});
    const std::vector same{kernel("mine", "format", "csr"), kernel("mine", "format", "ell")};
    CHECK(varying_fields(places, same).names == std::vector<std::string>{"format"});
}

namespace {

/// A trial of one measured epoch of that time, of the experiment, begun in that second of one minute.
void add(Database& d, const std::string& experiment, const std::string& uuid, const CellRecord& c, int number,
         double epoch_s, int second = 0, const std::string& status = "ok", double load = 0) {
    json begin = samples::trial(uuid, c, number, "2026-01-01T00:00:" + std::to_string(10 + second) + ".000Z");
    begin["experiment"] = experiment;
    begin["provenance"]["load_average"] = {load, load, load};
    const std::vector<json> lines{begin, samples::epoch(uuid, 0, false, epoch_s, epoch_s / 2),
                                  samples::outcome(uuid, status)};
    REQUIRE(d.apply(lines).problems.empty());
}

CellRecord one_part(const std::string& scheme) {
    CellRecord c = samples::cell(scheme, 1, "block");
    c.identity["partitioner"]["label"] = "none";
    return c;
}

}  // namespace

TEST_CASE("speed-up has one definition, for tables and for queries") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto speed_up = [&](const std::string& scheme, int gpus, const std::string& partitioner) {
        std::vector<double> found;
        for (const ComparisonCell& c : read_comparison(path, "sample").cells)
            if (c.scheme == scheme && c.gpus == gpus && c.partitioner == partitioner && c.speed_up)
                found.push_back(c.speed_up->value);
        const QueryResult asked = query(path, named_query("scaling").sql);
        const auto column = [&](const char* name) {
            return static_cast<std::size_t>(std::ranges::find(asked.columns, name) - asked.columns.begin());
        };
        for (const SqlRow& row : asked.rows)
            if (std::get<std::string>(row[column("scheme")]) == scheme &&
                std::get<std::int64_t>(row[column("gpus")]) == gpus &&
                std::get<std::string>(row[column("partitioner")]) == partitioner)
                found.push_back(std::get<double>(row[column("speed_up")]));
        CAPTURE(scheme, gpus, partitioner);
        REQUIRE(found.size() == 2);
        CHECK(found[0] == found[1]);
        return found[0];
    };
    const CellRecord alone = one_part("x"), two = samples::cell("x", 2), four = samples::cell("x", 4),
                     metis = samples::cell("x", 4, "metis");
    d.register_experiment("sample", "", std::vector{alone, two, four, metis});
    // Medians 2.6, 3.6, 1 and 0.5: the means would say otherwise.
    for (int n = 0; n < 3; ++n) {
        add(d, "sample", "a" + std::to_string(n), alone, n, n == 2 ? 50 : 2.6);
        add(d, "sample", "b" + std::to_string(n), two, n, 3.6);
        add(d, "sample", "c" + std::to_string(n), four, n, n == 2 ? 70 : 1);
        add(d, "sample", "d" + std::to_string(n), metis, n, 0.5);
    }
    // The cell on one GPU has no partitioner and begins the line of each.
    CHECK(speed_up("x", 1, "none") == 1);
    CHECK(speed_up("x", 2, "random") == Approx(2.6 / 3.6));
    CHECK(speed_up("x", 4, "random") == Approx(2.6));
    CHECK(speed_up("x", 4, "metis") == Approx(5.2));
    // Where serial was measured on one GPU it is the base of all.
    const CellRecord serial = one_part("serial");
    d.register_experiment("sample", "", std::vector{alone, two, four, metis, serial});
    add(d, "sample", "s", serial, 0, 2);
    CHECK(speed_up("x", 4, "random") == Approx(2));
    CHECK(speed_up("x", 1, "none") == Approx(2 / 2.6));
}

TEST_CASE("a cell's trials are its experiment's own; another's only where it has none of that number") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const CellRecord c = samples::cell("mg-gcn", 2);
    for (const char* experiment : {"first", "second"}) d.register_experiment(experiment, "", std::vector{c});
    for (int n = 0; n < 3; ++n) add(d, "first", "a" + std::to_string(n), c, n, 3, n);
    for (int n = 1; n < 5; ++n) add(d, "second", "b" + std::to_string(n), c, n, 1, 20 + n);
    const auto first = read_comparison(path, "first"), second = read_comparison(path, "second");
    // 0 to 2 are its own, though the other's 1 and 2 are newer; 3 and 4 are the other's.
    CHECK(first.trials == 5);
    CHECK(first.borrowed == 2);
    CHECK(first.lenders == std::vector<std::string>{"second"});
    CHECK(first.cells[0].epoch_s->median == 3);
    CHECK(second.borrowed == 1);
    CHECK(second.cells[0].epoch_s->trials == 5);
    CHECK(second.cells[0].epoch_s->median == 1);
    // compare takes the same trials, so its medians are the table's.
    const CellRecord other = samples::cell("serial", 1);
    d.register_experiment("third", "", std::vector{other});
    for (int n = 0; n < 5; ++n) add(d, "third", "c" + std::to_string(n), other, n, 7);
    const ComparedSides sides = compare_sides(path, "experiment:third", "experiment:second", "", {});
    REQUIRE(sides.cells.size() == 1);
    CHECK(sides.cells[0].trials_b == 5);
    CHECK(sides.cells[0].verdict.b_s == second.cells[0].epoch_s->median);
    CHECK(sides.borrowed_a == 0);
    CHECK(sides.borrowed_b == 1);
}

TEST_CASE("a verification serves the build that was verified, and no later one") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    CellRecord c = samples::cell("mg-gcn", 2);
    c.verification_key = "built-first";
    c.code = {{"scheme", "11"}};
    d.register_experiment("sample", "", std::vector{c});
    add(d, "sample", "m0", c, 0, 2);
    const auto verify = [&](const std::string& uuid, const CellRecord& cell) {
        json begin = samples::trial(uuid, cell);
        begin["purpose"] = "verify";
        d.apply(std::vector<json>{
            begin, {{"type", "verification"}, {"trial", uuid}, {"status", "verified"}}, samples::outcome(uuid)});
    };
    const auto status = [&] { return read_comparison(path, "sample").cells[0].verification; };
    CHECK(status().reason == "not tried yet");
    verify("v0", c);
    CHECK(status().status == VerificationStatus::verified);
    CHECK(d.trials_of(c.digest, machine_fingerprint(samples::machine))[0].code == R"({"scheme":"11"})");

    CellRecord rebuilt = c;
    rebuilt.verification_key = "built-again";
    rebuilt.code = {{"scheme", "22"}};
    d.register_experiment("sample", "", std::vector{rebuilt});
    CHECK(status().status == VerificationStatus::unverified);
    CHECK_THAT(status().reason, Catch::Contains("not since its code was built anew"));
    CHECK(read_verifications(path, "sample")[0].found.status == VerificationStatus::unverified);
    CHECK(read_comparison(path, "sample").cells[0].of_other_builds == 1);
    CHECK(read_comparison(path, "sample").cells[0].epoch_s->median == 2);
    // A journal of the first build that is replayed now verifies that one.
    verify("v0-late", c);
    CHECK(status().status == VerificationStatus::unverified);
    verify("v1", rebuilt);
    CHECK(status().status == VerificationStatus::verified);

    // What an unverified build measured stays so, whoever was verified since.
    CellRecord third = rebuilt;
    third.verification_key = "built-a-third-time";
    add(d, "sample", "m1", third, 1, 2);
    CHECK(status().status == VerificationStatus::unverified);
    CHECK_THAT(status().reason, Catch::Contains("1 of 2 trials were measured by another build"));
}

TEST_CASE("a rerun that was not finished is known until it is") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    const CellRecord c = samples::cell("mg-gcn", 2);
    const std::string here = machine_fingerprint(samples::machine);
    {
        Database d(path);
        d.register_experiment("sample", "", std::vector{c});
        for (int n = 0; n < 3; ++n) add(d, "sample", "a" + std::to_string(n), c, n, 3, n);
        CHECK(d.trials_of(c.digest, here)[0].rerun_asked.empty());
        d.request_rerun(std::vector<std::string>{"a0", "a1", "a2"});
        add(d, "sample", "b0", c, 0, 2, 10);
        add(d, "sample", "b1", c, 1, 2, 11, "interrupted");
    }
    Database d(path);
    const auto pending = [&] {
        std::vector<int> numbers;
        for (const TrialState& s : d.trials_of(c.digest, here))
            if (!s.rerun_asked.empty()) numbers.push_back(s.number);
        return numbers;
    };
    CHECK(pending() == std::vector<int>{1, 2});
    CHECK(d.all_trials(here).at(c.digest).at(2).rerun_asked.size() == 24);
    CHECK(read_comparison(path, "sample").awaiting_rerun == 2);
    add(d, "sample", "b1-again", c, 1, 2, 12);
    CHECK(pending() == std::vector<int>{2});
    d.request_rerun(std::vector<std::string>{"b0"});  // one more, while the other is still to be done
    CHECK(pending() == std::vector<int>{0, 2});
    CHECK(d.forget_reruns(c.digest, here) == 2);
    CHECK(pending().empty());
    CHECK(read_comparison(path, "sample").awaiting_rerun == 0);
}

TEST_CASE("a machine that was busy as trials began is told") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const CellRecord c = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector{c});
    add(d, "sample", "a0", c, 0, 3, 0, "ok", 4.0);  // of four cores, as trials before it leave them
    CHECK(read_comparison(path, "sample").noisy == 0);
    add(d, "sample", "a1", c, 1, 3, 1, "ok", 12.5);
    CHECK(read_comparison(path, "sample").noisy == 1);
    CHECK(read_comparison(path, "sample").highest_load == 12.5);
}

TEST_CASE("what cannot run is skipped, not unverified") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const CellRecord cannot = samples::cell("serial", 2), never = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector{cannot, never});
    d.apply(std::vector<json>{samples::trial("s", cannot),
                              samples::outcome("s", "skipped", "serial runs on one device; 2 given")});
    const auto rows = read_verifications(path, "sample");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].found.status == VerificationStatus::skipped);
    CHECK(rows[0].found.reason == "serial runs on one device; 2 given");
    CHECK(rows[1].found.status == VerificationStatus::unverified);
}

TEST_CASE("a program's cell tells the digest of its files") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    CellRecord program = samples::cell("dgl", 1), bare = samples::cell("true", 1),
               plugin = samples::cell("serial", 1);
    program.identity["scheme"] = {
        {"name", "dgl"}, {"label", "dgl"}, {"command", {"python3", "./gcn.py"}}, {"version", "00c0ffee00c0ffee"}};
    bare.identity["scheme"] = {{"name", "true"}, {"label", "true"}, {"command", {"true"}}, {"version", ""}};
    d.register_experiment("sample", "", std::vector{program, bare, plugin});
    const ComparisonData data = read_comparison(path, "sample");
    CHECK(data.cells[0].program == "00c0ffee00c0ffee");
    CHECK(data.cells[1].program == "no files");
    CHECK(data.cells[2].program.empty());
}

namespace {

/// A cell of a generated graph of so many vertices.
CellRecord sized(CellRecord c, std::int64_t vertices, const std::string& seed = "1") {
    const std::string name = "web-" + std::to_string(vertices);
    c.digest += "-" + name + "-" + seed;
    c.identity["dataset"] = {
        {"name", name},
        {"digest", name + seed},
        {"split", 0},
        {"source", {{"generate", "dcsbm"}, {"name", name}, {"vertices", vertices}, {"seed", seed}}}};
    return c;
}

const ComparisonCell& cell_of(const ComparisonData& data, const std::string& scheme, int gpus) {
    for (const ComparisonCell& c : data.cells)
        if (c.scheme == scheme && c.gpus == gpus) return c;
    FAIL("no cell of " << scheme << " on " << gpus);
    return data.cells.front();
}

}  // namespace

TEST_CASE("an experiment's declared scaling is kept, and gone when it is declared no longer") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const std::vector<CellRecord> cells{samples::cell("x", 1), samples::cell("x", 2)};
    for (const ScalingAxis& axis : {ScalingAxis{ScalingAxis::Kind::strong},
                                    ScalingAxis{ScalingAxis::Kind::weak, "vertices"}, ScalingAxis{}}) {
        d.register_experiment("sample", "", cells, axis);
        CHECK(read_comparison(path, "sample").scaling == axis);
        CHECK(scaling_axis(to_text(axis)) == axis);
    }
    CHECK(scaling_axis("of another version") == ScalingAxis{});
}

TEST_CASE("strong efficiency is speed-up over the GPUs' multiple, where scaling is declared") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const CellRecord two = samples::cell("x", 2), eight = samples::cell("x", 8);
    add(d, "sample", "a", two, 0, 4);
    add(d, "sample", "b", eight, 0, 2);
    d.register_experiment("sample", "", std::vector{two, eight});
    CHECK_FALSE(cell_of(read_comparison(path, "sample"), "x", 8).efficiency);
    d.register_experiment("sample", "", std::vector{two, eight}, {ScalingAxis::Kind::strong});
    ComparisonData data = read_comparison(path, "sample");
    CHECK(cell_of(data, "x", 2).efficiency == 1);
    CHECK(cell_of(data, "x", 8).efficiency == Approx(0.5));  // twice as fast on four times the GPUs
    const CellRecord serial = one_part("serial");
    add(d, "sample", "s", serial, 0, 6);
    d.register_experiment("sample", "", std::vector{two, eight, serial}, {ScalingAxis::Kind::strong});
    data = read_comparison(path, "sample");
    CHECK(cell_of(data, "x", 2).efficiency == Approx(0.75));
    CHECK(cell_of(data, "x", 8).efficiency == Approx(6.0 / 2 / 8));
}

TEST_CASE("weak efficiency is the base's time over the cell's, in one series of datasets") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const ScalingAxis weak{ScalingAxis::Kind::weak, "vertices"};
    const CellRecord one = sized(one_part("x"), 100), two = sized(samples::cell("x", 2), 200),
                     metis = sized(samples::cell("x", 2, "metis"), 200), four = sized(samples::cell("y", 4), 400),
                     odd = sized(samples::cell("x", 4), 100);
    add(d, "sample", "a", one, 0, 2);
    add(d, "sample", "b", two, 0, 2.5);
    add(d, "sample", "c", metis, 0, 2);
    add(d, "sample", "e", four, 0, 8);
    add(d, "sample", "o", odd, 0, 1);
    d.register_experiment("sample", "", std::vector{one, two, metis, four, odd}, weak);
    ComparisonData data = read_comparison(path, "sample");
    CHECK(data.cells[0].dataset == "web-100 on 1 gpu, vertices × gpus");
    CHECK(data.cells[1].dataset == data.cells[0].dataset);
    CHECK(data.cells[3].dataset == data.cells[0].dataset);
    CHECK(data.cells[4].dataset == "web-100 on 4 gpus, vertices × gpus");  // 25 on each: another series
    CHECK(data.cells[0].efficiency == 1);
    CHECK(data.cells[1].efficiency == Approx(0.8));
    CHECK(data.cells[2].efficiency == Approx(1));  // one GPU has no partition, and begins each partitioner's line
    CHECK(data.cells[3].efficiency == 1);          // y's fewest GPUs
    CHECK(data.cells[4].efficiency == 1);
    for (const ComparisonCell& c : data.cells) CHECK_FALSE(c.speed_up);
    CHECK(data.other_keys.empty());
    const CellRecord serial = sized(one_part("serial"), 100);
    add(d, "sample", "s", serial, 0, 4);
    d.register_experiment("sample", "", std::vector{one, two, metis, four, odd, serial}, weak);
    data = read_comparison(path, "sample");
    CHECK(data.cells[1].efficiency == Approx(4 / 2.5));
    CHECK(data.cells[3].efficiency == Approx(0.5));
    CHECK(data.cells[4].efficiency == 1);  // of a series without serial
}
