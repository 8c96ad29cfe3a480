#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/database.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "record/sqlite.hpp"
#include "record/timeline.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

json span(const char* stream, const char* phase, const char* operation, double begin_s, double end_s,
          std::int64_t bytes = 0, int group_size = 0) {
    return {{"stream", stream}, {"phase", phase}, {"operation", operation},  {"begin_s", begin_s},
            {"end_s", end_s},   {"bytes", bytes}, {"group_size", group_size}};
}

/// Two ranks; rank 0's are not in the order of their beginning.
json spans_line(const std::string& trial, int epoch) {
    return {{"type", "spans"},
            {"trial", trial},
            {"epoch", epoch},
            {"ranks",
             {{span("compute", "spmm", "spmm", 0.5, 1),
               span("communication", "comm", "broadcast", 0.25, 0.75, 100, 2)},
              json::array({span("compute", "gemm", "gemm", 0, 1)})}}};
}

std::vector<json> traced_trial_lines(const std::string& uuid, const CellRecord& cell, std::vector<int> epochs) {
    std::vector<json> lines = samples::whole_trial(uuid, cell);
    for (const int e : epochs) lines.push_back(spans_line(uuid, e));
    return lines;
}

std::int64_t count(const std::filesystem::path& database, const std::string& sql) {
    return std::get<std::int64_t>(query(database, sql).rows.at(0).at(0));
}

}  // namespace

TEST_CASE("a timeline that is not there: the message says what is") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    CHECK_THROWS_WITH(read_timeline(path, "t1", {}), Catch::Contains("no database"));
    Database d(path);
    d.apply(samples::whole_trial("plain", samples::cell("serial", 1)));
    d.apply(traced_trial_lines("traced", samples::cell("mg-gcn", 2), {1, 3}));
    CHECK_THROWS_AS(read_timeline(path, "nothing", {}), SpecError);
    CHECK_THROWS_WITH(read_timeline(path, "nothing", {}), Catch::Contains("no trial 'nothing'"));
    CHECK_THROWS_WITH(read_timeline(path, "", {}), Catch::Contains("no trial ''"));
    CHECK_THROWS_WITH(read_timeline(path, "plain", {}), Catch::Contains("run --trace"));
    CHECK_THROWS_WITH(read_timeline(path, "traced", 2), Catch::Contains("no spans of epoch 2; traced were: 1, 3"));
    CHECK_THROWS_WITH(traced_trial(path, "other"), Catch::Contains("'other'"));

    d.apply(traced_trial_lines("traced-too", samples::cell("mg-gcn", 4), {1}));
    CHECK_THROWS_WITH(read_timeline(path, "trac", {}), Catch::Contains("several trials"));
    CHECK(read_timeline(path, "traced", {}).trial == "traced");
    CHECK(read_timeline(path, "traced-", {}).trial == "traced-too");
}

TEST_CASE("of an experiment's traced trials the median one of the widest cell is shown") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    // The slowest rank's time of the middle epoch, 3 in a whole trial, decides the trial's.
    const auto traced = [&](const std::string& uuid, const CellRecord& cell, int number, double epoch_s) {
        std::vector<json> lines = samples::whole_trial(uuid, cell, number);
        lines[5] = samples::epoch(uuid, 2, false, epoch_s, epoch_s);
        lines[4] = samples::epoch(uuid, 1, false, epoch_s, epoch_s);
        lines.push_back(spans_line(uuid, 1));
        d.apply(lines);
    };
    traced("narrow", samples::cell("mg-gcn", 2), 0, 2);
    CHECK(traced_trial(path, "sample").cells == 1);
    const CellRecord wide = samples::cell("mg-gcn", 4), other = samples::cell("cagnet-1d", 4);
    traced("fast", wide, 0, 3);
    traced("slow", wide, 1, 5);
    CHECK(traced_trial(path, "sample").trial == "fast");  // of two, the lower one
    traced("middle", wide, 2, 4);
    traced("slower-scheme", other, 0, 6);
    const TracedTrial t = traced_trial(path, "sample");
    CHECK(t.trial == "middle");
    CHECK(t.scheme == "mg-gcn");
    CHECK(t.gpus == 4);
    CHECK(t.cells == 3);
    CHECK(t.widest == 2);
    CHECK(t.trials == 3);
    CHECK(t.epoch_s == 4);
    CHECK(traced_trial(path, "sample", "scheme = 'cagnet-1d'").trial == "slower-scheme");
    CHECK(traced_trial(path, "sample", "gpus = 2").trial == "narrow");
    // A trial measured again takes the place of the older one.
    traced("again", wide, 2, 8);
    CHECK(traced_trial(path, "sample").trial == "slow");
    CHECK(traced_trial(path, "sample").trials == 3);
}

TEST_CASE("a timeline is read as it was recorded, by rank and beginning") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    d.apply(traced_trial_lines("older", samples::cell("mg-gcn", 2), {1}));
    auto newer = traced_trial_lines("newer", samples::cell("mg-gcn", 2), {1, 3});
    d.apply(newer);
    CHECK(traced_trial(path, "sample").trial == "newer");
    const Timeline t = read_timeline(path, "newer", {});
    CHECK(t.epoch == 3);
    CHECK(t.wall_s == 7);
    CHECK(t.ranks == 2);
    CHECK(t.scheme == "mg-gcn");
    CHECK(t.machine == "Sample CPU");
    REQUIRE(t.spans.size() == 3);
    CHECK(t.spans[0].operation == "broadcast");
    CHECK(t.spans[0].communicates);
    CHECK(t.spans[0].bytes == 100);
    CHECK(t.spans[0].group_size == 2);
    CHECK(t.spans[1].operation == "spmm");
    CHECK(t.spans[1].begin_s == 0.5);
    CHECK_FALSE(t.spans[1].communicates);
    CHECK(t.spans[2].rank == 1);
    CHECK(read_timeline(path, "newer", 1).epoch == 1);

    d.apply(newer);
    CHECK(count(path, "SELECT count(*) FROM spans WHERE trial = 'newer'") == 6);
    remove_trials(d, std::vector<std::string>{"newer"});
    CHECK(count(path, "SELECT count(*) FROM span") == 3);
}

TEST_CASE("spans that break the contract are named and left out whole") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    d.apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    json no_epoch = spans_line("t1", 9), backwards = spans_line("t1", 1), stream = spans_line("t1", 1);
    backwards["ranks"][1][0]["end_s"] = -1;
    stream["ranks"][1][0]["stream"] = "third";
    CHECK(d.apply(std::vector{no_epoch, backwards, stream}).problems.size() == 3);
    CHECK(count(path, "SELECT count(*) FROM span") == 0);
}
