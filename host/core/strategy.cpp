#include <gnnbench/strategy.hpp>

#include <utility>

#include <gnnbench/error.hpp>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/trained_features.hpp>

namespace gnnbench {

HostMatrix& ModelWeights::operator[](std::string_view name) {
    return const_cast<HostMatrix&>(std::as_const(*this)[name]);
}

const HostMatrix& ModelWeights::operator[](std::string_view name) const {
    for (const NamedMatrix& m : matrices)
        if (m.name == name) return m.values;
    throw DataError("the model has no matrix named " + std::string(name));
}

ModelWeights zero_weights(const ModelSpec& model) {
    ModelWeights out;
    for (const ParameterSpec& p : parameters_of(model))
        out.matrices.push_back({p.name, p.layer, p.role, HostMatrix(p.rows, p.cols)});
    return out;
}

namespace {

/// What ranks of one process share of a problem.
struct KeptProblem {
    std::shared_ptr<const Adjacency> adjacency;
    std::shared_ptr<const ModelWeights> first_weights;
};

}  // namespace

Adjacency Problem::adjacency() const {
    const auto make = [&] { return Adjacency(dataset.graph, model, threads, cost, shared); };
    return shared ? *made_once(&shared->of<KeptProblem>().adjacency, make) : make();
}

std::shared_ptr<const ModelWeights> Problem::first_weights() const {
    auto* const kept = shared ? &shared->of<KeptProblem>().first_weights : nullptr;
    return made_once(
        kept, [&] { return initial_weights ? *initial_weights : gnnbench::initial_weights(model, train.seed); });
}

Trainer::~Trainer() = default;
StepObserver::~StepObserver() = default;
Strategy::~Strategy() = default;

Moments CollectiveTrainer::moments() { return {}; }

Step CollectiveTrainer::train_epoch(std::int64_t epoch) {
    Step whole;
    double sum = 0;
    const std::int64_t count = steps(epoch);
    for (std::int64_t s = 0; s < count; ++s) {
        const Step step = train_step(epoch, s);
        if (count == 1) return step;  // not through a product and a quotient, which may round
        whole.samples += step.samples;
        whole.extent = step.extent;
        sum += step.loss * static_cast<double>(step.samples);
    }
    if (whole.samples > 0) whole.loss = sum / static_cast<double>(whole.samples);
    return whole;
}

std::unique_ptr<CollectiveTrainer> Strategy::make_collective_trainer(const Problem& problem, Rank rank) const {
    AnyTrainer trainer = make_trainer(problem, rank);
    auto* collective = std::get_if<std::unique_ptr<CollectiveTrainer>>(&trainer);
    require(collective != nullptr, "independent workers have no collective epochs");
    return std::move(*collective);
}

const char* to_text(ScoreMetric metric) { return metric == ScoreMetric::micro_f1 ? "micro-F1" : "accuracy"; }

std::string Strategy::approximation(const Params&) const { return {}; }
std::string Strategy::why_unsupported(const Setting&) const { return {}; }
std::vector<ParamTexts> Strategy::arrangements(int) const { return {{}}; }
bool Strategy::trains_on_batches() const { return false; }
PartitionNeed Strategy::partition_need(const Setting& s) const { return {.parts = s.ranks}; }

bool trains_features(const Params& params) {
    return params.values().contains(trainable_features) && params.boolean(trainable_features);
}

std::string why_input_not_aggregated(const Setting& s) {
    if (!s.model.aggregate_input) return {};
    if (s.model.kind == LayerKind::sage)
        return "aggregate_input replaces layer 0's input by its aggregate, and GraphSAGE's self weights need the "
               "input itself";
    if (s.train.input_dropout > 0)
        return "aggregate_input needs layer 0's input to stay the same, and input_dropout redraws it every epoch";
    if (trains_features(s.params))
        return "aggregate_input needs layer 0's input to stay the same, and trainable_features changes it every "
               "epoch";
    return {};
}

std::string why_features_not_sparse(const Setting& s) {
    if (!s.model.sparse_features) return {};
    if (s.model.aggregate_input)
        return "sparse_features and aggregate_input exclude each other: ÂX is far less sparse than X";
    if (s.train.input_dropout > 0)
        return "sparse_features needs layer 0's input to stay the same, and input_dropout redraws it every epoch";
    if (trains_features(s.params))
        return "sparse_features needs layer 0's input to stay the same, and trainable_features changes it every "
               "epoch";
    return {};
}

}  // namespace gnnbench
