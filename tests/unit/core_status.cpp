#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "core/status.hpp"

using namespace gnnbench;
using Catch::Contains;

TEST_CASE("every status has the name that journals and the database use") {
    for (int i = 0; i <= static_cast<int>(TrialStatus::interrupted); ++i) {
        const auto status = static_cast<TrialStatus>(i);
        CHECK(trial_status(to_text(status)) == status);
    }
    for (int i = 0; i <= static_cast<int>(VerificationStatus::verified); ++i) {
        const auto status = static_cast<VerificationStatus>(i);
        CHECK(verification_status(to_text(status)) == status);
    }
    CHECK(to_text(TrialStatus::oom) == "oom");
    CHECK(to_text(TrialStatus::interrupted) == "interrupted");
    CHECK(to_text(VerificationStatus::unverified) == "unverified");
}

TEST_CASE("a text that names no status is refused, with those that there are") {
    CHECK_THROWS_WITH(trial_status("okay"), Contains("running, ok, skipped") && Contains("'okay'"));
    CHECK_THROWS_AS(verification_status(""), DataError);
}

TEST_CASE("what ran to an end is conclusive, and some ends may be chance") {
    for (const TrialStatus s : {TrialStatus::running, TrialStatus::interrupted, TrialStatus::skipped})
        CHECK_FALSE(is_conclusive(s));
    for (const TrialStatus s : {TrialStatus::ok, TrialStatus::oom, TrialStatus::diverged}) {
        CHECK(is_conclusive(s));
        CHECK_FALSE(may_be_chance(s));
    }
    for (const TrialStatus s : {TrialStatus::failed, TrialStatus::crashed, TrialStatus::timeout})
        CHECK((is_conclusive(s) && may_be_chance(s)));
}
