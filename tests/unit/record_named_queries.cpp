// What named queries say of simulated, superseded and tuned trials, and of expected graphs.
#include <catch2/catch.hpp>

#include <map>

#include <fmt/format.h>

#include "record/comparison.hpp"
#include "record/database.hpp"
#include "record/query.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

CellRecord simulated(CellRecord c, const std::string& machine = "perlmutter") {
    c.digest += "-simulated";
    c.identity["kernel"] = {{"name", "simulated"}, {"label", "simulated"}, {"params", {{"machine", machine}}}};
    return c;
}

CellRecord with_hidden(CellRecord c, int hidden) {
    c.digest += fmt::format("-{}", hidden);
    c.identity["model"] = {{"layers", "sage"}, {"widths", {hidden}}};
    return c;
}

/// A trial of one epoch that began under a load average.
void add(Database& d, const std::string& uuid, const std::string& experiment, const CellRecord& c, double epoch_s,
         const std::string& status = "ok", int number = 0, double load = 0) {
    json begin = samples::trial(uuid, c, number);
    begin["experiment"] = experiment;
    begin["provenance"]["load_average"] = {load, load, load};
    std::vector<json> lines{begin, samples::setup(uuid)};
    if (status == "ok") lines.push_back(samples::epoch(uuid, 1, false, epoch_s, epoch_s));
    lines.push_back(samples::outcome(uuid, status));
    REQUIRE(d.apply(lines).problems.empty());
}

/// The rows of a named query, by the names of its columns.
std::vector<std::map<std::string, SqlValue>> asked(const std::filesystem::path& path, const std::string& name) {
    const QueryResult found = query(path, named_query(name).sql);
    std::vector<std::map<std::string, SqlValue>> rows;
    for (const SqlRow& row : found.rows) {
        auto& one = rows.emplace_back();
        for (std::size_t c = 0; c < row.size(); ++c) one[found.columns[c]] = row[c];
    }
    return rows;
}
SqlValue text(const char* t) { return std::string(t); }

struct Results {
    samples::Folder folder;
    std::filesystem::path path = folder / "r.sqlite";
    Database d{path};
    const CellRecord two = samples::cell("mg-gcn", 2), four = samples::cell("mg-gcn", 4);
};

}  // namespace

TEST_CASE("named queries mark simulated rows, give them no processor, and rank them apart from measured ones") {
    Results r;
    const CellRecord predicted = simulated(samples::cell("cagnet-1d", 2));
    r.d.register_experiment("sample", "", std::vector{r.two, predicted});
    add(r.d, "m", "sample", r.two, 2);
    add(r.d, "s", "sample", predicted, 0.001);
    for (const char* name : {"fastest", "scaling", "communication"}) {
        CAPTURE(name);
        const auto rows = asked(r.path, name);
        REQUIRE(rows.size() == 2);
        for (const auto& row : rows) {
            const bool is_predicted = row.at("scheme") == text("cagnet-1d");
            CHECK(row.at("simulated_on") == (is_predicted ? text("perlmutter") : SqlValue()));
            CHECK(row.at("cpu") == (is_predicted ? SqlValue() : text("Sample CPU")));
        }
    }
    CHECK(asked(r.path, "unverified").size() == 1);  // in predictions there is nothing to verify
    CHECK(asked(r.path, "recent").at(0).at("simulated_on") == text("perlmutter"));
}

TEST_CASE("candidates of tune enter no query that compares") {
    Results r;
    const CellRecord candidate = simulated(r.two);
    r.d.register_experiment("sample", "", std::vector{r.two});
    r.d.register_experiment("sample-tune", "", std::vector{candidate});
    add(r.d, "m", "sample", r.two, 2);
    add(r.d, "t", "sample-tune", candidate, 0.001);
    for (const char* name : {"fastest", "scaling", "communication", "partitions"}) {
        CAPTURE(name);
        const auto rows = asked(r.path, name);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].at("cpu") == text("Sample CPU"));
    }
}

