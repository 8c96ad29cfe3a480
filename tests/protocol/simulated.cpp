// The gossip protocols under the simulated scheduler: no mistake, faults that must be found, seeds that repeat.
#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "protocol/simulation.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

// Of the first `seeds` seeds, how many end with a mistake that contains `text`.
int mistakes(Fault fault, std::string_view text, std::uint64_t seeds = 200) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
        if (simulate(SimulatedRun::from_seed(seed, fault)).mistake.find(text) != std::string::npos) ++found;
    return found;
}

}  // namespace

TEST_CASE("every seed ends, and its counts add up") {
    std::int64_t averagings = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const SimulatedRun run = SimulatedRun::from_seed(seed);
        const SimulationResult result = simulate(run);
        INFO(run.text() << "\nrepeat with: gossip_seeds --trace " << seed);
        REQUIRE(result.mistake == "");
        averagings += result.averagings;
    }
    CHECK(averagings > 5000);
}

TEST_CASE("a seed repeats step by step, and another one differs") {
    const SimulationResult first = simulate(SimulatedRun::from_seed(7));
    const SimulationResult again = simulate(SimulatedRun::from_seed(7));
    CHECK(first.steps == again.steps);
    CHECK(first.digest == again.digest);
    CHECK(first.digest != simulate(SimulatedRun::from_seed(8)).digest);
}

TEST_CASE("swapped locks are found: nobody gets both") {
    CHECK(mistakes(Fault::swapped_locks, "no end after", 40) > 0);
}

TEST_CASE("a lost write of p_x is found: an active worker waits for ever") {
    CHECK(mistakes(Fault::unlocked_p, "nobody can go on") > 0);
}

TEST_CASE("a pool that is not atomic is found: an item is handed out twice") {
    CHECK(mistakes(Fault::split_pool, "was trained 2 times", 50) > 0);
}

TEST_CASE("a partner without a gradient is found") {
    CHECK(mistakes(Fault::available_early, "before its first batch") > 0);
}

TEST_CASE("a partner that was not told is found") { CHECK(mistakes(Fault::lost_partner, "nobody can go on") > 0); }

TEST_CASE("an answer that gets lost is found: its worker waits for ever") {
    CHECK(mistakes(Fault::lost_answer, "no end after", 10) > 0);
}

TEST_CASE("a worker that leaves without a word is found: others wait for it for ever") {
    CHECK(mistakes(Fault::missing_leave, "no end after", 20) > 0);
}

TEST_CASE("partners of a schedule are each other's, and rotating ones meet everybody") {
    for (int workers = 1; workers <= 9; ++workers) {
        const int rounds = workers + workers % 2 - 1;
        for (int worker = 0; worker < workers; ++worker) {
            std::vector<int> met(static_cast<std::size_t>(workers));
            for (std::int64_t round = 1; round <= rounds; ++round)
                for (const auto schedule : {gossip::Schedule::pairs, gossip::Schedule::rotating}) {
                    INFO("worker " << worker << " of " << workers << ", round " << round);
                    const int partner = gossip::scheduled_partner(schedule, workers, worker, round);
                    if (schedule == gossip::Schedule::pairs) {
                        const bool left_over = workers % 2 != 0 && worker == workers - 1;
                        CHECK(partner == (left_over ? -1 : worker ^ 1));
                    }
                    if (partner < 0) continue;
                    REQUIRE(partner < workers);
                    CHECK(partner != worker);
                    CHECK(gossip::scheduled_partner(schedule, workers, partner, round) == worker);
                    if (schedule == gossip::Schedule::rotating) ++met[static_cast<std::size_t>(partner)];
                }
            for (int other = 0; other < workers; ++other)
                CHECK(met[static_cast<std::size_t>(other)] == (other != worker));
        }
    }
}

TEST_CASE("settings that make no sense are refused") {
    SimulatedRun run = SimulatedRun::from_seed(0);
    run.algorithm = Algorithm::active_passive;
    run.settings = {.workers = 3, .items = 1, .averaging_interval = 1};
    run.slowdown = {1, 1, 1};
    CHECK_THAT(simulate(run).mistake,
               Catch::Contains("3 workers: half of them are active, so expected an even number"));
    run.algorithm = Algorithm::gossip_gcn;
    run.settings.averaging_interval = 0;
    CHECK_THAT(simulate(run).mistake, Catch::Contains("an averaging interval of 0 batches: expected 1 or more"));
}
