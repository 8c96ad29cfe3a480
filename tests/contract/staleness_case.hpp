#pragma once
#include <string>

#include "contract/strategy_case.hpp"
#include "contract/torch_cases.hpp"

/// A scheme that computes with old rows beside what PyTorch makes of its equations, which staleness/make.py wrote to
/// staleness/cases.json.
namespace gnnbench::contract::torch {

inline Params params_of(const std::string& scheme, const json& values) {
    const auto declared = catalog().find(PluginKind::strategy, scheme).params;
    Params params(declared);
    for (const ParamDecl& p : declared)
        if (values.contains(p.name)) {
            const json& value = values.at(p.name);
            params.set(p, value.is_string() ? value.get<std::string>() : value.dump());
        }
    return params;
}

inline Partition partition_of(const json& c, int parts) {
    Partition p;
    p.parts = parts;
    p.part_of = c.at("part_of").get<std::vector<Part>>();
    if (c.contains("part_of_entry")) p.part_of_entry = c.at("part_of_entry").get<std::vector<Part>>();
    return p;
}

/// As staleness/make.py writes them.
inline json ages_over_ranks(const CollectiveTrainer& trainer, const ProcessGroup& world) {
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

/// What each of them may be.
inline constexpr double allowed = 1e-10;

/// How far a training with these parameters is from one case, as parts of what is compared.
struct Differences {
    double loss = 0, gradient = 0, weights = 0;  ///< relative
    bool ages = false, runs_on = false;
    std::int64_t memory = 0;  ///< held less stated bytes
    std::string volume;       ///< counted from what the case's own parameters state, on any rank
};

/// On this rank of three. Collective.
inline Differences differences(const json& made, const json& c, const json& with_params, Backend& backend,
                               const ProcessGroup& world) {
    const OwnedDataset owned =
        dataset(made.at("graphs").at(c.at("graph").get<std::size_t>()), c.at("widths").at(0));
    const DatasetView data = owned.view();
    const ModelSpec model = model_of(c);
    const TrainSpec train = training_of(c, made.at("learning_rate"));
    const ModelWeights initial = matrices(c.at("initial"), model);
    const int ranks = world.size(), rank = world.rank();
    const IndexMap index(partition_of(c, ranks));
    const std::string scheme = c.at("scheme");
    const Params params = params_of(scheme, with_params), stated_params = params_of(scheme, c.at("params"));
    const auto strategy = catalog().strategy(scheme);
    const Problem problem{data, index, model, train, params, &initial, ranks};
    const Problem as_stated{data, index, model, train, stated_params, &initial, ranks};
    contract::CheckedTraining training(*strategy, problem, backend, false, world.split(0, rank));
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
            // As in autograd_check.cpp.
            const double least = model.attends() ? 1e-5 : 1e-12;
            d.gradient = std::max(d.gradient, worst_error(trainer.gradients(), matrices(gradient, model), least));
        }
        d.ages = d.ages || ages_over_ranks(trainer, world) != c.at("ages").at(usize(e));
        // What evaluation exchanges is fresh, and leaves what the next epoch uses as it is.
        trainer.evaluate();
        if (!trainer.runs_on()) trainer.finish();
    }
    trainer.finish();
    d.runs_on = trainer.runs_on();
    d.memory = training.bytes_at_setup() - strategy->stated_memory(problem, rank, sizeof(double));
    d.weights = worst_error(trainer.weights(), matrices(c.at("final"), model));
    std::string of_ranks;
    for (const std::string& of_rank : world.all_gather(d.volume)) of_ranks += of_rank;
    d.volume = of_ranks;
    return d;
}

}  // namespace gnnbench::contract::torch
