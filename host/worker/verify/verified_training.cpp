#include "worker/verify/verified_training.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/checked_backend.hpp"
#include "check/function_probe.hpp"
#include "worker/verify/conditioning.hpp"
#include "worker/records.hpp"
#include "worker/verify/stepped_case.hpp"
#include "worker/verify/training_run.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

void count_call(Ledger& ledger, std::string_view check) { ++ledger.count(check).calls; }

/// A comparison as a whole, with its largest error.
void count_agreement(Ledger& ledger, std::string_view check, const Agreement& a) {
    CheckCount& c = ledger.count(check);
    ++c.calls;
    const double ratio = std::max(a.loss_error, a.gradient_error) / a.tolerance;
    if (ratio <= c.worst_ratio) return;
    c.worst_ratio = ratio;
    c.worst = fmt::format("{}, {}", ledger.place(), a.worst.empty() ? "loss" : a.worst);
}

/// What one epoch of a training computed.
struct EpochResult {
    std::int64_t epoch;
    double loss;
    const ModelWeights& gradient;
    DType dtype;  ///< that it was computed in
};

/// Every rank has whole gradients; they are copies of each other but for the order in which replicas of 1.5D sum up.
/// Empty, or how this rank's differs.
std::string compare_copies(const VerificationCase& c, const EpochResult& mine, const ReferenceResult* reference,
                           Ledger& ledger) {
    ReferenceResult first{{mine.loss}, {mine.gradient}, {}};
    for (auto& [name, layer, role, m] : first.gradient[0].matrices)
        c.group.broadcast(m.values.data(), m.values.size() * sizeof(double), 0);
    if (reference) first.scale = {reference->scale.at(usize(mine.epoch))};
    Agreement copy = agreement_for(mine.dtype);
    copy.compare(0, mine.loss, mine.gradient, first);
    count_agreement(ledger, "copies", copy);
    if (copy.holds()) return {};
    return fmt::format("its copy of a gradient is {:.2e} off rank 0's ({})", copy.gradient_error,
                       copy.worst.substr(copy.worst.find(' ', 6) + 1));
}

/// A float32 run's differences that rounding may explain.
struct Doubt {
    std::string reference, copies;  ///< how it differs from the reference, how its copy does from rank 0's
    bool any() const { return !reference.empty() || !copies.empty(); }
};

std::string off(const Agreement& a) {
    return fmt::format("loss by {:.2e}, gradient by {:.2e} ({}); {:.0e} is allowed", a.loss_error,
                       a.gradient_error, a.worst, a.tolerance);
}

/// Run 1. Volume and agreement go to the ledger, but for what rounding may still explain.
Epochs plain_run(const VerificationCase& c, TrainingRun& training, const ReferenceResult* reference,
                 Ledger& ledger, VerifiedTraining& out, Doubt& doubt) {
    Agreement agreement = agreement_for(training.dtype());
    Epochs all;
    if (training.trains_input()) training.check_evaluation();  // once X is trained, weights alone do not decide
    std::string copies;
    for (std::int64_t e = 0; e < training.epochs(); ++e) {
        all.loss.push_back(training.epoch(e));
        all.waits.push_back(training.waits());
        if (!training.has_many_steps()) training.check_volume(e);
        all.gradient.push_back(training.gradients());
        const std::string differs =
            compare_copies(c, {e, all.loss.back(), all.gradient.back(), training.dtype()}, reference, ledger);
        if (copies.empty()) copies = differs;
        if (reference) agreement.compare(e, all.loss.back(), all.gradient.back(), *reference);
        if (c.approximate && !std::isfinite(all.loss.back()))
            ledger.add_fault("reference", "the loss is not finite, where the reference steps as far and stays so");
    }
    out.notes = training.notes();
    out.epoch = training.volume();
    if (c.evaluates) out.evaluation = training.evaluation();
    const bool may_be_rounding = reference && agreement.finite && training.dtype() == DType::f32;
    if (may_be_rounding)
        doubt.copies = copies;
    else if (!copies.empty())
        ledger.add_fault("copies", copies);
    if (!reference) return all;
    out.loss_error = agreement.loss_error;
    out.gradient_error = agreement.gradient_error;
    count_call(ledger, "reference");
    if (agreement.may_be_rounding() && may_be_rounding)
        doubt.reference = off(agreement);
    else if (!agreement.holds())
        ledger.add_fault("reference", "differs from the serial reference: " + off(agreement));
    return all;
}

