#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/comparison.hpp"
#include "record/database.hpp"
#include "record/measurements.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::rows;

TEST_CASE("a database or experiment that is not there has no cells") {
    samples::Folder folder;
    const std::vector<std::string> names{"a", "b"};
    CHECK(read_measured(folder / "no.sqlite", names).cells.empty());
    CHECK(newest_of(folder / "no.sqlite", names).empty());
    Database d(folder / "r.sqlite");
    CHECK(read_measured(folder / "r.sqlite", names).cells.empty());
    CHECK(newest_of(folder / "r.sqlite", names).empty());
}

TEST_CASE("cells of several experiments, on the machine of the newest trial") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto here = samples::cell("mg-gcn", 2), there = samples::cell("serial", 1);
    d.register_experiment("sample", "", std::vector<CellRecord>{here});
    d.register_experiment("second", "", std::vector<CellRecord>{there});
    auto elsewhere = samples::whole_trial("far", there);
    elsewhere[0]["machine"] = {{"cpu", "Other"}};
    elsewhere[0]["experiment"] = "second";
    d.apply(elsewhere);
    d.apply(samples::whole_trial("m0", here));
    const std::vector<std::string> names{"second", "sample", "third"};
    const MeasuredCells m = read_measured(path, names);
    CHECK(newest_of(path, names) == "sample");
    CHECK(m.machine == "Sample CPU, 4 cores");
    CHECK(m.experiments == std::vector<std::string>{"second", "sample"});
    REQUIRE(m.cells.size() == 2);
    CHECK_FALSE(m.cells[0].status);  // its trial is another machine's
    CHECK(field_text(m.cells[1].fields, "scheme") == "mg-gcn");
    CHECK(field_text(m.cells[1].fields, "gpus") == "2");
    CHECK(field_text(m.cells[1].fields, "model.hidden") == "64");
    REQUIRE(m.cells[1].ok_trials.size() == 1);
}

TEST_CASE("a cell that several experiments share is taken once") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const std::vector<CellRecord> shared{samples::cell("serial", 1)};
    d.register_experiment("sample", "", shared);
    d.register_experiment("second", "", shared);
    d.apply(samples::whole_trial("m0", shared[0]));
    CHECK(read_measured(path, std::vector<std::string>{"sample", "second"}).cells.size() == 1);
}

TEST_CASE("bytes of messages between two ranks are told from those of collectives") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("demirci-p2p", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    auto lines = samples::whole_trial("m0", cell);
    for (auto& line : lines)
        if (line.at("type") == "epoch") {
            auto messages = samples::volume_row(40, 0, 1);
            messages["operation"] = "point-to-point";
            line.at("ranks").at(0).at("volume").push_back(messages);
        }
    d.apply(lines);
    const auto trial = read_measured(path, std::vector<std::string>{"sample"}).cells.at(0).ok_trials.at(0);
    const MetricReader reader(path);
    CHECK(reader.read(trial, "mean_point_to_point_bytes") == 20);
    CHECK(reader.read(trial, "mean_sent_bytes") == 70);
}

