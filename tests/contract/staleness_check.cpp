// Schemes that compute with old rows, on `reference` in float64, against what PyTorch makes of their equations: losses, the
// last epochs' gradients, the last weights, and how old the rows were. On three ranks. staleness/make.py wrote
// staleness/cases.json, staleness/attention.py staleness/attention.json.
#include <set>

#include "contract/staleness_case.hpp"
#include "contract/strategy_models.hpp"
#include "contract/strategy_selection.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract::torch;
using contract::catalog;

namespace {

/// GCN whose rows are divided by their degrees.
contract::ModelVariant mean() {
    contract::ModelVariant v{.name = "mean"};
    v.model.normalisation = Normalisation::mean;
    return v;
}

const std::vector<std::string> files = {"staleness/cases.json", "staleness/attention.json"};

bool attends(const json& made) { return made.at("cases").at(0).at("layers") == "gat"; }

Differences on_reference(const json& made, const json& c, const json& with_params) {
    const auto backend = catalog().kernel("reference")->create({.dtype = DType::f64});
    return differences(made, c, with_params, *backend, mpi_world());
}

}  // namespace

TEST_CASE("schemes with old rows have the losses, gradients and weights of their equations in PyTorch") {
    const json made = read_cases(GENERATE(from_range(files)));
    REQUIRE(mpi_world().size() == made.at("parts").get<int>());
    std::set<std::string> seen;
    for (const json& c : made.at("cases")) {
        INFO(c.at("scheme") << " " << c.at("params") << ", layers " << c.at("layers") << ", widths "
                            << c.at("widths"));
        const Differences d = on_reference(made, c, c.at("params"));
        CHECK(d.loss <= allowed);
        CHECK(d.gradient <= allowed);
        CHECK(d.weights <= allowed);
        CHECK_FALSE(d.ages);
        CHECK(d.memory == 0);
        CHECK(d.volume == "");
        seen.insert(c.at("scheme").get<std::string>());
    }
    CHECK(seen.contains("pipegcn"));
    CHECK(seen.contains("sancus"));
    CHECK(seen.contains("distgnn"));
}

TEST_CASE("transfers that run on into later epochs bring them the same") {
    const json made = read_cases(GENERATE(from_range(files)));
    REQUIRE(mpi_world().size() == made.at("parts").get<int>());
    std::map<std::string, int> ran;
    for (const json& c : made.at("cases")) {
        json running_on = c.at("params");
        const bool late = c.at("scheme") == "pipegcn" ? running_on.at("staleness") == 1
                                                      : running_on.value("algorithm", "") == "cd-r";
        if (!late) continue;
        running_on["transfers"] = "run_on";
        INFO(c.at("scheme") << " " << running_on << ", layers " << c.at("layers") << ", widths "
                            << c.at("widths"));
        const Differences d = on_reference(made, c, running_on);
        CHECK(d.runs_on);
        CHECK(d.loss <= allowed);
        CHECK(d.gradient <= allowed);
        CHECK(d.weights <= allowed);
        CHECK_FALSE(d.ages);
        CHECK(d.memory == 0);
        CHECK(d.volume == "");
        ++ran[c.at("scheme").get<std::string>()];
    }
    CHECK(ran["pipegcn"] > 0);
    CHECK((ran["distgnn"] > 0) != attends(made));
}

