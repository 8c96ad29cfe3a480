// Schemes that compute with old rows, on `reference` in float64, against what PyTorch makes of their equations: losses, the
// last epochs' gradients, the last weights, and how old the rows were. On three ranks. staleness/make.py wrote
// staleness/cases.json.
#include <set>

#include "contract/strategy_selection.hpp"
#include "contract/torch_cases.hpp"

using namespace gnnbench;
using namespace gnnbench::contract::torch;
using contract::catalog;

namespace {

constexpr double allowed = 1e-10;

/// GCN whose rows are divided by their degrees.
contract::ModelVariant mean() {
    contract::ModelVariant v{.name = "mean"};
    v.model.normalisation = Normalisation::mean;
    return v;
}

Params params_of(const std::string& scheme, const json& values) {
    const auto declared = catalog().find(PluginKind::strategy, scheme).params;
    Params params(declared);
    for (const ParamDecl& p : declared)
        if (values.contains(p.name)) {
            const json& value = values.at(p.name);
            params.set(p, value.is_string() ? value.get<std::string>() : value.dump());
        }
    return params;
}

Partition partition_of(const json& c) {
    Partition p;
    p.parts = ProcessGroup::world().size();
    p.part_of = c.at("part_of").get<std::vector<Part>>();
    if (c.contains("part_of_entry")) p.part_of_entry = c.at("part_of_entry").get<std::vector<Part>>();
    return p;
}

/// As staleness/make.py writes them.
json ages_over_ranks(const CollectiveTrainer& trainer) {
    const ProcessGroup world = ProcessGroup::world();
    const auto sum = [&](std::int64_t mine) {
        return static_cast<std::int64_t>(world.sum({static_cast<double>(mine)})[0]);
    };
    json ages = json::array();
    for (const RowAges& a : trainer.row_ages())
        ages.push_back(
            {{"layer", a.layer},
             {"kind", to_text(a.kind)},
             {"rows", sum(a.rows)},
             {"absent", sum(a.absent)},
             {"sum_epochs", sum(a.sum_epochs)},
             {"most_epochs", static_cast<std::int64_t>(world.maximum({static_cast<double>(a.most_epochs)})[0])}});
    return ages;
}

/// How far a training with these parameters is from one case, as parts of what is compared.
struct Differences {
    double loss = 0, gradient = 0, weights = 0;  ///< relative
    bool ages = false, runs_on = false;
    std::int64_t memory = 0;  ///< held less stated bytes
    std::string volume;       ///< counted from what the case's own parameters state, on any rank
};

Differences differences(const json& made, const json& c, const json& with_params) {
    const OwnedDataset owned =
        dataset(made.at("graphs").at(c.at("graph").get<std::size_t>()), c.at("widths").at(0));
    const DatasetView data = owned.view();
    const ModelSpec model = model_of(c);
    const TrainSpec train = training_of(c, made.at("learning_rate"));
    const ModelWeights initial = matrices(c.at("initial"), model);
    const IndexMap index(partition_of(c));
    const std::string scheme = c.at("scheme");
    const Params params = params_of(scheme, with_params), stated_params = params_of(scheme, c.at("params"));
    const int ranks = ProcessGroup::world().size(), rank = ProcessGroup::world().rank();
    const auto strategy = catalog().strategy(scheme);
    const auto backend = catalog().kernel("reference")->create({.dtype = DType::f64});
    const Problem problem{data, index, model, train, params, &initial, ranks};
    const Problem as_stated{data, index, model, train, stated_params, &initial, ranks};
    contract::CheckedTraining training(*strategy, problem, *backend);
    CollectiveTrainer& trainer = training.trainer();
    Differences d;
    const std::int64_t epochs = c.at("epochs"), without_gradient = epochs - std::ssize(c.at("gradients"));
    for (std::int64_t e = 0; e < epochs; ++e) {
        training.counted();
        const double loss = trainer.train_epoch_running_on(e).loss, wanted = c.at("loss").at(usize(e));
        d.loss = std::max(d.loss, std::abs(loss - wanted) / wanted);
        if (d.volume.empty())
            d.volume = difference(strategy->stated_volume(as_stated, rank, sizeof(double), e), training.counted());
        if (e >= without_gradient) {
            const json& gradient = c.at("gradients").at(usize(e - without_gradient));
            d.gradient = std::max(d.gradient, worst_error(trainer.gradients(), matrices(gradient, model)));
        }
        d.ages = d.ages || ages_over_ranks(trainer) != c.at("ages").at(usize(e));
        // What evaluation exchanges is fresh, and leaves what the next epoch uses as it is.
        trainer.evaluate();
        if (!trainer.runs_on()) trainer.finish();
    }
    trainer.finish();
    d.runs_on = trainer.runs_on();
    d.memory = training.bytes_at_setup() - strategy->stated_memory(problem, rank, sizeof(double));
    d.weights = worst_error(trainer.weights(), matrices(c.at("final"), model));
    std::string of_ranks;
    for (const std::string& of_rank : ProcessGroup::world().all_gather(d.volume)) of_ranks += of_rank;
    d.volume = of_ranks;
    return d;
}

}  // namespace

TEST_CASE("schemes with old rows have the losses, gradients and weights of their equations in PyTorch") {
    const json made = read_cases("staleness/cases.json");
    REQUIRE(ProcessGroup::world().size() == made.at("parts").get<int>());
    std::set<std::string> seen;
    for (const json& c : made.at("cases")) {
        INFO(c.at("scheme") << " " << c.at("params") << ", layers " << c.at("layers") << ", widths "
                            << c.at("widths"));
        const Differences d = differences(made, c, c.at("params"));
        CHECK(d.loss <= allowed);
        CHECK(d.gradient <= allowed);
        CHECK(d.weights <= allowed);
        CHECK_FALSE(d.ages);
        CHECK(d.memory == 0);
        CHECK(d.volume == "");
        seen.insert(c.at("scheme").get<std::string>());
    }
    CHECK(seen == std::set<std::string>{"distgnn", "pipegcn", "sancus"});
}

