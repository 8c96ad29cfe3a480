#pragma once
#include <cstdint>
#include <functional>

#include <gnnbench/communicator.hpp>
#include <gnnbench/strategy.hpp>

#include "worker/energy.hpp"
#include "worker/records.hpp"
#include "worker/request.hpp"
#include "worker/trial.hpp"

/// How a training is driven and measured, which its trainer decides.

namespace gnnbench {

/// What both need, of one rank. All of it outlives the calls.
struct Measurement {
    const TrialRequest& request;
    const ProcessGroup& group;
    TrialRecord& record;
    Backend& backend;
    VolumeCounter& counter;  ///< of all the training's communicators
    std::int64_t vertices;   ///< of the dataset, for exports
    /// Whether what this rank counted in an epoch is as stated; not set where every epoch has the same, which the
    /// set-up's line states.
    std::function<bool(std::int64_t epoch, const Volume& counted)> as_stated;
    EnergyMeter* energy = nullptr;  ///< null: of simulated ranks, which take none

    std::int64_t epochs() const { return request.cell.warmup + request.cell.epochs; }
    bool warms_up(std::int64_t epoch) const { return epoch < request.cell.warmup; }
    /// Whether the energy of epochs is read before and after them.
    bool reads_energy() const { return energy && energy->reads(); }
    /// Whether this epoch's spans are kept. What is asked for as the last epoch may end earlier, which traces_last() tells.
    bool traces(std::int64_t epoch) const;
    bool traces_last() const;
    /// Whether the model is evaluated after this epoch, as the cell asks for; the last one always is.
    bool evaluates_after(std::int64_t epoch) const;
};

/// Waits until this rank's device has done what it was given, then for the other ranks: a device may still be computing
/// ÂX, say, when set-up returns. Collective.
void finish_given_work(const ProcessGroup& group, Backend& backend);

/// `count` epochs that follow one another without a pause, between barriers, in the trace and the counter. Their time,
/// operations and peak memory are their own: not set-up's, not those of an evaluation before. What the last one leaves in
/// flight is its own, too. `ended` is called at the end of each, on this rank, and should be short. Collective.
void timed_epochs(const ProcessGroup& group, Backend& backend, CollectiveTrainer& trainer, std::int64_t first,
                  std::int64_t count, const std::function<void(std::int64_t epoch, const Step& step)>& ended);
/// One.
Step timed_epoch(const ProcessGroup& group, Backend& backend, CollectiveTrainer& trainer, std::int64_t epoch);

/// Most epochs that follow one another without a pause, after which their lines are written.
inline constexpr std::int64_t longest_run = 32;

/// All epochs, of ranks that advance together; rank 0 writes a line for each. Each is measured between barriers; where
/// transfers run on into later epochs, several are, until the model is evaluated or spans are written. Collective.
TrialEnd measure_epochs(const Measurement& m, CollectiveTrainer& trainer);

/// All epochs, of independent workers: each writes a line when it leaves an epoch, and nobody waits for others. What
/// they had learned when they left an epoch is evaluated after all have ended. Collective.
TrialEnd measure_workers(const Measurement& m, IndependentTrainer& trainer);

}  // namespace gnnbench