TEST_CASE("schemes with old rows are exact where none may be old, as every exact scheme is") {
    const std::vector<std::pair<std::string, std::map<std::string, std::string>>> exact = {
        {"distgnn", {{"algorithm", "cd-0"}}},
        {"distgnn", {{"algorithm", "cd-0"}, {"degrees", "known"}}},
        {"distgnn", {{"algorithm", "cd-0"}, {"self_loops", "copies"}}},
        {"pipegcn", {{"staleness", "0"}}},
        {"sancus", {{"interval", "1"}}},
        {"sancus", {{"policy", "change"}, {"least_change", "0"}}},
        {"sancus", {{"policy", "change"}, {"most_epochs", "0"}}}};
    const std::vector<contract::ModelVariant> models = {{.name = "default"},
                                                        contract::attention({5, 8, 3}, {4, 1}),
                                                        contract::attention({5, 8, 3}, {2, 1}, LayerKind::gatv2)};
    std::map<std::string, int> ran;
    for (const auto& [scheme, set] : exact)
        for (const contract::StrategyVariant& s : contract::variants(scheme, set)) {
            if (!catalog().strategy(scheme)->approximation(s.params).empty()) continue;
            std::size_t place = 0;
            for (const auto& g : graphs::of_every_kind()) {
                const contract::ModelVariant model =
                    set.contains("degrees") ? mean() : models[place++ % models.size()];
                const contract::Outcome o = contract::run(s, "random", {"reference", DType::f64}, model, g);
                if (!o.skipped.empty()) continue;
                ++ran[model.name];
                INFO(scheme << " " << s.changed << ", model " << model.name << ", graph " << g.name);
                INFO("loss error " << o.agreement.loss_error << ", gradient error " << o.agreement.gradient_error
                                   << "; allowed " << o.agreement.tolerance);
                CHECK(o.agreement.holds());
                CHECK(o.evaluation_problem == "");
                CHECK(o.volume_difference == "");
                CHECK(o.bytes_at_setup == o.stated_bytes);
            }
        }
    for (const contract::ModelVariant& model : models) CHECK(ran[model.name] > 10);
}

TEST_CASE("degrees that a rank knows keep the contract of strategies on every graph and kernel") {
    int ran = 0;
    for (const auto& set : std::vector<std::map<std::string, std::string>>{
             {{"algorithm", "0c"}},
             {{"algorithm", "cd-r"}, {"delay", "1"}},
             {{"algorithm", "cd-r"}, {"delay", "2"}},
             {{"algorithm", "cd-r"}, {"delay", "2"}, {"backward", "local"}}})
        for (const contract::KernelVariant& k : contract::kernels())
            for (const auto& g : graphs::of_every_kind()) {
                std::map<std::string, std::string> known = set;
                known["degrees"] = "known";
                const contract::StrategyVariant s = contract::variants("distgnn", known)[0];
                const contract::Outcome o = contract::run(s, "random", k, mean(), g);
                ++ran;
                INFO(s.changed << ", kernel " << k.name << (k.dtype == DType::f32 ? " float32" : " float64")
                               << ", graph " << g.name);
                CHECK(o.skipped == "");
                CHECK(o.replicas.within(o.agreement.tolerance));
                CHECK(o.evaluation_problem == "");
                CHECK(o.volume_difference == "");
                CHECK(o.allocations_in_epochs == 0);
                CHECK(o.copies_in_epochs <= o.kept);
                if (k.name == "reference") CHECK(o.bytes_at_setup == o.stated_bytes);
            }
    CHECK(ran >= 40);
}

TEST_CASE("degrees that a rank knows are refused where a row is not divided by its own") {
    const auto strategy = catalog().strategy("distgnn");
    const Params known = params_of("distgnn", {{"degrees", "known"}});
    const auto why = [&](Normalisation n) {
        ModelSpec model = mean().complete_model();
        model.normalisation = n;
        return strategy->why_unsupported({3, model, mean().complete_train(), known});
    };
    CHECK(why(Normalisation::mean) == "");
    CHECK_THAT(why(Normalisation::symmetric),
               Catch::Contains("degrees: known") && Catch::Contains("symmetric scales"));
    CHECK_THAT(why(Normalisation::none), Catch::Contains("degrees: known") && Catch::Contains("none divides"));

    graphs::NamedGraph signed_weights = graphs::directed_random(40, 200, true);
    signed_weights.weights[7] = -0.5F;
    contract::StrategyVariant s{"distgnn", known, ""};
    CHECK_NOTHROW(
        contract::run(s, "random", {"reference", DType::f64}, mean(), signed_weights));  // cd-0 needs none
    s.params = params_of("distgnn", {{"degrees", "known"}, {"algorithm", "0c"}});
    CHECK_THROWS_WITH(contract::run(s, "random", {"reference", DType::f64}, mean(), signed_weights),
                      Catch::Contains("has one of -0.5"));
}

