// The newest trial is the one recorded last, whatever the clocks said; what was imported comes before what was measured here.
#include <catch2/catch.hpp>

#include "record/comparison.hpp"
#include "record/measurements.hpp"
#include "record/merge.hpp"
#include "record/origin.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::rows;

namespace {

const CellRecord one = samples::cell("mg-gcn", 2);
const std::string here = machine_fingerprint(samples::machine);

/// A trial that took `epoch_s` and began when a clock said `started`.
void add(Database& d, const std::string& uuid, double epoch_s, const std::string& started,
         json machine = samples::machine, const std::string& file = "a.yaml") {
    auto lines = samples::whole_trial(uuid, one);
    lines[0]["started"] = started;
    lines[0]["machine"] = std::move(machine);
    lines[0]["provenance"]["source"] = {{"file", file}, {"profile", ""}, {"overrides", json::array()}};
    for (json& line : lines)
        if (line.at("type") == "epoch")
            for (json& rank : line.at("ranks")) rank["wall_s"] = epoch_s;
    d.apply(lines);
}

void add_verification(Database& d, const std::string& uuid, const std::string& status,
                      const std::string& started) {
    json begin = samples::trial(uuid, one, 0, started);
    begin["purpose"] = "verify";
    const json found{{"type", "verification"}, {"trial", uuid},          {"status", status},    {"reason", ""},
                     {"loss_error", 1e-7},     {"gradient_error", 2e-6}, {"volume_equal", true}};
    d.apply(std::vector<json>{begin, found, samples::outcome(uuid)});
}

constexpr const char* early = "2026-01-01T00:00:00.000Z";
constexpr const char* late = "2026-01-02T00:00:00.000Z";

struct WithOne {
    samples::Folder folder;
    std::filesystem::path path = folder / "r.sqlite";
    Database d{path};
    WithOne() { d.register_experiment("sample", "", std::vector<CellRecord>{one}); }
    std::string counted() const {
        return rows(path, "SELECT t.uuid FROM counted_trials k JOIN trial t ON t.id = k.trial_id")[0][0];
    }
};

}  // namespace

TEST_CASE("with the clock set back, what is measured again counts, and is not due once more") {
    WithOne db;
    add(db.d, "first", 1, late);
    db.d.request_rerun(std::vector<std::string>{"first"});
    CHECK_FALSE(db.d.trials_of(one.digest, here).at(0).rerun_asked.empty());
    add(db.d, "again", 2, early, samples::machine, "b.yaml");

    const auto state = db.d.trials_of(one.digest, here).at(0);
    CHECK(state.trial == "again");
    CHECK(state.rerun_asked.empty());
    CHECK(db.d.all_trials(here).at(one.digest).at(0).trial == "again");
    CHECK(db.counted() == "again");
    CHECK(rows(db.path, "SELECT trial FROM latest") == json{{"again"}});
    CHECK(read_comparison(db.path, "sample").cells.at(0).epoch_s->median == 2);
    CHECK(read_origin(db.path, "sample").command.file == "b.yaml");
    for (const char* name : {"recent", "experiments"}) {
        CAPTURE(name);
        const SqlRow newest = query(db.path, named_query(name).sql).rows.at(0);
        CHECK(newest.back() == SqlValue(std::string(early)));
    }
}

TEST_CASE("with the clock set back, the verification recorded last says how far a cell is verified") {
    WithOne db;
    add_verification(db.d, "v1", "failed", late);
    add_verification(db.d, "v2", "verified", early);
    CHECK(db.d.verification(one.verification_key)->trial == "v2");
    CHECK(rows(db.path, "SELECT verification FROM cells") == json{{"verified"}});
    CHECK(query(db.path, named_query("unverified").sql).rows.empty());
}

TEST_CASE("with the clock set back, tables are of the machine that measured last") {
    WithOne db;
    add(db.d, "there", 1, late, {{"cpu", "Other"}});
    add(db.d, "here", 2, early);
    CHECK(read_comparison(db.path, "sample").machine == "Sample CPU, 4 cores");
    const std::vector<std::string> names{"sample"};
    CHECK(read_measured(db.path, names).machine == "Sample CPU, 4 cores");
}

TEST_CASE("an import replaces nothing that was measured here, whenever that was") {
    WithOne mine, theirs;
    add(mine.d, "mine", 1, early);
    add_verification(mine.d, "my-v", "failed", early);
    add(theirs.d, "theirs", 2, late);
    add_verification(theirs.d, "their-v", "verified", late);
    add(theirs.d, "their-other", 3, late, {{"cpu", "Other"}});
    mine.d.request_rerun(std::vector<std::string>{"mine"});
    import_results(mine.d, theirs.path);

    CHECK(mine.d.trials_of(one.digest, here).at(0).trial == "mine");
    CHECK_FALSE(mine.d.trials_of(one.digest, here).at(0).rerun_asked.empty());
    mine.d.request_rerun(std::vector<std::string>{"mine"});  // forgets those that are done
    CHECK_FALSE(mine.d.trials_of(one.digest, here).at(0).rerun_asked.empty());
    CHECK(mine.counted() == "mine");
    CHECK(rows(mine.path, "SELECT trial FROM latest WHERE cpu = 'Sample CPU'") == json{{"mine"}});
    CHECK(mine.d.verification(one.verification_key)->trial == "my-v");
    CHECK(rows(mine.path, "SELECT verification FROM cells") == json{{"failed"}});
    CHECK(query(mine.path, named_query("unverified").sql).rows.size() == 1);
    CHECK(read_comparison(mine.path, "sample").machine == "Sample CPU, 4 cores");
}

TEST_CASE("where nothing was measured here, the trial imported last counts") {
    WithOne mine, theirs;
    add(theirs.d, "old", 1, late);
    import_results(mine.d, theirs.path);
    CHECK(mine.counted() == "old");
    add(theirs.d, "new", 2, early);
    import_results(mine.d, theirs.path);
    CHECK(mine.counted() == "new");
    CHECK(mine.d.trials_of(one.digest, here).at(0).trial == "new");
    add(mine.d, "own", 3, early);
    CHECK(mine.counted() == "own");
}