TEST_CASE("metrics of a trial, worked out by hand") {
    // Measured epochs of the two ranks: 1 and 2 s, 3 and 1 s, 7 and 6 s; half of it spmm, a quarter each comm and
    // other.
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    d.apply(samples::whole_trial("m0", cell));
    const auto trial = read_measured(path, std::vector<std::string>{"sample"}).cells.at(0).ok_trials.at(0);
    const MetricReader reader(path);
    CHECK(reader.read(trial, "epoch_s") == 3);
    CHECK(reader.read(trial, "training_s") == 12);
    CHECK(*reader.read(trial, "spmm_s") == Approx(10.0 / 6));
    CHECK(*reader.read(trial, "communication_s") == Approx(5.0 / 6));
    CHECK(*reader.read(trial, "computation_s") == Approx(15.0 / 6));
    CHECK(*reader.read(trial, "spmm_share") == Approx(0.5));
    CHECK(reader.read(trial, "gemm_s") == 0);
    CHECK(reader.read(trial, "sent_bytes_per_epoch") == 100);
    CHECK(reader.read(trial, "mean_sent_bytes") == 50);
    CHECK(reader.read(trial, "mean_point_to_point_bytes") == 0);  // it was a broadcast
    CHECK(reader.read(trial, "max_sent_bytes") == 100);
    CHECK(reader.read(trial, "mean_messages") == 1);
    CHECK(reader.read(trial, "max_messages") == 1);
    CHECK(reader.read(trial, "average_degree") == 2);
    CHECK(reader.read(trial, "peak_memory_bytes") == 1007);  // not warm-up's 1060
    CHECK(reader.read(trial, "validation_accuracy") == std::nullopt);
    CHECK(reader.read(trial + 1, "epoch_s") == std::nullopt);
    CHECK_THROWS_AS(reader.read(trial, "nonsense"), LogicError);
    CHECK(traced_among(path, std::vector<std::int64_t>{trial}).empty());
}

TEST_CASE("a worker without a batch in an epoch counts in its phases with 0") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("gossip-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    d.apply(samples::whole_trial("m0", cell));
    d.connection().execute("DELETE FROM rank_epoch WHERE epoch = 2 AND rank = 1", "as if it had taken none");
    const auto trial = read_measured(path, std::vector<std::string>{"sample"}).cells.at(0).ok_trials.at(0);
    CHECK(*MetricReader(path).read(trial, "spmm_s") == Approx((1 + 2 + 3 + 7 + 6) / 2.0 / 6));
}

TEST_CASE("by how much a volume differs is said where one statement holds for every epoch") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("minibatch-p2p", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    auto trial = samples::whole_trial("m0", cell);
    SECTION("none: each epoch has its own") {
        for (json& line : trial) {
            if (line.at("type") == "setup") line.erase("stated");
            if (line.at("type") == "epoch") line["as_stated"] = false;
        }
        REQUIRE(d.apply(trial).problems.empty());
        const ComparisonCell found = read_comparison(path, "sample").cells.at(0);
        CHECK(found.volume_differs);
        CHECK(found.volume_difference.empty());
    }
    SECTION("ranks differ, and their sum does not") {
        for (json& line : trial)
            if (line.at("type") == "setup")
                line["stated"] = {{samples::volume_row(0, 100, 1)}, {samples::volume_row(100, 0, 1)}};
        REQUIRE(d.apply(trial).problems.empty());
        const ComparisonCell found = read_comparison(path, "sample").cells.at(0);
        CHECK(found.volume_differs);
        CHECK(found.volume_difference.starts_with("all ranks together sent as many bytes as stated"));
    }
}

TEST_CASE("a cell that was ever skipped for a reason is known, whatever was measured before or since") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const auto cell = samples::cell("mg-gcn", 2);
    d.apply(std::vector<json>{samples::trial("s0", cell), samples::outcome("s0", "skipped", "too large")});
    d.apply(samples::whole_trial("m0", cell));
    const std::string machine = machine_fingerprint(samples::machine);
    CHECK(d.was_skipped(cell.digest, machine, "too large"));
    CHECK_FALSE(d.was_skipped(cell.digest, machine, "too slow"));
    CHECK_FALSE(d.was_skipped(cell.digest, "another", "too large"));
}

