// Training under seeded schedules. A seed draws a machine, whose launches, links and messages take other times, and the paces of
// its ranks; so ranks come to their meetings in another order. Real values are behind it. GNNBENCH_SCHEDULES says how many.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/error.hpp>

#include "contract/left_out_wait.hpp"
#include "contract/strategy_selection.hpp"
#include "contract/virtual_training.hpp"

namespace gnnbench::contract {
namespace {

constexpr int ranks = 4;

std::uint64_t schedules(std::uint64_t usual) {
    const char* asked = std::getenv("GNNBENCH_SCHEDULES");
    return asked ? std::stoull(asked) : usual;
}

struct Schedule {
    simulation::Machine machine;
    Slowdown slowdown;

    explicit Schedule(std::uint64_t seed) : machine(machine_of(ranks)) {
        RandomStream draw(seed, Draw::sample, 0x5c4ed);
        const auto vary = [&](double& number, double times) { number *= std::pow(times, draw.uniform() - 0.5); };
        const int on_a_node[] = {1, 2, ranks};
        machine.devices_per_node = on_a_node[draw.below(3)];
        machine.nodes = ranks / machine.devices_per_node;
        simulation::Device& d = machine.device;
        simulation::Links& l = machine.links;
        for (double* rate : {&d.memory_bandwidth, &l.link_bandwidth, &l.nic_bandwidth}) {
            *rate /= 1e3;  // of so small a graph not all is latency
            vary(*rate, 1e6);
        }
        for (double* time : {&d.launch_s, &d.least_kernel_s, &l.base_s, &l.hop_s, &l.network_hop_s, &l.message_s})
            vary(*time, 400);
        slowdown.seed = seed;
        slowdown.spread = draw.uniform();
        for (int r = 0; r < ranks; ++r)
            if (draw.below(3) == 0) slowdown.factor[r] = 1 + 4 * draw.uniform();
    }
};

double mean(const std::vector<double>& values, std::ptrdiff_t first, std::ptrdiff_t last) {
    double sum = 0;
    for (std::ptrdiff_t i = first; i < last; ++i) sum += values[usize(i)];
    return sum / static_cast<double>(last - first);
}

/// Of one run of independent workers.
struct Workers {
    static constexpr std::int64_t epochs = 4, clusters = 16;
    SimulatedOutcome out;

    Workers(const StrategyVariant& s, const graphs::NamedGraph& graph, const Schedule& schedule)
        : out(simulate(s, {.name = "gcn"}, graph, ranks,
                       {.epochs = epochs,
                        .machine = [&](int) { return schedule.machine; },
                        .workers = true,
                        .slowdown = schedule.slowdown,
                        .values = true,
                        .one_label = true})) {}

