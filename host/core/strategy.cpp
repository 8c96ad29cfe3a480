#include <gnnbench/strategy.hpp>

#include <utility>

#include <gnnbench/error.hpp>

namespace gnnbench {

HostMatrix& ModelWeights::operator[](std::string_view name) {
    return const_cast<HostMatrix&>(std::as_const(*this)[name]);
}

const HostMatrix& ModelWeights::operator[](std::string_view name) const {
    for (const NamedMatrix& m : matrices)
        if (m.name == name) return m.values;
    throw DataError("the model has no matrix named " + std::string(name));
}

Trainer::~Trainer() = default;
StepObserver::~StepObserver() = default;
Strategy::~Strategy() = default;

Moments CollectiveTrainer::moments() { return {}; }

Step CollectiveTrainer::train_epoch(std::int64_t epoch) {
    const Step step = train_epoch_running_on(epoch);
    finish();
    return step;
}

Step CollectiveTrainer::train_epoch_running_on(std::int64_t epoch) {
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

const char* to_text(RowAges::Kind kind) { return kind == RowAges::Kind::features ? "features" : "gradients"; }

const char* to_text(ScoreMetric metric) { return metric == ScoreMetric::micro_f1 ? "micro-F1" : "accuracy"; }

std::string Strategy::approximation(const Params&) const { return {}; }
std::string Strategy::approximation_of(const ModelSpec&, const Params& params) const {
    return approximation(params);
}
std::string Strategy::why_unsupported(const Setting&) const { return {}; }
std::vector<ParamTexts> Strategy::arrangements(int) const { return {{}}; }
bool Strategy::trains_on_batches() const { return false; }
PartitionNeed Strategy::partition_need(const Setting& s) const { return {.parts = s.ranks}; }

}  // namespace gnnbench