// What each check above would say of a scheme with a mistake: one that computes what other parameters ask for.
TEST_CASE("a mistake in what is old is found") {
    const json made = read_cases(GENERATE(from_range(files)));
    REQUIRE(mpi_world().size() == made.at("parts").get<int>());
    int fresh = 0, unsmoothed = 0, late = 0, own = 0, delayed = 0, local = 0, whole = 0, loops = 0, unstated = 0;
    for (const json& c : made.at("cases")) {
        json wrong = c.at("params");
        INFO(c.at("scheme") << " " << wrong << ", layers " << c.at("layers") << ", widths " << c.at("widths"));
        if (c.at("scheme") == "pipegcn" && wrong.at("staleness") == 1) {
            if (wrong.at("smoothing") != "none") {
                wrong.at("smoothing") = "none";  // smoothing forgotten
                const Differences d = on_reference(made, c, wrong);
                CHECK(d.loss > allowed);
                CHECK(d.gradient > allowed);
                ++unsmoothed;
            }
            wrong.at("staleness") = 0;  // off by one epoch
            const Differences d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.ages);
            ++fresh;
        }
        if (c.at("scheme") == "distgnn" && wrong.at("algorithm") != "0c") {
            if (wrong.at("algorithm") == "cd-r") {
                wrong.at("delay") = wrong.at("delay").get<int>() + 1;  // off by one epoch
                const Differences d = on_reference(made, c, wrong);
                CHECK(d.loss > allowed);
                CHECK(d.ages);
                CHECK(d.volume != "");
                ++delayed;
                wrong = c.at("params");
            }
            wrong.at("backward") =
                wrong.at("backward") == "local" ? "summed" : "local";  // gradients left where they are
            Differences d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.volume != "");
            wrong = c.at("params");
            wrong.at("algorithm") = "0c";  // an exchange left out that is stated
            d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.volume != "");
            ++local;
        }
        if (attends(made) && c.at("scheme") == "distgnn") {
            wrong.at("algorithm") = "cd-0";  // an exchange that is not stated
            const Differences d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.volume != "");
            ++unstated;
            wrong = c.at("params");
        }
        // What copies have of their own: found where they do not exchange everything at once.
        const auto local_mistake = [&](const char* param, const char* right, const char* mistake, int& count) {
            if (c.at("scheme") != "distgnn" || c.at("params").value(param, "") != right ||
                c.at("params").at("algorithm") == "cd-0")
                return;
            wrong = c.at("params");
            wrong.at(param) = mistake;
            const Differences d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.volume == "");
            ++count;
        };
        local_mistake("degrees", "known", "whole", whole);
        if (c.at("self_loops").get<bool>() || c.at("layers") == "gin")
            local_mistake("self_loops", "copies", "root", loops);
        if (c.at("scheme") == "sancus" && wrong.at("policy") == "interval" && wrong.at("interval") > 1) {
            wrong.at("interval") = wrong.at("interval").get<int>() + 1;  // a broadcast left out that is stated
            Differences d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.ages);
            CHECK(d.volume != "");
            ++late;
            wrong = c.at("params");
            wrong.at("own_rows") = wrong.at("own_rows") == "fresh" ? "cached" : "fresh";
            d = on_reference(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.volume == "");
            ++own;
        }
    }
    CHECK(fresh >= 4);
    CHECK(unsmoothed >= 4);
    CHECK(late >= 4);
    CHECK(own >= 4);
    CHECK(unstated >= (attends(made) ? 4 : 0));
    if (attends(made)) return;
    CHECK(delayed >= 4);
    CHECK(local >= 4);
    CHECK(whole >= 4);
    CHECK(loops >= 4);
}