TEST_CASE("energy is of the measured epochs, and absent where hosts or devices are not known") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    const json root = {{"reason", "readable by root only"}}, none = {{"reason", "no device"}};
    const auto add = [&](const char* uuid, int number, const json& energy) {
        auto lines = samples::whole_trial(uuid, cell, number);
        for (auto& line : lines) {
            if (line.at("type") == "end") line["energy"] = energy;
            if (line.at("type") == "epoch" && line.at("epoch") == 2) line["energy"] = {{"host_j", 4.5}};
        }
        REQUIRE(d.apply(lines).problems.empty());
    };
    add("cpu", 0, {{"joules", 60.0}, {"host", {{"joules", 60.0}}}, {"device", none}});
    add("gpu", 1, {{"joules", 90.0}, {"host", {{"joules", 60.0}}}, {"device", {{"joules", 30.0}}}});
    add("root", 2, {{"host", root}, {"device", {{"joules", 30.0}}}});
    const auto cells = read_measured(path, std::vector<std::string>{"sample"}).cells;
    const auto trials = cells.at(0).ok_trials;
    REQUIRE(trials.size() == 3);
    CHECK(cells.at(0).energy_j_per_epoch == 25);  // the median of 20 and 30
    const MetricReader reader(path);
    CHECK(reader.read(trials[0], "energy_j_per_epoch") == 20);  // of three epochs
    CHECK(reader.read(trials[0], "host_energy_j_per_epoch") == 20);
    CHECK(reader.read(trials[0], "device_energy_j_per_epoch") == std::nullopt);
    CHECK(reader.read(trials[1], "energy_j_per_epoch") == 30);
    CHECK(reader.read(trials[1], "device_energy_j_per_epoch") == 10);
    CHECK(reader.read(trials[2], "energy_j_per_epoch") == std::nullopt);
    CHECK(reader.read(trials[2], "device_energy_j_per_epoch") == 10);
    CHECK(rows(path, "SELECT host_energy_reason, device_energy_reason FROM trials WHERE trial = 'root'") ==
          json::array({json::array({"readable by root only", ""})}));
    CHECK(rows(path,
               "SELECT epoch, host_energy_j, host_energy_reason, device_energy_reason FROM energy WHERE trial = "
               "'cpu' AND NOT warmup ORDER BY epoch") ==
          json{{1, nullptr, "too short, or without a pause before or after it", "no device"},
               {2, 4.5, "", "no device"},
               {3, nullptr, "too short, or without a pause before or after it", "no device"}});
}

TEST_CASE(
    "product_s is the largest product of a traced epoch, from its first rank's begin to its last one's end") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    d.apply(samples::whole_trial("untraced", cell, 0));
    d.apply(samples::whole_trial("traced", cell, 1));
    const auto span = [](const char* phase, double begin_s, double end_s, int bytes) {
        return json{{"stream", bytes > 0 ? "communication" : "compute"},
                    {"phase", phase},
                    {"operation", phase},
                    {"begin_s", begin_s},
                    {"end_s", end_s},
                    {"bytes", bytes},
                    {"group_size", bytes > 0 ? 2 : 0}};
    };
    // A product of 10 bytes in 0.5 s, a GEMM, one of 100 bytes: 2 to 3 s on rank 0, 2.25 to 4.5 s on rank 1.
    const json rank0 = {span("comm", 0, 0.25, 10), span("spmm", 0.25, 0.5, 0), span("gemm", 1, 2, 0),
                        span("comm", 2, 2.5, 100), span("spmm", 2.5, 3, 0)};
    const json rank1 = {span("comm", 0, 0.25, 10), span("spmm", 0.25, 0.5, 0), span("gemm", 1, 2, 0),
                        span("comm", 2.25, 2.5, 100), span("spmm", 2.5, 4.5, 0)};
    const ApplyResult applied = d.apply(std::vector<json>{
        {{"type", "spans"}, {"trial", "traced"}, {"epoch", 3}, {"ranks", json::array({rank0, rank1})}}});
    REQUIRE(applied.problems.empty());
    const auto trials = read_measured(path, std::vector<std::string>{"sample"}).cells.at(0).ok_trials;
    REQUIRE(trials.size() == 2);
    const MetricReader reader(path);
    CHECK(reader.read(trials[0], "product_s") == std::nullopt);
    CHECK(*reader.read(trials[1], "product_s") == Approx(2.5));
}