TEST_CASE("communication is of trials that count, by experiment and model") {
    Results r;
    const CellRecord wide = with_hidden(r.two, 256);
    r.d.register_experiment("sample", "", std::vector{r.two, wide});
    add(r.d, "old", "sample", r.two, 8);
    add(r.d, "new", "sample", r.two, 2);
    add(r.d, "wide", "sample", wide, 4);
    const auto rows = asked(r.path, "communication");
    REQUIRE(rows.size() == 2);
    for (const auto& row : rows) {
        CHECK(row.at("experiment") == text("sample"));
        CHECK(row.at("trials") == SqlValue(std::int64_t{1}));
        const bool is_wide = row.at("hidden") == text("256");
        CHECK(row.at("model") == text(is_wide ? "sage" : "gcn"));
        CHECK(std::get<double>(row.at("exposed_comm_s")) == (is_wide ? 1 : 0.5));
    }
    CHECK(asked(r.path, "fastest").size() == 2);  // a narrow model does not win over a wide one
}

TEST_CASE("of an expected graph's partition nothing is invented") {
    Results r;
    const CellRecord expected = simulated(r.two);
    r.d.register_experiment("sample", "", std::vector{expected});
    auto lines = samples::whole_trial("e", expected);
    lines[2]["seconds"]["partition"] = nullptr;
    lines[2]["partition"]["nonzero_imbalance"] = nullptr;
    lines[2]["dataset"]["synthetic"] = {"expected graph: volumes are expectations ± 1%"};
    REQUIRE(r.d.apply(lines).problems.empty());
    const auto rows = asked(r.path, "partitions");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].at("edge_cut") == SqlValue(std::int64_t{4}));
    CHECK(rows[0].at("nonzero_imbalance") == SqlValue());
    CHECK(rows[0].at("partition_s") == SqlValue());
    CHECK(rows[0].at("expected") == SqlValue(std::int64_t{1}));
}

TEST_CASE("a machine's load is told of measured times, not of trials without any nor of predicted ones") {
    Results r;
    const CellRecord predicted = simulated(samples::cell("mg-gcn", 1024));
    r.d.register_experiment("sample", "", std::vector{r.two, r.four, predicted});
    const double busy = 40;
    add(r.d, "skipped", "sample", r.four, 0, "skipped", 0, busy);
    add(r.d, "predicted", "sample", predicted, 1, "ok", 0, busy);
    CHECK(read_comparison(r.path, "sample").noisy == 0);
    CHECK(read_comparison(r.path, "sample").timed == 0);
    add(r.d, "m0", "sample", r.two, 2, "ok", 0, busy);
    add(r.d, "m1", "sample", r.two, 2, "ok", 1, 0.5);
    const ComparisonData c = read_comparison(r.path, "sample");
    CHECK(c.noisy == 1);  // though an experiment of 1024 simulated ranks is in one process
    CHECK(c.timed == 2);
    CHECK(c.trials == 4);
    CHECK(c.highest_load == busy);
}

TEST_CASE("a speed-up says what it is over") {
    Results r;
    CellRecord longer = r.four;
    longer.digest += "-longer";
    longer.identity["epochs"] = 7;
    longer.identity["dataset"]["name"] = "other";
    CellRecord base = r.two;
    base.digest += "-other";
    base.identity["dataset"]["name"] = "other";
    r.d.register_experiment("sample", "", std::vector{r.two, r.four, base, longer});
    for (const CellRecord& c : {r.two, r.four, base, longer}) add(r.d, c.digest, "sample", c, 2);
    const ComparisonData found = read_comparison(r.path, "sample");
    const std::string over_two = "mg-gcn, random, on 2 gpus";
    CHECK(found.cells.at(1).speed_up->base == over_two);
    CHECK(found.cells.at(3).speed_up->base == over_two + ", 3 epochs");
}
