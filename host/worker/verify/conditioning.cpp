#include "worker/verify/conditioning.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>
#include <gnnbench/training/problem.hpp>

#include "check/kinks.hpp"
#include "check/perturbed_backend.hpp"

namespace gnnbench {
namespace {

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

/// The plain run's steps once more on another back end.
Epochs train(const VerificationCase& c, const Epochs& plain, const MakeBackend& backend,
             const std::shared_ptr<Ledger>& ledger) {
    TrainingRun training(c, backend(), ledger);
    Epochs all;
    for (std::size_t e = 0; e < plain.loss.size(); ++e) {
        all.loss.push_back(training.epoch(static_cast<std::int64_t>(e), plain.waits[e]));
        all.gradient.push_back(training.gradients());
    }
    return all;
}

/// Largest errors over epochs: of the loss, then of each matrix, as Agreement measures them. Beside a gradient whose
/// terms cancel, it is the terms that count.
std::vector<double> errors(const Epochs& found, const Epochs& basis, const ReferenceResult& reference) {
    const Agreement allowed = agreement_for(DType::f32);
    std::vector<double> largest = {largest_loss_error(found.loss, basis.loss)};
    for (std::size_t e = 0; e < found.gradient.size(); ++e) {
        const auto &mine = found.gradient[e].matrices, &theirs = basis.gradient[e].matrices;
        largest.resize(1 + mine.size());
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const double d = distance(mine[i].values, theirs[i].values);
            if (d == 0) continue;
            const double terms = reference.scale.empty() ? 0 : reference.scale[e][i];
            const double size = std::max(norm(theirs[i].values), allowed.floor / allowed.tolerance * terms);
            largest[1 + i] = std::max(largest[1 + i], std::isfinite(d) ? d / size : INFINITY);
        }
    }
    return largest;
}

Epochs perturbed_run(const VerificationCase& c, const Epochs& plain, KinkHistory& history, std::uint64_t seed,
                     const std::shared_ptr<Ledger>& ledger) {
    const Problem& p = c.problem;
    const ModelWeights first = perturbed(*first_weights_of(p), seed);
    const Problem moved{p.dataset, p.index, p.model, p.train, p.params, &first, p.ranks, {}, p.threads};
    const VerificationCase with_moved{.strategy = c.strategy,
                                      .problem = moved,
                                      .group = c.group,
                                      .backend = c.backend,
                                      .float64_backend = c.float64_backend,
                                      .dtype = c.dtype,
                                      .separate_wait = c.separate_wait,
                                      .threads = c.threads};
    return train(
        with_moved, plain,
        [&] {
            auto replay = std::make_unique<KinkReplay>(c.float64_backend(), history, KinkReplay::Notes::reach);
            return std::make_unique<PerturbedBackend>(std::move(replay), seed, c.group.rank(), c.threads);
        },
        ledger);
}

/// The first turn that rounding does not explain, of any rank; empty: it explains all of them.
std::string unexplained_turn(const KinkHistory& history, const ProcessGroup& group) {
    std::string mine;
    if (!history.fits) mine = fmt::format("rank {}: float32 and float64 apply other activations", group.rank());
    for (const KinkTurn& t : history.turns) {
        if (!mine.empty()) break;
        if (std::abs(t.sum()) <= response_factor * t.reach) continue;
        mine = fmt::format(
            "rank {}: ReLU is on the other side of 0 at a sum of {:.3g}, which rounding moves by {:.1g} "
            "(application {}, element ({}, {}))",
            group.rank(), t.sum(), t.reach, t.application, t.row, t.col);
    }
    if (mine.empty() && history.left_out > 0)
        mine = fmt::format("rank {}: ReLU is on the other side of 0 at {} elements and more", group.rank(),
                           history.turns.size());
    for (const std::string& text : group.all_gather(mine))
        if (!text.empty()) return text;
    return {};
}

}  // namespace

Conditioning judge_conditioning(const VerificationCase& c, const Epochs& plain, const ReferenceResult& reference,
                                const std::shared_ptr<Ledger>& ledger) {
    KinkHistory history;
    const Epochs found =
        train(c, plain, [&] { return std::make_unique<KinkRecorder>(c.backend(), history); }, ledger);
    const Epochs basis = train(
        c, plain,
        [&] { return std::make_unique<KinkReplay>(c.float64_backend(), history, KinkReplay::Notes::turns); },
        ledger);
    const std::vector<double> off = c.group.maximum(errors(found, basis, reference));
    std::vector<double> response(off.size());
    const double agrees = agreement_for(DType::f32).tolerance;
    const auto allowance_of = [&](std::size_t i) { return std::max(agrees, response_factor * response[i]); };
    const auto in_doubt = [&] {
        for (std::size_t i = 0; i < off.size(); ++i)
            if (off[i] > allowance_of(i) && off[i] <= doubtful_factor * allowance_of(i)) return true;
        return false;
    };
    for (int s = 1; s <= response_seeds || (s <= response_seeds_in_doubt && in_doubt()); ++s) {
        const auto seed = static_cast<std::uint64_t>(s);
        const std::vector<double> moved =
            c.group.maximum(errors(perturbed_run(c, plain, history, seed, ledger), basis, reference));
        for (std::size_t i = 0; i < moved.size(); ++i) response[i] = std::max(response[i], moved[i]);
    }

    Conditioning out;
    out.turns = static_cast<std::int64_t>(c.group.sum({static_cast<double>(history.turns.size())})[0]);
    for (std::size_t i = 0; i < off.size(); ++i) {
        out.response = std::max(out.response, response[i]);
        if (off[i] <= agrees) continue;
        const double allowance = allowance_of(i);
        const std::string name = i == 0 ? "loss" : reference.gradient.at(0).matrices.at(i - 1).name;
        if (allowance > largest_allowance && std::isfinite(off[i])) out.ill_conditioned = true;
        if (!(off[i] <= allowance) && !(allowance > largest_allowance && std::isfinite(off[i])) &&
            out.fault.empty())
            out.fault = fmt::format("{} by {:.2e}, where rounding explains {:.1e}", name, off[i], allowance);
        if (allowance <= out.allowance) continue;
        out.allowance = allowance;
        out.worst = name;
    }
    if (out.fault.empty() && !out.ill_conditioned) out.fault = unexplained_turn(history, c.group);
    return out;
}

}  // namespace gnnbench