TEST_CASE("transfers that run on into later epochs bring them the same") {
    const json made = read_cases("staleness/cases.json");
    REQUIRE(ProcessGroup::world().size() == made.at("parts").get<int>());
    std::map<std::string, int> ran;
    for (const json& c : made.at("cases")) {
        json running_on = c.at("params");
        const bool late = c.at("scheme") == "pipegcn" ? running_on.at("staleness") == 1
                                                      : running_on.value("algorithm", "") == "cd-r";
        if (!late) continue;
        running_on["transfers"] = "run_on";
        INFO(c.at("scheme") << " " << running_on << ", layers " << c.at("layers") << ", widths "
                            << c.at("widths"));
        const Differences d = differences(made, c, running_on);
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
    CHECK(ran["distgnn"] > 0);
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
    const contract::ModelVariant symmetric{.name = "default"};
    int ran = 0;
    for (const auto& [scheme, set] : exact)
        for (const contract::StrategyVariant& s : contract::variants(scheme, set)) {
            if (!catalog().strategy(scheme)->approximation(s.params).empty()) continue;
            for (const auto& g : graphs::of_every_kind()) {
                const contract::Outcome o = contract::run(s, "random", {"reference", DType::f64},
                                                          set.contains("degrees") ? mean() : symmetric, g);
                if (!o.skipped.empty()) continue;
                ++ran;
                INFO(scheme << " " << s.changed << ", graph " << g.name);
                INFO("loss error " << o.agreement.loss_error << ", gradient error " << o.agreement.gradient_error
                                   << "; allowed " << o.agreement.tolerance);
                CHECK(o.agreement.holds());
                CHECK(o.evaluation_problem == "");
                CHECK(o.volume_difference == "");
                CHECK(o.bytes_at_setup == o.stated_bytes);
            }
        }
    CHECK(ran > 30);
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
    const json made = read_cases("staleness/cases.json");
    REQUIRE(ProcessGroup::world().size() == made.at("parts").get<int>());
    int fresh = 0, unsmoothed = 0, late = 0, own = 0, delayed = 0, local = 0, whole = 0, loops = 0;
    for (const json& c : made.at("cases")) {
        json wrong = c.at("params");
        INFO(c.at("scheme") << " " << wrong << ", layers " << c.at("layers") << ", widths " << c.at("widths"));
        if (c.at("scheme") == "pipegcn" && wrong.at("staleness") == 1) {
            if (wrong.at("smoothing") != "none") {
                wrong.at("smoothing") = "none";  // smoothing forgotten
                const Differences d = differences(made, c, wrong);
                CHECK(d.loss > allowed);
                CHECK(d.gradient > allowed);
                ++unsmoothed;
            }
            wrong.at("staleness") = 0;  // off by one epoch
            const Differences d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.ages);
            ++fresh;
        }
        if (c.at("scheme") == "distgnn" && wrong.at("algorithm") != "0c") {
            if (wrong.at("algorithm") == "cd-r") {
                wrong.at("delay") = wrong.at("delay").get<int>() + 1;  // off by one epoch
                const Differences d = differences(made, c, wrong);
                CHECK(d.loss > allowed);
                CHECK(d.ages);
                CHECK(d.volume != "");
                ++delayed;
                wrong = c.at("params");
            }
            wrong.at("backward") =
                wrong.at("backward") == "local" ? "summed" : "local";  // gradients left where they are
            Differences d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.volume != "");
            wrong = c.at("params");
            wrong.at("algorithm") = "0c";  // an exchange left out that is stated
            d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.volume != "");
            ++local;
        }
        if (c.at("scheme") == "distgnn" && c.at("params").value("degrees", "") == "known" &&
            c.at("params").at("algorithm") != "cd-0") {
            wrong = c.at("params");
            wrong.at("degrees") = "whole";
            const Differences d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.volume == "");
            ++whole;
        }
        const bool has_loops = c.at("self_loops").get<bool>() || c.at("layers") == "gin";
        if (c.at("scheme") == "distgnn" && c.at("params").value("self_loops", "") == "copies" && has_loops &&
            c.at("params").at("algorithm") != "cd-0") {
            wrong = c.at("params");
            wrong.at("self_loops") = "root";
            const Differences d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.gradient > allowed);
            CHECK(d.volume == "");
            ++loops;
        }
        if (c.at("scheme") == "sancus" && wrong.at("policy") == "interval" && wrong.at("interval") > 1) {
            wrong.at("interval") = wrong.at("interval").get<int>() + 1;  // a broadcast left out that is stated
            Differences d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.ages);
            CHECK(d.volume != "");
            ++late;
            wrong = c.at("params");
            wrong.at("own_rows") = wrong.at("own_rows") == "fresh" ? "cached" : "fresh";
            d = differences(made, c, wrong);
            CHECK(d.loss > allowed);
            CHECK(d.volume == "");
            ++own;
        }
    }
    CHECK(fresh >= 4);
    CHECK(unsmoothed >= 4);
    CHECK(late >= 4);
    CHECK(own >= 4);
    CHECK(delayed >= 4);
    CHECK(local >= 4);
    CHECK(whole >= 4);
    CHECK(loops >= 4);
}