/// Whole epochs, after run 1 has trained only the first steps of some.
void volume_run(const VerificationCase& c, const std::shared_ptr<Ledger>& ledger, VerifiedTraining& out) {
    TrainingRun training(c, c.backend(), ledger);
    for (std::int64_t e = 0; e < training.epochs(); ++e) {
        training.whole_epoch(e);
        training.check_volume(e);
    }
    out.epoch = training.volume();
}

/// All matrices around one step of the optimizer.
struct SgdStep {
    const ModelWeights &before, &after, &gradient;
    const TrainSpec& train;
};

/// w' = w − η(g + λw), what SGD makes of the gradients that the strategy returns. Otherwise it steps with others.
void judge_step(Ledger& ledger, const SgdStep& step, DType dtype) {
    const Rounding rounding = rounding_of(dtype);
    const double rate = step.train.learning_rate;
    for (std::size_t i = 0; i < step.before.matrices.size(); ++i) {
        const auto& [name, layer, role, before] = step.before.matrices[i];
        const HostMatrix &after = step.after.matrices.at(i).values,
                         &gradient = step.gradient.matrices.at(i).values;
        const bool decays = role != ParameterRole::bias && usize(layer) < step.train.weight_decay.size();
        const double decay = decays ? step.train.weight_decay[usize(layer)] : 0;
        Judgement j(ledger, "step", "of " + name);
        for (std::int64_t r = 0; r < before.rows; ++r)
            for (std::int64_t c = 0; c < before.cols; ++c) {
                const double w = before(r, c), g = gradient(r, c);
                j.near(r, c, after(r, c), w - rate * (g + decay * w),
                       rounding.gamma(12) * rate * (std::abs(g) + decay * std::abs(w)) +
                           2 * rounding.unit * std::abs(w) + rounding.smallest);
            }
    }
}

/// A NaN is itself.
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same_bits(const ModelWeights& a, const ModelWeights& b) {
    return std::ranges::equal(a.matrices, b.matrices, [](const NamedMatrix& m, const NamedMatrix& n) {
        return std::ranges::equal(m.values.values, n.values.values,
                                  [](double x, double y) { return x == y || same_bits(x, y); });
    });
}

/// The checked run's epoch against the plain run's. Whether they are equal to the bit.
bool compare_runs(Ledger& ledger, const EpochResult& checked, const Epochs& plain,
                  const ReferenceResult* reference) {
    const auto at = usize(checked.epoch);
    if (same_bits(checked.loss, plain.loss[at]) && same_bits(checked.gradient, plain.gradient[at])) {
        count_call(ledger, "rerun");
        return true;
    }
    ReferenceResult first{plain.loss, plain.gradient, reference ? reference->scale : std::vector<GradientScale>()};
    Agreement again = agreement_for(checked.dtype);
    again.compare(checked.epoch, checked.loss, checked.gradient, first);
    count_agreement(ledger, "rerun", again);
    if (!again.holds())
        ledger.add_fault("rerun", "the same training, watched, differs from itself: " + off(again) +
                                      "; a missing wait, or numbers that are not set");
    return false;
}

std::unique_ptr<Backend> checked_backend(const VerificationCase& c, const std::shared_ptr<Ledger>& ledger) {
    return std::make_unique<CheckedBackend>(c.backend(), ledger, c.threads);
}

/// Run 2.
void checked_run(const VerificationCase& c, const Epochs& plain, const ReferenceResult* reference,
                 const std::shared_ptr<Ledger>& ledger, VerifiedTraining& out) {
    std::unique_ptr<Backend> backend = checked_backend(c, ledger);
    probe_functions(*backend, c.problem.model, c.problem.dataset.multi_label());
    TrainingRun training(c, std::move(backend), ledger);
    training.check_memory();
    ModelWeights weights = training.weights();
    for (std::int64_t e = 0; e < training.epochs(); ++e) {
        const double loss = training.epoch(e, plain.waits.at(usize(e)));
        const ModelWeights gradient = training.gradients();
        out.same_bits &= compare_runs(*ledger, {e, loss, gradient, training.dtype()}, plain, reference);
        ModelWeights stepped = training.weights();
        if (reference) judge_step(*ledger, {weights, stepped, gradient, c.problem.train}, training.dtype());
        weights = std::move(stepped);
    }
    training.check_allocations();
    training.evaluation();  // its verbs and messages
}

