#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "record/database.hpp"
#include "record/query.hpp"
#include "record/schema.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

/// A trial with a verification line of its own.
void add(Database& d, const std::string& uuid, const CellRecord& cell, const char* purpose, const char* status,
         const json& checks = json::object(), const std::string& reason = "") {
    json begin = samples::trial(uuid, cell);
    begin["purpose"] = purpose;
    d.apply(std::vector<json>{
        begin,
        {{"type", "verification"},
         {"trial", uuid},
         {"status", status},
         {"reason", status == std::string("failed") ? "after 10 epochs: late-step: off" : reason},
         {"checks", checks}},
        samples::outcome(uuid)});
}

}  // namespace

TEST_CASE("what a step after a measured trial found counts for its combination, until a later one is right") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("mg-gcn", 2);
    const auto status = [&] { return d.verification(c.verification_key)->status; };
    const auto in_view = [&] {
        auto q = d.connection().prepare("SELECT verification FROM cells", "read the view");
        q.step();
        return q.text(0);
    };
    CHECK(d.late_step_due(c.verification_key));
    add(d, "v0", c, "verify", "verified");
    CHECK(status() == VerificationStatus::verified);
    CHECK(d.late_step_due(c.verification_key));

    add(d, "m0", c, "measure", "failed");
    CHECK(status() == VerificationStatus::failed);
    CHECK(d.verification(c.verification_key)->reason == "after 10 epochs: late-step: off");
    CHECK(d.verification(c.verification_key)->trial == "m0");
    CHECK(d.late_step_due(c.verification_key));
    add(d, "v1", c, "verify", "verified");  // the same early epochs again say nothing about late ones
    CHECK(status() == VerificationStatus::failed);

    add(d, "m2", c, "measure", "unverified");  // one that was cut short neither
    CHECK(status() == VerificationStatus::failed);
    CHECK(in_view() == "failed");

    const auto unverified = [&](const std::string& where = "") {
        return query(folder / "r.sqlite", named_query("unverified").sql, {}, 0, where).rows;
    };
    for (const char* where : {"", "gpus = 2"}) {
        REQUIRE(unverified(where).size() == 1);
        CHECK(unverified(where)[0].back() == SqlValue(std::string("after 10 epochs: late-step: off")));
    }

    add(d, "m1", c, "measure", "verified");
    add(d, "m3", c, "measure", "unverified");  // cut short
    CHECK(unverified().empty());
    CHECK(in_view() == "verified");
    CHECK(status() == VerificationStatus::verified);
    CHECK_FALSE(d.late_step_due(c.verification_key));
    CHECK(d.late_step_due("another key"));
}

TEST_CASE("the reason of an unverified cell is its verification's, whatever a late step was cut short by") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("mg-gcn", 2);
    CellRecord other = c;  // which the same verification serves
    other.digest += "-other-seed";
    other.identity["seed"] = 8;
    add(d, "v0", other, "verify", "unverified", json::object(), "no reference");
    add(d, "m0", c, "measure", "unverified", json::object(), "cut short");
    for (const char* where : {"", "seed = 7"}) {
        const auto rows = query(folder / "r.sqlite", named_query("unverified").sql, {}, 0, where).rows;
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].back() == SqlValue(std::string("no reference")));
    }
}

TEST_CASE("a late step alone verifies nothing") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("mg-gcn", 2);
    add(d, "m0", c, "measure", "verified");
    CHECK_FALSE(d.verification(c.verification_key));
    add(d, "v0", c, "verify", "failed");
    CHECK(d.verification(c.verification_key)->status == VerificationStatus::failed);
}

TEST_CASE("a partitioner is asked twice once for each build of it") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    CellRecord c = samples::cell("mg-gcn", 2);
    c.code = {{"partitioner", "11"}};
    CHECK_FALSE(partitioner_was_asked(d.connection(), "11"));
    add(d, "v0", c, "verify", "verified", {{"checks", {{"spmm", {{"calls", 1}}}}}});
    CHECK_FALSE(partitioner_was_asked(d.connection(), "11"));
    add(d, "v1", c, "verify", "verified", {{"checks", {{"partitioner", {{"calls", 1}}}}}});
    CHECK(partitioner_was_asked(d.connection(), "11"));
    CHECK_FALSE(partitioner_was_asked(d.connection(), "22"));
    CHECK_FALSE(partitioner_was_asked(d.connection(), ""));
}