    bool independent() const { return !out.losses.empty(); }
    std::int64_t steps() const {
        std::int64_t all = 0;
        for (const auto& of_worker : out.losses) all += std::ssize(of_worker);
        return all;
    }
    /// NaN compares as false.
    bool learnt() const {
        const auto longest = std::ranges::max_element(out.losses, {}, [](const auto& l) { return l.size(); });
        const auto quarter = std::max<std::ptrdiff_t>(1, std::ssize(*longest) / 4);
        return mean(*longest, std::ssize(*longest) - quarter, std::ssize(*longest)) < mean(*longest, 0, quarter);
    }
    bool finite() const {
        return std::ranges::all_of(out.losses, [](const std::vector<double>& of_worker) {
            return std::ranges::all_of(of_worker, [](double loss) { return std::isfinite(loss); });
        });
    }
};

const std::vector<std::map<std::string, std::string>>& settings_of(const std::string& name) {
    static const std::vector<std::map<std::string, std::string>> usual{{}},
        gossip{{},
               {{"average", "weights"}},
               {{"partners", "requested"}},
               {{"partners", "scheduled"}},
               {{"partners", "scheduled"}, {"schedule", "rotating"}}};
    return name == "gossip-gcn" ? gossip : usual;
}

}  // namespace

TEST_CASE("under every schedule workers train each batch once, meet without waiting for ever, and learn",
          "[schedules]") {
    const auto graph = drawn(400, 8, true);
    int kinds = 0;
    for (const std::string& name : catalog().names(PluginKind::strategy)) {
        if (!trains_on_batches(catalog(), name)) continue;
        for (auto set : settings_of(name)) {
            set["clusters"] = std::to_string(Workers::clusters);
            set["averaging_interval"] = "2";
            const StrategyVariant s = variants(name, set).front();
            std::set<double> ends;
            const std::uint64_t count = schedules(6);
            for (std::uint64_t seed = 0; seed < count; ++seed) {
                const Schedule schedule(seed);
                const Workers workers(s, graph, schedule);
                if (!workers.independent()) break;  // its ranks wait for each other, or it has one
                INFO(name << ", " << s.changed << ", seed " << seed);
                CHECK(workers.steps() == Workers::epochs * Workers::clusters);
                CHECK(workers.finite());
                CHECK(workers.learnt());
                ends.insert(*std::ranges::max_element(workers.out.epochs_s));
                if (seed % 50 == 0) CHECK(Workers(s, graph, schedule).out.losses == workers.out.losses);
            }
            if (ends.empty()) continue;
            ++kinds;
            CHECK(ends.size() == count);  // no two schedules are the same
        }
    }
    CHECK(kinds >= 6);
}

namespace {

std::vector<double> weights(const TrainingCase& c, const InVirtualTime& how) {
    std::vector<double> all;
    for (const Outcome& o : train_in_virtual_time(c, how))
        for (const NamedMatrix& m : o.weights.matrices)
            all.insert(all.end(), m.values.values.begin(), m.values.values.end());
    return all;
}

std::function<simulation::Machine(int)> machine_of_seed(std::uint64_t seed) {
    return [seed](int) { return Schedule(seed).machine; };
}

}  // namespace

TEST_CASE("under every schedule a full-batch scheme learns the same weights to the bit", "[schedules]") {
    const auto graph = drawn(60, 5, false);
    int kinds = 0;
    for (const std::string& name : full_batch_strategies())
        for (const StrategyVariant& s : variants(name)) {
            const auto c = training_case(s, "random", {.name = "gcn"}, graph, ranks);
            if (!c->skipped.empty()) continue;
            const std::vector<double> usual = weights(*c, {});
            if (usual.empty()) continue;
            ++kinds;
            for (std::uint64_t seed = 0; seed < schedules(3); ++seed) {
                INFO(name << ", " << s.changed << ", seed " << seed);
                const bool same = weights(*c, {.machine = machine_of_seed(seed)}) == usual;
                CHECK(same);
            }
        }
    CHECK(kinds >= 15);
}

// Exact ones are compared with the serial reference instead (simulated_values.cpp). With delays of several epochs, or without
// exchanges, most waits show in none of so few epochs, so each scheme runs with its defaults.
TEST_CASE("a scheme with old rows that leaves out a wait learns other weights under some schedule",
          "[schedules]") {
    const auto graph = drawn(60, 5, false);
    constexpr std::uint64_t tried = 8;
    int kinds = 0;
    for (const std::string& name : full_batch_strategies()) {
        const auto c = training_case(variants(name).front(), "random", {.name = "gcn"}, graph, ranks);
        if (!c->skipped.empty() || c->strategy->approximation(c->settings.params).empty()) continue;
        std::int64_t waits = 0, found = 0, without = 0;
        const std::vector<double> usual = weights(*c, {});
        const auto shows = [&](std::int64_t left_out, std::uint64_t seed) {
            std::vector<std::int64_t> counted(usize(ranks));
            const auto leaves_out = [&](std::unique_ptr<Backend> inner, int rank) {
                return std::make_unique<LeavesOutAWait>(std::move(inner), left_out, counted[usize(rank)]);
            };
            try {
                const auto learnt = weights(*c, {.machine = machine_of_seed(seed), .decorate = leaves_out});
                waits = counted.front();
                return learnt != usual;
            } catch (const LogicError&) {  // ranks that do not agree on what comes next
                return true;
            }
        };
        INFO(name);
        CHECK_FALSE(shows(-1, 0));
        for (std::int64_t w = 0; w < waits; w += every_case() ? 1 : 3, ++without) {
            std::uint64_t seed = 0;
            while (seed < tried && !shows(w, seed)) ++seed;
            found += seed < tried;
        }
        INFO(found << " of " << without << " waits");
        CHECK(3 * found >= without);  // other waits stand for the rest
        ++kinds;
    }
    CHECK(kinds >= 2);
}

}  // namespace gnnbench::contract
