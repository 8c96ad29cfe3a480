#include "worker/verify/late_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/training/parameters.hpp>

#include "check/bounds.hpp"
#include "check/perturbed_backend.hpp"
#include "worker/verify/conditioning.hpp"
#include "worker/verify/evaluation_check.hpp"
#include "worker/records.hpp"
#include "worker/verify/verification.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench {
namespace {

/// How many times the difference that float32 makes in `serial` another order of summation may make.
constexpr double other_order = 16;
/// Beyond the tolerance by up to this factor a ReLU that turns explains a gradient where nothing tells what rounding does
/// to it; its single operations have been verified.
constexpr double turned_relu = 100;

/// Loss and gradients of one step.
struct StepResult {
    double loss = 0;
    ModelWeights gradient;
};

/// How far two steps are apart: the loss, then each matrix in ‖·‖_F.
std::vector<double> apart(const StepResult& a, const StepResult& b) {
    std::vector<double> d = {std::abs(a.loss - b.loss)};
    for (std::size_t i = 0; i < b.gradient.matrices.size(); ++i)
        d.push_back(distance(a.gradient.matrices.at(i).values, b.gradient.matrices[i].values));
    return d;
}

/// What a step should have been, and how far rounding moves each number of it. The numbers are the loss and each matrix.
struct Standard {
    explicit Standard(StepResult should_be)
        : step(std::move(should_be)),
          rounding(1 + step.gradient.matrices.size()),
          response(1 + step.gradient.matrices.size()) {}

    double size(std::size_t i) const {
        return i == 0 ? std::abs(step.loss) : norm(step.gradient.matrices[i - 1].values);
    }
    double allowed(std::size_t i, double tolerance) const {
        return std::max(tolerance * size(i), other_order * rounding[i]);
    }
    /// Beyond what is allowed, what rounding explains.
    double explained(std::size_t i, double tolerance) const {
        return std::max(turned_relu * tolerance * size(i), response_factor * response[i]);
    }

