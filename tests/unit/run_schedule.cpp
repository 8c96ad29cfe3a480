#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "launch/machine.hpp"
#include "run/pending_verifications.hpp"
#include "run/prepare.hpp"
#include "run/schedule.hpp"

using namespace gnnbench;

TEST_CASE("nothing missing is nothing to run") {
    CHECK(in_random_blocks({}, 0).empty());
    CHECK(in_random_blocks({{}, {}}, 0).empty());
}

TEST_CASE("blocks follow one another; each holds every cell that lacks its trial, once") {
    const std::vector<std::vector<std::int64_t>> missing = {{0, 1, 2}, {1}, {0, 2}, {}};
    const std::vector<ScheduledTrial> order = in_random_blocks(missing, 7);
    REQUIRE(order.size() == 6);
    CHECK(std::is_sorted(order.begin(), order.end(), [](auto a, auto b) { return a.index < b.index; }));
    const std::set<ScheduledTrial> all(order.begin(), order.end());
    CHECK(all == std::set<ScheduledTrial>{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {2, 0}, {2, 2}});
}

TEST_CASE("the order is the seed's: the same again, another for another seed, and another in every block") {
    const std::vector<std::vector<std::int64_t>> missing(20, {0, 1});
    const std::vector<ScheduledTrial> order = in_random_blocks(missing, 1);
    CHECK(order == in_random_blocks(missing, 1));
    CHECK(order != in_random_blocks(missing, 2));
    std::vector<std::size_t> first, second;
    for (const ScheduledTrial& trial : order) (trial.index == 0 ? first : second).push_back(trial.cell);
    CHECK(first != second);
    CHECK_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST_CASE("a combination is verified once, and its trials wait meanwhile") {
    PreparedCell first, same, other;
    first.record.verification_key = same.record.verification_key = "k1";
    other.record.verification_key = "k2";
    PendingVerifications pending;
    pending.add(first, false);
    pending.add(same, false);
    pending.add(other, true);
    CHECK_FALSE(pending.running("k1"));
    CHECK(pending.take("k1"));
    CHECK(pending.position() == "[verify 1/2]");
    CHECK(pending.running("k1"));
    CHECK_FALSE(pending.take("k1"));
    CHECK_FALSE(pending.take("verified long ago"));
    CHECK(pending.combination("k1").cell == &first);
    // Another process verifies it: it is asked for again.
    pending.reopen("k1");
    CHECK_FALSE(pending.running("k1"));
    CHECK(pending.take("k1"));
    pending.finished("k1");
    CHECK_FALSE(pending.running("k1"));
    CHECK_FALSE(pending.take("k1"));
    // What no trial was due of is left for the end.
    CHECK(pending.left() == "k2");
    CHECK(pending.take("k2"));
    CHECK(pending.position() == "[verify 2/2]");
    pending.finished("k2");
    CHECK(pending.left().empty());
}

namespace {
TrialState state(int number, const char* status, const std::string& code = "",
                 const std::string& rerun_asked = "") {
    return {.number = number,
            .trial = "uuid",
            .status = trial_status(status),
            .reason = "",
            .build = build_info().digest,
            .code = code,
            .conclusive = 1,
            .rerun_asked = rerun_asked};
}
}  // namespace

TEST_CASE("a trial is due unless it ended; failures stay until asked for") {
    const std::vector<TrialState> states = {state(0, "ok"), state(1, "crashed"), state(2, "interrupted"),
                                            state(3, "skipped"), state(7, "ok")};
    const DueTrials missing = due_trials(states, 5, {});
    CHECK(missing.due == std::vector<std::int64_t>{2, 3, 4});
    CHECK(missing.stored.ok == 1);  // number 7 is beyond what the experiment asks for
    CHECK(missing.stored.failed == 1);
    CHECK(missing.stored.endings == std::map<TrialStatus, std::int64_t>{{TrialStatus::crashed, 1}});
    CHECK(due_trials(states, 5, {.again = Again::failed}).due == std::vector<std::int64_t>{1, 2, 3, 4});
    CHECK(due_trials(states, 5, {.again = Again::all}).due == std::vector<std::int64_t>{0, 1, 2, 3, 4});
    CHECK(due_trials({}, 2, {}).due == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("trials that other code measured are stale, the program's own build or a plugin's") {
    const nlohmann::json now = {{"scheme", "22"}};
    std::vector<TrialState> states = {state(0, "ok", now.dump()), state(1, "ok", R"({"scheme":"11"})"),
                                      state(2, "ok")};
    CHECK(due_trials(states, 3, {}, now).due.empty());
    CHECK(due_trials(states, 3, {}, now).stored.stale == 1);  // an older gnnbench kept no digests of plugins
    CHECK(due_trials(states, 3, {.stale = true}, now).due == std::vector<std::int64_t>{1});
    states[2].build = "older";
    CHECK(due_trials(states, 3, {.stale = true}, now).due == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("what an unfinished rerun asked for is due") {
    const std::vector<TrialState> states = {state(0, "ok"), state(1, "ok", "", "2026-01-01T00:00:00.000Z"),
                                            state(2, "failed", "", "2026-01-01T00:00:00.000Z")};
    const DueTrials trials = due_trials(states, 3, {});
    CHECK(trials.due == std::vector<std::int64_t>{1, 2});
    CHECK(trials.stored.ok == 1);
    CHECK(trials.stored.failed == 0);
    CHECK(trials.stored.rerun == 2);
}
