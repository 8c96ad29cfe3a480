// `run --tag` names what its own run measured, beside another run of the same experiment.
#include <catch2/catch.hpp>

#include "record/choice.hpp"
#include "record_samples.hpp"
#include "run/progress.hpp"
#include "run/tagging.hpp"

using namespace gnnbench;

TEST_CASE("a tag names the trials that its run measured, not those of another run at the same time") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord cell = samples::cell("mg-gcn", 2);
    const auto record = [&](const std::string& uuid) {
        d.apply(std::vector<nlohmann::json>{samples::trial(uuid, cell), samples::outcome(uuid)});
    };
    record("before");
    const std::string experiment = samples::trial("x", cell).at("experiment");
    RunTag a(d, experiment, "a"), b(d, experiment, "b");
    record("of-a"), record("of-b");
    Progress progress;
    a.name_trials({"before", "of-a"}, progress);
    b.name_trials({"of-b"}, progress);
    const auto tagged = [&](const std::string& tag) {
        auto q = d.connection().prepare(
            "SELECT group_concat(trial) FROM (SELECT trial FROM tags WHERE tag = ? ORDER BY trial)", "read tags");
        q.bind(tag);
        q.step();
        return q.text(0);
    };
    CHECK(tagged("a") == "of-a");
    CHECK(tagged("b") == "of-b");
}