    StepResult step;
    std::vector<double> rounding;  ///< what float32 makes of `serial`
    std::vector<double>
        response;  ///< the most that random roundings of its verbs do; 0 where nothing was in doubt
};

constexpr double tolerance_of(DType dtype) { return dtype == DType::f32 ? 1e-4 : 1e-10; }

/// The epoch of `serial` from these weights, on this process alone.
StepResult serial_step(const EndedTraining& t, const ModelWeights& weights, std::unique_ptr<Backend> backend) {
    const ProcessGroup alone = mpi_self();
    VolumeCounter counter;
    Communicator self(backend->connect(alone), *backend, counter);
    const Problem& p = t.problem;
    const IndexMap index = IndexMap::one_part(p.dataset.graph.vertices());
    const Params params(t.catalog.find(PluginKind::strategy, "serial").params);
    ModelSpec model = p.model;
    model.sparse_features = false;
    const Problem problem{p.dataset, index, model, p.train, params, &weights};
    const auto trainer = t.catalog.strategy("serial")->make_collective_trainer(problem, {*backend, self, alone});
    StepResult r;
    r.loss = trainer->train_epoch(t.epochs).loss;
    r.gradient = trainer->gradients();
    return r;
}

/// On rank 0, which found this. One sample of float32 may turn no ReLU where another order of summation turns one, and a hub's
/// has moved a gradient by 2e-2: where what was found is beyond what else explains it, random roundings of every verb tell.
Standard reference_standard(const EndedTraining& t, const ModelWeights& weights, const StepResult& found) {
    Standard s(serial_step(t, weights, lone_reference(t.catalog)));
    if (t.dtype == DType::f64) return s;
    s.rounding = apart(serial_step(t, weights, lone_reference(t.catalog, DType::f32)), s.step);
    const std::vector<double> off = apart(found, s.step);
    const double tolerance = tolerance_of(t.dtype);
    const auto in_doubt = [&](double factor) {
        for (std::size_t i = 0; i < off.size(); ++i) {
            const double explained = std::max(s.allowed(i, tolerance), s.explained(i, tolerance));
            if (off[i] > explained && off[i] <= factor * explained) return true;
        }
        return false;
    };
    for (int seed = 1; seed <= response_seeds_in_doubt; ++seed) {
        if (!in_doubt(seed <= response_seeds ? std::numeric_limits<double>::max() : doubtful_factor)) break;
        const auto number = static_cast<std::uint64_t>(seed);
        auto moved = std::make_unique<PerturbedBackend>(lone_reference(t.catalog), number, 0, lone_threads());
        const std::vector<double> d = apart(serial_step(t, perturbed(weights, number), std::move(moved)), s.step);
        for (std::size_t i = 0; i < d.size(); ++i) s.response[i] = std::max(s.response[i], d[i]);
    }
    return s;
}

/// Rank 0's, on every rank.
Standard shared(std::optional<Standard> mine, const EndedTraining& t) {
    Standard s = mine ? std::move(*mine) : Standard({0, zero_weights(t.problem.model)});
    const auto share = [&](double* x, std::size_t count) { t.group.broadcast(x, count * sizeof *x, 0); };
    share(&s.step.loss, 1);
    share(s.rounding.data(), s.rounding.size());
    share(s.response.data(), s.response.size());
    for (NamedMatrix& m : s.step.gradient.matrices) share(m.values.values.data(), m.values.values.size());
    return s;
}

double relative(double off, double size) { return size > 0 ? off / size : off > 0 ? INFINITY : 0; }

void judge_step(const EndedTraining& t, const StepResult& found, const Standard& standard, Ledger& ledger,
                VerifiedTraining& out) {
    const double tolerance = tolerance_of(t.dtype);
    const std::vector<double> off = apart(found, standard.step);
    CheckCount& count = ledger.count("late-step");
    ++count.calls;
    for (std::size_t i = 0; i < off.size(); ++i) {
        ++count.elements;
        const std::string what = i == 0 ? "loss" : "gradient of " + standard.step.gradient.matrices[i - 1].name;
        const double size = standard.size(i), allowed = standard.allowed(i, tolerance);
        const double d = std::isfinite(off[i]) ? off[i] : INFINITY;
        double& error = i == 0 ? out.loss_error : out.gradient_error;
        if (i == 0 || d > standard.rounding[i]) error = std::max(error, relative(d, size));
        const double ratio = d <= allowed ? (allowed > 0 ? d / allowed : 0) : d / std::max(allowed, 1e-300);
        if (ratio > count.worst_ratio || count.worst.empty()) {
            count.worst_ratio = ratio;
            count.worst = fmt::format("{}, {}", ledger.place(), what);
        }
        if (ratio <= 1) continue;
        const double explained = standard.explained(i, tolerance);
        const std::string text =
            fmt::format("{} of epoch {} is {:.2e} off, relative to its size; {:.2e} is allowed", what, t.epochs,
                        d / std::max(size, 1e-300), std::max(allowed, explained) / std::max(size, 1e-300));
        if (d <= explained)
            out.rounding = text;
        else
            ledger.add_fault("late-step", text);
    }
}

/// Weights and moments before and after a step.
struct OptimizerState {
    ModelWeights weights;
    Moments moments;
};

OptimizerState state_of(CollectiveTrainer& trainer) { return {trainer.weights(), trainer.moments()}; }

/// One matrix's arrays around the update.
struct Update {
    const HostMatrix &before, &after, &gradient;
    const HostMatrix *first = nullptr, *second = nullptr, *first_after = nullptr, *second_after = nullptr;
    double decay = 0;
};

/// SGD: w' = w − η(g + λw). Adam and AdamW: Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2. The
/// step's number is how many there have been, whatever the trainer counts.
void judge_update(Judgement& j, const TrainSpec& o, std::int64_t step, const Update& u, const Rounding& rounding) {
    const double few = rounding.gamma(16), t = static_cast<double>(step);
    const double c1 = 1 - std::pow(o.beta1, t), c2 = 1 - std::pow(o.beta2, t);
    const bool apart = o.optimizer == OptimizerKind::adamw;
    for (std::int64_t r = 0; r < u.before.rows; ++r)
        for (std::int64_t c = 0; c < u.before.cols; ++c) {
            const double w = u.before(r, c), inside = apart ? 0 : u.decay * w, g = u.gradient(r, c) + inside,
                         g_size = std::abs(u.gradient(r, c)) + std::abs(inside);
            double update = g, size = g_size;
            if (u.first) {
                const double m = o.beta1 * (*u.first)(r, c) + (1 - o.beta1) * g,
                             v = o.beta2 * (*u.second)(r, c) + (1 - o.beta2) * g * g;
                const double m_after = (*u.first_after)(r, c), v_after = (*u.second_after)(r, c);
                j.near(
                    r, c, m_after, m,
                    few * (o.beta1 * std::abs((*u.first)(r, c)) + (1 - o.beta1) * g_size) + 4 * rounding.smallest);
                j.near(r, c, v_after, v,
                       2 * few * (o.beta2 * (*u.second)(r, c) + (1 - o.beta2) * g_size * g_size) +
                           4 * rounding.smallest);
                update = (m_after / c1) / (std::sqrt(std::max(0.0, v_after) / c2) + o.epsilon);
                size = std::abs(update);
            }
            const double shrink = apart ? u.decay * w : 0, rate = o.learning_rate;
            j.near(r, c, u.after(r, c), w - rate * (update + shrink),
                   few * rate * (size + std::abs(shrink)) + 4 * rounding.unit * std::abs(w) + rounding.smallest);
        }
}

void judge_optimizer(const EndedTraining& t, const OptimizerState& before, const OptimizerState& after,
                     const ModelWeights& gradient, Ledger& ledger) {
    const TrainSpec& train = t.problem.train;
    const bool moments = train.optimizer != OptimizerKind::sgd;
    const std::size_t count = before.weights.matrices.size();
    for (const Moments* m : {&before.moments, &after.moments})
        if (moments && (m->first.matrices.size() != count || m->second.matrices.size() != count))
            return ledger.add_fault("late-update",
                                    "the strategy is exact, but does not give its optimizer's moments "
                                    "(CollectiveTrainer::moments), so that its update cannot be verified");
    for (std::size_t i = 0; i < count; ++i) {
        const auto& [name, layer, role, values] = before.weights.matrices[i];
        const auto of = [&](const ModelWeights& m) { return moments ? &m.matrices[i].values : nullptr; };
        const bool decays = role != ParameterRole::bias && usize(layer) < train.weight_decay.size();
        Judgement j(ledger, "late-update", name);
        judge_update(j, train, t.epochs + 1,
                     {.before = values,
                      .after = after.weights.matrices.at(i).values,
                      .gradient = gradient.matrices.at(i).values,
                      .first = of(before.moments.first),
                      .second = of(before.moments.second),
                      .first_after = of(after.moments.first),
                      .second_after = of(after.moments.second),
                      .decay = decays ? train.weight_decay[usize(layer)] : 0},
                     rounding_of(t.dtype));
    }
}

/// The same strategy's step in another trainer. Its number is that of an epoch that nothing went wrong in, unless masks
/// of dropout depend on it.
Standard rebuilt_standard(const EndedTraining& t, const ModelWeights& weights) {
    const auto trainer = t.rebuild(weights);
    const bool drops = has_dropout(t.problem.model, t.problem.train);
    StepResult step;
    step.loss = trainer->train_epoch(drops ? t.epochs : 0).loss;
    step.gradient = trainer->gradients();
    return Standard(std::move(step));
}

}  // namespace