/// The trial's own optimizer under watch: its step depends on the epoch, so there are two.
void own_optimizer_run(const VerificationCase& c, const std::shared_ptr<Ledger>& ledger) {
    if (!c.own_training || c.own_training->optimizer == OptimizerKind::sgd) return;
    const Problem& p = c.problem;
    const Problem own{p.dataset,         p.index, p.model, *c.own_training, p.params,
                      p.initial_weights, p.ranks, {},      p.threads};
    const VerificationCase with_own{.strategy = c.strategy,
                                    .problem = own,
                                    .group = c.group,
                                    .backend = c.backend,
                                    .float64_backend = c.float64_backend,
                                    .dtype = c.dtype,
                                    .epochs = 2,
                                    .separate_wait = c.separate_wait,
                                    .threads = c.threads};
    TrainingRun training(with_own, checked_backend(c, ledger), ledger);
    for (std::int64_t e = 0; e < with_own.epochs; ++e) training.epoch(e);
}

/// Run 3.
void float64_run(const VerificationCase& c, const ReferenceResult& reference,
                 const std::shared_ptr<Ledger>& ledger, VerifiedTraining& out) {
    TrainingRun training(c, c.float64_backend(), ledger);
    Agreement agreement = agreement_for(DType::f64);
    for (std::int64_t e = 0; e < c.epochs; ++e) {
        const double loss = training.epoch(e);
        agreement.compare(e, loss, training.gradients(), reference);
    }
    training.check_evaluation();
    out.in_float64 = true;
    out.float64_error = std::max(agreement.loss_error, agreement.gradient_error);
    count_agreement(*ledger, "float64", agreement);
    if (!agreement.holds())
        ledger->add_fault("float64", "in float64 it differs from the serial reference: " + off(agreement));
}

double timed(auto&& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double largest(const ProcessGroup& group, double x) { return group.maximum({std::isnan(x) ? INFINITY : x})[0]; }

}  // namespace

void gather(const Ledger& mine, const ProcessGroup& group, VerifiedTraining& into) {
    json text = {{"faults", json::array()}, {"checks", json::object()}};
    for (const Fault& f : mine.faults()) text["faults"].push_back({f.check, f.text});
    for (const auto& [name, count] : mine.counts())
        text["checks"][name] = {count.calls, count.elements, std::min(count.worst_ratio, 1e300), count.worst};
    for (const std::string& rank : group.all_gather(text.dump())) {
        const json j = json::parse(rank);
        for (const json& f : j["faults"]) into.faults.push_back({f[0], f[1]});
        for (const auto& [name, count] : j["checks"].items()) {
            CheckCount& sum = into.checks[name];
            sum.calls += count[0].get<std::int64_t>();
            sum.elements += count[1].get<std::int64_t>();
            if (count[2].get<double>() <= sum.worst_ratio && !sum.worst.empty()) continue;
            sum.worst_ratio = count[2];
            sum.worst = count[3];
        }
    }
}

