// Independent workers on simulated devices: shared words, meetings and slow workers in virtual time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include "contract/simulated_case.hpp"

namespace gnnbench::contract {
namespace {

using Set = std::map<std::string, std::string>;

constexpr std::int64_t epochs = 6, clusters = 24;

SimulatedOutcome train(const std::string& name, Set set, int workers, const Slowdown& slowdown = {},
                       bool values = false) {
    set["clusters"] = std::to_string(clusters);
    set["averaging_interval"] = "4";
    return simulate(
        variants(name, set).front(), {.name = "gcn"}, drawn(2000, 12, true), workers,
        {.epochs = epochs, .workers = true, .slowdown = slowdown, .values = values, .one_label = true});
}

std::int64_t steps_of(const SimulatedOutcome& out) {
    std::int64_t steps = 0;
    for (const auto& of_worker : out.losses) steps += std::ssize(of_worker);
    return steps;
}

double last_s(const SimulatedOutcome& out) { return *std::ranges::max_element(out.epochs_s); }

/// An epoch of workers that wait for all.
double together_s(int workers, const Slowdown& slowdown) {
    const SimulatedOutcome out = train("allreduce-gcn", {}, workers, slowdown);
    REQUIRE(out.skipped.empty());
    return std::accumulate(out.epochs_s.begin(), out.epochs_s.end(), 0.0) / workers;
}

const std::vector<std::pair<std::string, Set>> gossips{
    {"gossip-gcn", {}},
    {"gossip-gcn", {{"average", "weights"}}},
    {"gossip-gcn", {{"partners", "requested"}}},
    {"gossip-gcn", {{"partners", "scheduled"}}},
    {"gossip-gcn", {{"partners", "scheduled"}, {"schedule", "rotating"}}},
    {"gossip-active-passive", {}}};

}  // namespace

TEST_CASE("a drawn pace lasts for as long as it is declared to") {
    const Slowdown each{.factor = {}, .spread = 0.5, .seed = 3},
        for_ever{.factor = {}, .spread = 0.5, .lasts_s = 1e6, .seed = 3},
        briefly{.factor = {}, .spread = 0.5, .lasts_s = 1e-3, .seed = 3};
    const auto alone_s = [](const Slowdown& s) { return last_s(train("gossip-gcn", {}, 1, s)); };
    const double free_s = alone_s({});
    // The copies of batches to the device keep their pace.
    CHECK(alone_s(for_ever) == Approx(free_s * for_ever.times(0, 0)).epsilon(0.05));
    CHECK(alone_s(briefly) != Approx(alone_s(for_ever)).epsilon(0.01));
    CHECK(alone_s(briefly) != Approx(alone_s(each)).epsilon(0.001));
}

TEST_CASE("simulated workers train each batch once, and the same again take the same time to the bit") {
    for (const auto& [name, set] : gossips)
        for (const int workers : {2, 4, 8})
            for (const Slowdown& slowdown : {Slowdown{}, Slowdown{.factor = {{1, 2}}, .spread = 0.3, .seed = 3}}) {
                const SimulatedOutcome once = train(name, set, workers, slowdown),
                                       again = train(name, set, workers, slowdown);
                INFO(name << " of " << workers << " workers");
                REQUIRE(once.skipped == "");
                CHECK(steps_of(once) == epochs * clusters);
                CHECK(once.epochs_s == again.epochs_s);
                for (std::size_t w = 0; w < once.losses.size(); ++w)
                    CHECK(once.losses[w].size() == again.losses[w].size());
            }
}

TEST_CASE("simulated workers with values take the same time, learn, and learn the same again") {
    const Slowdown slowdown{.factor = {{1, 2}}, .spread = 0.3, .seed = 3};
    for (const auto& [name, set] : gossips) {
        const SimulatedOutcome without = train(name, set, 4, slowdown), once = train(name, set, 4, slowdown, true),
                               again = train(name, set, 4, slowdown, true);
        INFO(name);
        CHECK(once.epochs_s == without.epochs_s);
        CHECK(once.losses == again.losses);
        for (const std::vector<double>& losses : once.losses) {
            REQUIRE(losses.size() > 8);
            const auto quarter = std::ssize(losses) / 4;
            const double first = std::reduce(losses.begin(), losses.begin() + quarter),
                         last = std::reduce(losses.end() - quarter, losses.end());
            CHECK(last < 0.8 * first);  // which no NaN is
        }
    }
}

TEST_CASE(
    "a simulated worker that is slow takes its factor as long, and trains fewer batches where others take them") {
    const Slowdown slow{.factor = {{0, 3}}};
    CHECK(last_s(train("gossip-gcn", {}, 1, slow)) ==
          Approx(3 * last_s(train("gossip-gcn", {}, 1))).epsilon(0.06));  // the update is not paced
    const SimulatedOutcome out = train("gossip-gcn", {}, 4, slow);
    REQUIRE(out.skipped.empty());
    for (std::size_t w = 1; w < out.losses.size(); ++w) CHECK(2 * out.losses[w].size() > 3 * out.losses[0].size());
}

// The claim of the thesis on GossipGCN, section 4.1.
TEST_CASE("a slow worker holds up those that wait for all more than those that meet in pairs") {
    const Slowdown slow{.factor = {{0, 3}}};
    const double together = together_s(4, slow) / together_s(4, {}),
                 in_pairs = last_s(train("gossip-gcn", {}, 4, slow)) / last_s(train("gossip-gcn", {}, 4));
    INFO("waiting for all " << together << " times as long, in pairs " << in_pairs << " times");
    CHECK(together > 2);
    CHECK(in_pairs < 1.6);
}

}  // namespace gnnbench::contract