const char* to_text(LateStandard standard) {
    switch (standard) {
        case LateStandard::reference:
            return "the serial reference";
        case LateStandard::rebuilt:
            return "a trainer made anew";
        case LateStandard::none:
            break;
    }
    return "nothing but its own update";
}

LateStep check_late_step(const EndedTraining& t, CollectiveTrainer& trainer) {
    const auto start = std::chrono::steady_clock::now();
    LateStep late;
    Ledger ledger(t.group.rank());
    ledger.enter_epoch(t.epochs);
    const OptimizerState before = state_of(trainer);
    t.group.barrier();
    StepResult found;
    found.loss = over_ranks(trainer.train_epoch(t.epochs), t.group).loss;
    found.gradient = trainer.gradients();
    judge_optimizer(t, before, state_of(trainer), found.gradient, ledger);

    const bool knows_input = !trains_features(t.problem.params);
    ReferenceLogits logits;
    if (knows_input && t.reference_fits)
        logits = [&](const ModelWeights& weights) {
            return reference_logits(t.catalog, {t.problem.dataset, t.problem.model, t.problem.train}, weights,
                                    t.dtype);
        };
    if (t.reference_fits) check_evaluation(t.problem.dataset, t.group, t.dtype, trainer, logits, ledger);

    if (knows_input) {
        late.standard = t.reference_fits ? LateStandard::reference : LateStandard::rebuilt;
        std::optional<Standard> mine;
        if (!t.reference_fits)
            mine = rebuilt_standard(t, before.weights);
        else if (t.group.rank() == 0)
            mine = reference_standard(t, before.weights, found);
        judge_step(t, found, shared(std::move(mine), t), ledger, late.found);
    }
    gather(ledger, t.group, late.found);
    late.found.loss_error = t.group.maximum({late.found.loss_error})[0];
    late.found.gradient_error = t.group.maximum({late.found.gradient_error})[0];
    late.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return late;
}

}  // namespace gnnbench
