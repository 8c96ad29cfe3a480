// Every strategy under simulation with real values: it agrees with the serial reference as on real ranks, takes the virtual
// time that it takes without values, and a wait that is left out shows.
#include <map>
#include <string>
#include <vector>

#include "check/forwarding_backend.hpp"
#include "contract/left_out_wait.hpp"
#include "contract/staleness_case.hpp"
#include "contract/strategy_selection.hpp"
#include "contract/virtual_training.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench::contract {
namespace {

/// Whether all that is promised of it holds.
void check(const TrainingCase& c, const InVirtualTime& how, std::map<std::string, int>& ran) {
    const std::vector<Outcome> of_rank = train_in_virtual_time(c, how);
    const Outcome& first = of_rank.front();
    if (!first.skipped.empty()) return;
    ++ran[c.settings.name];
    INFO(c.settings.name << " " << c.settings.changed << " on " << c.ranks << " simulated ranks, model "
                         << c.variant.name << ", graph " << c.data.name);
    if (first.approximation.empty()) {
        INFO("loss error " << first.agreement.loss_error << ", gradient error " << first.agreement.gradient_error
                           << " at " << first.agreement.worst << "; allowed " << first.agreement.tolerance);
        CHECK(first.agreement.holds());
    }
    for (const Outcome& o : of_rank) {
        INFO("the ranks' copies of " << o.replicas.worst << " are " << o.replicas.error << " apart");
        CHECK(o.replicas.within(o.agreement.tolerance));
        CHECK(o.evaluation_problem == "");
        CHECK(o.volume_difference == "");
        CHECK(o.allocations_in_epochs == 0);
    }
}

std::vector<graphs::NamedGraph> all_graphs() {
    auto all = graphs::of_every_kind();
    all.push_back(graphs::in_tiles(graphs::directed_random(40, 200, true), 3, 5));
    return all;
}

constexpr int most_ranks = 8;

TEST_CASE("with values every strategy agrees with the serial reference at 1 to 8 ranks") {
    std::map<std::string, int> ran;
    std::size_t place = 0, scheme = 0;
    const auto graphs = all_graphs();
    for (const std::string& name : full_batch_strategies()) {
        ++scheme;
        for (const StrategyVariant& s : variants(name))
            for (int ranks = 1; ranks <= most_ranks; ++ranks)
                for (std::size_t g = 0; g < graphs.size(); ++g) {
                    // Defaults meet every number of ranks and every graph, in a third of their pairs.
                    const bool taken = s.changed.empty() ? (usize(ranks) + g + scheme) % 3 == 0 : place++ % 6 == 0;
                    if (taken || every_case())
                        check(*training_case(s, "random", {.name = "default"}, graphs[g], ranks), {}, ran);
                }
        INFO(name << " ran " << ran[name] << " cases");
        CHECK((ran[name] > 0 || name.starts_with("gossip")));
    }
}

TEST_CASE(
    "with values strategies agree with the serial reference in float32, for other models, and on a processor") {
    std::vector<ModelVariant> models(5);
    models[0] = {.name = "narrowing, float32", .widths = {9, 6, 4, 2}};
    models[1] = {.name = "dropout", .widths = {3, 6, 4}};
    models[1].train.dropout = models[1].train.input_dropout = 0.4;
    models[2] = {.name = "sigmoid, aggregated input"};
    models[2].model.activation = Activation::sigmoid;
    models[2].model.aggregate_input = true;
    models[3] = {.name = "sparse features"};
    models[3].model.sparse_features = true;
    models[4] = {.name = "several labels", .widths = {4, 9, 2, 7, 3}, .labels = Labels::several};
    std::map<std::string, int> ran;
    std::size_t place = 0;
    const auto graph = graphs::directed_random(60, 400, true);
    for (const std::string& name : full_batch_strategies())
        for (const StrategyVariant& s : variants(name))
            for (std::size_t m = 0; m < models.size(); ++m) {
                if (!s.changed.empty() && !every_case() && place++ % 3 != 0) continue;
                const auto c = training_case(s, "random", models[m], graph, 4);
                INFO(name << " " << s.changed << ", model " << models[m].name);
                // Nothing but the scheme's own refusal leaves a case out.
                CHECK(c->skipped ==
                      c->strategy->why_unsupported({c->ranks, c->model, c->train, c->settings.params}));
                check(*c, {.dtype = m == 0 ? DType::f32 : DType::f64}, ran);
                check(*c, {.machine = processor_of}, ran);
            }
    CHECK(ran.size() >= 10);
    for (const std::string& name : full_batch_strategies()) {
        INFO(name);
        CHECK((ran[name] > 0 || !refusal_at(4, name).empty()));
    }
}

/// The virtual times of a training, and what else takes or states them.
void check_times(const StrategyVariant& s, const graphs::NamedGraph& graph, int ranks, Simulated how,
                 std::map<std::string, int>& ran) {
    INFO(s.name << " " << s.changed << " on " << ranks << " ranks, " << graph.name);
    how.epochs = 3;
    const SimulatedOutcome without = simulate(s, {.name = "gcn"}, graph, ranks, how);
    if (!without.skipped.empty()) {
        // With its defaults a scheme is left out only where it refuses, or its workers do not train together.
        const bool apart = without.skipped == "independent workers" || s.name.starts_with("gossip");
        if (s.changed.empty() && !apart) CHECK(without.skipped == refusal_at(ranks, s.name));
        return;
    }
    ++ran[s.name];
    how.values = true;
    const SimulatedOutcome with = simulate(s, {.name = "gcn"}, graph, ranks, how);
    CHECK(with.skipped.empty());
    CHECK(with.epochs_s == without.epochs_s);
    CHECK(with.pack_s == without.pack_s);
    CHECK(with.differences == without.differences);
}

TEST_CASE("values take no virtual time: that of every strategy is the same to the bit without them") {
    std::map<std::string, int> ran;
    std::size_t place = 0;
    for (const bool symmetric : {false, true}) {
        const auto graph = drawn(311, 3, symmetric);
        for (const std::string& name : catalog().names(PluginKind::strategy))
            for (const StrategyVariant& s : variants(name)) {
                if (!s.changed.empty() && !every_case() && place++ % 3 != 0) continue;
                for (const int ranks : {1, 3, 8}) check_times(s, graph, ranks, {}, ran);
                check_times(s, graph, 8, {.machine = processor_of}, ran);
                check_times(s, graph, 4, {.network = simulation::NetworkModel::ring, .without_pause = true}, ran);
            }
    }
    CHECK(ran.size() >= 10);
    for (const std::string& name : catalog().names(PluginKind::strategy)) {
        INFO(name << " ran at no rank count");
        CHECK((ran[name] > 0 || name.starts_with("gossip")));
    }
}

/// What two equal trainings have in common.
std::vector<double> weights_after(const StrategyVariant& s, const graphs::NamedGraph& graph, int ranks,
                                  DType dtype) {
    const auto c = training_case(s, "random", {.name = "gcn"}, graph, ranks);
    std::vector<double> all;
    for (const Outcome& o : train_in_virtual_time(*c, {.dtype = dtype}))
        for (const NamedMatrix& m : o.weights.matrices)
            all.insert(all.end(), m.values.values.begin(), m.values.values.end());
    return all;
}

TEST_CASE("the same simulated training gives the same weights to the bit") {
    const auto graph = drawn(200, 6, false);
    for (const std::string& name : full_batch_strategies()) {
        INFO(name);
        const StrategyVariant s = variants(name).front();
        for (const DType dtype : {DType::f32, DType::f64})
            CHECK(weights_after(s, graph, 4, dtype) == weights_after(s, graph, 4, dtype));
    }
}

/// A network that is far slower than the devices, or devices that are far slower than it: what is not waited for has not
/// ended.
simulation::Machine slow_links(int ranks) {
    simulation::Machine m = machine_of(ranks);
    m.links.link_bandwidth = m.links.nic_bandwidth = 1e5;
    return m;
}
simulation::Machine slow_devices(int ranks) {
    simulation::Machine m = machine_of(ranks);
    m.device.memory_bandwidth = m.device.cache_bandwidth = 1e5;
    m.links.base_s = m.links.hop_s = m.links.network_hop_s = m.links.message_s = 1e-9;
    m.links.link_bandwidth = m.links.nic_bandwidth = 1e12;
    return m;
}

struct LeftOut {
    std::int64_t waits = 0;  ///< of rank 0
    bool found = false;
};

/// Whether the comparison with the serial reference finds that every rank leaves out that wait.
LeftOut leave_out(const TrainingCase& c, std::int64_t wait, simulation::Machine (*machine)(int)) {
    std::vector<std::int64_t> waits(usize(c.ranks));
    const auto of_rank = train_in_virtual_time(
        c, {.machine = machine, .decorate = [&](std::unique_ptr<Backend> inner, int rank) {
                return std::make_unique<LeavesOutAWait>(std::move(inner), wait, waits[usize(rank)]);
            }});
    LeftOut out{.waits = waits.front()};
    for (const Outcome& o : of_rank)
        out.found |= !o.replicas.within(o.agreement.tolerance) || !o.evaluation_problem.empty();
    out.found |= !of_rank.front().agreement.holds();
    return out;
}

TEST_CASE("a wait that is left out shows in the comparison with the serial reference") {
    const auto graph = drawn(60, 5, false);
    for (const std::string& name : full_batch_strategies()) {
        const StrategyVariant s = variants(name).front();
        const auto c = training_case(s, "random", {.name = "gcn"}, graph, 4);
        if (!c->skipped.empty() || !c->strategy->approximation(s.params).empty()) continue;
        constexpr std::int64_t none = -1;
        const LeftOut nothing = leave_out(*c, none, slow_links);
        REQUIRE_FALSE(nothing.found);
        REQUIRE_FALSE(leave_out(*c, none, slow_devices).found);
        std::int64_t found = 0, tried = 0;
        for (std::int64_t w = 0; w < nothing.waits; w += every_case() ? 1 : 3, ++tried)
            found += leave_out(*c, w, slow_links).found || leave_out(*c, w, slow_devices).found;
        INFO(name << ": " << found << " of " << tried << " waits");
        CHECK(2 * found >= tried);
    }
}

TEST_CASE(
    "with values schemes with old rows have the losses, gradients and weights of their equations in PyTorch") {
    const torch::json made = torch::read_cases("staleness/cases.json");
    std::map<std::string, int> ran;
    for (const torch::json& c : made.at("cases"))
        for (const bool run_on : {false, true}) {
            torch::json params = c.at("params");
            const bool late = c.at("scheme") == "pipegcn" || c.at("scheme") == "distgnn";
            if (run_on && !late) continue;
            if (run_on) params["transfers"] = "run_on";
            INFO(c.at("scheme") << " " << params << ", layers " << c.at("layers"));
            std::vector<torch::Differences> of_rank(made.at("parts").get<std::size_t>());
            with_values(static_cast<int>(of_rank.size()), {}, [&](Backend& backend, const ProcessGroup& world) {
                of_rank[usize(world.rank())] = torch::differences(made, c, params, backend, world);
            });
            for (const torch::Differences& d : of_rank) {
                CHECK(d.loss <= torch::allowed);
                CHECK(d.gradient <= torch::allowed);
                CHECK(d.weights <= torch::allowed);
                CHECK_FALSE(d.ages);
                CHECK(d.volume == "");
            }
            ++ran[c.at("scheme").get<std::string>()];
        }
    CHECK(ran.size() == 3);
}

/// As a simulated trial verifies itself; what rank 0 found of all ranks.
VerifiedTraining verified(const TrainingCase& c, const Decorate& decorate) {
    SharedSetup shared;
    const Problem problem = c.problem(&shared);
    const ReferenceResult& known = reference(c.data, c.variant, usual_epochs, trains_features(c.settings.params));
    const auto kernel = catalog().kernel("simulated");
    VerifiedTraining found;
    simulation::Simulation(machine_of(c.ranks), simulation::NetworkModel::links, c.ranks)
        .run([&](const ProcessGroup& world) {
            const auto backend = [&](DType t) {
                return decorate(kernel->create(simulated_setting(world, t, true)), world.rank());
            };
            VerifiedTraining v = verify_training({.strategy = *c.strategy,
                                                  .problem = problem,
                                                  .group = world,
                                                  .backend = [&] { return backend(DType::f32); },
                                                  .float64_backend = [&] { return backend(DType::f64); },
                                                  .catalog = &catalog()},
                                                 world.rank() == 0 ? &known : nullptr);
            if (world.rank() == 0) found = std::move(v);
        });
    return found;
}

/// Adds to one element of what it computes, unseen by the cost model.
class AddsToAProduct final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

private:
    using ForwardingBackend::perform;
    void perform(const verb::Gemm& v) override {
        inner().run(v);
        const double wrong = 1e3;
        inner().fill(v.c.rows_from(0, 1), wrong);
    }
};

TEST_CASE("verification makes its three runs on simulated ranks, and finds what a verb does wrong there") {
    const auto graph = drawn(80, 5, false);
    for (const std::string& name : full_batch_strategies()) {
        const StrategyVariant s = variants(name).front();
        const auto c = training_case(s, "random", {.name = "gcn"}, graph, 4);
        if (!c->skipped.empty() || !c->strategy->approximation(s.params).empty()) continue;
        INFO(name);
        const VerifiedTraining right = verified(*c, as_it_is);
        for (const Fault& f : right.faults) FAIL_CHECK(f.check << ": " << f.text);
        CHECK(right.same_bits);
        CHECK(right.in_float64);
        CHECK(right.checks.contains("spmm"));
        CHECK(right.checks.size() > 10);
        const VerifiedTraining wrong = verified(*c, [](std::unique_ptr<Backend> inner, int rank) {
            return rank == 2 ? std::make_unique<AddsToAProduct>(std::move(inner)) : std::move(inner);
        });
        CHECK(std::ranges::any_of(wrong.faults, [](const Fault& f) { return f.check == "gemm"; }));
    }
}

}  // namespace
}  // namespace gnnbench::contract
