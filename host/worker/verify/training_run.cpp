#include "worker/verify/training_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/training/layer_zero.hpp>

#include "worker/verify/evaluation_check.hpp"
#include "worker/records.hpp"

namespace gnnbench {
namespace {

struct Unrecorded final : StepObserver {
    void begins(std::int64_t) override {}
    void stepped(const Step&) override {}
    void averaged(const Averaging&) override {}
};

}  // namespace

TrainingRun::TrainingRun(const VerificationCase& c, std::unique_ptr<Backend> backend,
                         std::shared_ptr<Ledger> ledger)
    : case_(c),
      ledger_(std::move(ledger)),
      backend_(std::move(backend)),
      world_(backend_->connect(c.group), *backend_, counter_) {
    ledger_->enter_epoch(-1);
    world_.separate_wait(c.separate_wait);
    const std::int64_t before = backend_->memory().current_bytes;
    trainer_ = c.strategy.make_trainer(c.problem, {*backend_, world_, c.group});
    held_bytes_ = backend_->memory().current_bytes - before;
    counter_.take();
}

bool TrainingRun::has_many_steps() const {
    const auto* together = std::get_if<std::unique_ptr<CollectiveTrainer>>(&trainer_);
    return together && (*together)->steps(0) > 1;
}

std::int64_t TrainingRun::epochs() const {
    return has_many_steps() ? std::min(case_.epochs, verified_epochs_of_many_steps) : case_.epochs;
}

double TrainingRun::epoch(std::int64_t e, std::vector<std::size_t> waits) {
    return over_ranks(timed(e, std::move(waits), false), case_.group).loss;
}

void TrainingRun::whole_epoch(std::int64_t e) { timed(e, {}, true); }

Step TrainingRun::timed(std::int64_t e, std::vector<std::size_t> waits, bool whole) {
    ledger_->enter_epoch(e);
    has_trained_ = true;
    backend_->order_waits(std::move(waits));
    case_.group.barrier();
    backend_->trace().begin_epoch();
    const std::int64_t allocations = backend_->memory().allocations;
    const Step step = train(e, whole);
    backend_->synchronize(StreamRole::compute);
    backend_->trace().end_epoch();
    volume_ = counter_.take();
    allocations_ += backend_->memory().allocations - allocations;
    return step;
}

Step TrainingRun::train(std::int64_t e, bool whole) {
    if (auto* alone = std::get_if<std::unique_ptr<IndependentTrainer>>(&trainer_)) {
        Unrecorded unrecorded;
        (*alone)->train(1, unrecorded);
        case_.group.wait_for_all();
        return {};
    }
    CollectiveTrainer& trainer = *std::get<std::unique_ptr<CollectiveTrainer>>(trainer_);
    if (whole || trainer.steps(e) <= verified_steps) return trainer.train_epoch(e);
    Step last;
    for (std::int64_t s = 0; s < verified_steps; ++s) last = trainer.train_step(e, s);
    return last;
}

Volume TrainingRun::evaluation() {
    base(trainer_).evaluate();
    return counter_.take();
}

bool TrainingRun::trains_input() const { return trains_features(case_.problem.params); }

void TrainingRun::check_evaluation() {
    const Problem& p = case_.problem;
    ReferenceLogits reference;
    if (case_.catalog && !(trains_input() && has_trained_))
        reference = [&](const ModelWeights& weights) {
            return reference_logits(*case_.catalog, {p.dataset, p.model, p.train}, weights, dtype());
        };
    gnnbench::check_evaluation(p.dataset, case_.group, dtype(), base(trainer_), reference, *ledger_);
    counter_.take();
}

void TrainingRun::check_volume(std::int64_t e) {
    ++ledger_->count("volume").calls;
    const StatedVolume stated =
        case_.strategy.stated_volume(case_.problem, case_.group.rank(), element_bytes(), e);
    if (const std::string differs = difference(stated, volume_); !differs.empty())
        ledger_->add_fault("volume", differs);
}

void TrainingRun::check_memory() {
    ++ledger_->count("memory").calls;
    const std::int64_t stated = case_.strategy.stated_memory(case_.problem, case_.group.rank(), element_bytes());
    if (held_bytes_ != stated)
        ledger_->add_fault("memory",
                           fmt::format("{} bytes of device memory are held, {} are stated", held_bytes_, stated));
}

void TrainingRun::check_allocations() {
    if (allocations_ > 0)
        ledger_->add_fault("memory", fmt::format("epochs allocate {} times; none may", allocations_));
}

std::string TrainingRun::notes() const { return notes_of(base(trainer_), *backend_); }

ModelWeights TrainingRun::uncounted(ModelWeights w) {
    counter_.take();
    return w;
}

}  // namespace gnnbench