namespace {

/// What is left of a doubt where nothing else is wrong: the training's response to rounding decides.
void settle_doubt(const VerificationCase& c, const Doubt& doubt, const Epochs& plain,
                  const ReferenceResult& reference, const std::shared_ptr<Ledger>& ledger, VerifiedTraining& v) {
    const bool anywhere = c.group.maximum({doubt.any() ? 1.0 : 0.0})[0] > 0;
    if (!anywhere) return;
    const bool faulty = c.group.maximum({static_cast<double>(ledger->fault_count())})[0] > 0;
    Conditioning found;
    if (!faulty) found = judge_conditioning(c, plain, reference, ledger);
    v.response = found.response;
    if (faulty || !found.fault.empty()) {
        const std::string more = found.fault.empty() ? "" : "; " + found.fault;
        if (!doubt.reference.empty())
            ledger->add_fault("reference", "differs from the serial reference: " + doubt.reference + more);
        if (!doubt.copies.empty()) ledger->add_fault("copies", doubt.copies + more);
        if (!doubt.any() && !faulty)
            ledger->add_fault("reference", "other ranks differ from the serial reference");
        return;
    }
    if (found.ill_conditioned)
        v.ill_conditioned = fmt::format(
            "rounding to float32 moves this training by up to {:.1e} ({}), {:.0e} is the most "
            "that can be told from a fault",
            found.allowance, found.worst, largest_allowance);
    if (!doubt.any()) return;
    const std::string rest =
        found.allowance > 0
            ? fmt::format("is within {:.1e}, {} times the response to rounding", found.allowance, response_factor)
            : fmt::format("agrees within {:.0e}", agreement_for(DType::f32).tolerance);
    v.rounding = fmt::format("float32's rounding moves {}; {} elements of ReLU turn, and the rest {}",
                             doubt.reference.empty() ? doubt.copies : doubt.reference, found.turns, rest);
}

/// The three runs, the first by `training`.
void verify_epochs(const VerificationCase& c, std::unique_ptr<TrainingRun> training,
                   const ReferenceResult* reference, const std::shared_ptr<Ledger>& ledger, VerifiedTraining& v) {
    Epochs plain;
    Doubt doubt;
    v.plain_s = timed([&] {
        const bool few_steps = training->has_many_steps();
        plain = plain_run(c, *training, reference, *ledger, v, doubt);
        training->check_evaluation();
        training.reset();
        if (few_steps) volume_run(c, ledger, v);
    });
    v.checked_s = timed([&] {
        checked_run(c, plain, reference, ledger, v);
        own_optimizer_run(c, ledger);
    });
    if (reference && c.dtype == DType::f32) v.float64_s = timed([&] { float64_run(c, *reference, ledger, v); });
    if (reference) v.response_s = timed([&] { settle_doubt(c, doubt, plain, *reference, ledger, v); });
}

/// Independent workers: an epoch by `training`, and one under watch. No two such epochs are the same.
void verify_workers(const VerificationCase& c, std::unique_ptr<TrainingRun> training,
                    const std::shared_ptr<Ledger>& ledger, VerifiedTraining& v) {
    const auto one_epoch = [&](TrainingRun& run) {
        run.whole_epoch(0);
        run.check_volume(0);
        run.check_allocations();
        v.epoch = run.volume();
        v.notes = run.notes();
        run.check_evaluation();
    };
    v.plain_s = timed([&] { one_epoch(*training); });
    training.reset();
    v.checked_s = timed([&] {
        TrainingRun watched(c, checked_backend(c, ledger), ledger);
        watched.check_memory();  // which does not count what the kernel takes for itself
        one_epoch(watched);
    });
}

}  // namespace

VerifiedTraining verify_training(const VerificationCase& given, const ReferenceResult* known) {
    VerifiedTraining v;
    const SteppedCase stepped(given, known);
    const VerificationCase& c = stepped.get();
    const ReferenceResult* reference = stepped.reference();
    v.learning_rate = c.problem.train.learning_rate;
    const auto ledger = std::make_shared<Ledger>(c.group.rank());
    auto training = std::make_unique<TrainingRun>(c, c.backend(), ledger);
    if (training->advances_together())
        verify_epochs(c, std::move(training), c.approximate ? nullptr : reference, ledger, v);
    else
        verify_workers(c, std::move(training), ledger, v);
    gather(*ledger, c.group, v);
    v.volume_equal = std::ranges::none_of(v.faults, [](const Fault& f) { return f.check == "volume"; });
    v.loss_error = largest(c.group, v.loss_error);
    v.gradient_error = largest(c.group, v.gradient_error);
    v.float64_error = largest(c.group, v.float64_error);
    v.same_bits = largest(c.group, v.same_bits ? 0 : 1) == 0;
    for (const std::string& text : c.group.all_gather(v.rounding))
        if (v.rounding.empty()) v.rounding = text;
    if (reference && !reference->untame.empty()) v.ill_conditioned = reference->untame;
    return v;
}

}  // namespace gnnbench
