#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

#include "check/ledger.hpp"
#include "plugin/loader.hpp"
#include "worker/verify/verification.hpp"

namespace gnnbench {

/// A training to verify. Everything but the functions is the same on all ranks.
struct VerificationCase {
    const Strategy& strategy;
    const Problem& problem;
    const ProcessGroup& group;
    std::function<std::unique_ptr<Backend>()> backend;          ///< the one under test
    std::function<std::unique_ptr<Backend>()> float64_backend;  ///< the same in float64 where it has that
    DType dtype = DType::f32;                                   ///< of the former
    /// As the trial trains: verification steps by SGD, so another optimizer is watched in two epochs of its own. Or
    /// null.
    const TrainSpec* own_training = nullptr;
    std::int64_t epochs = 5;
    bool separate_wait = false;
    int threads = 1;         ///< of this rank, for the checks
    bool evaluates = false;  ///< evaluates once after the plain run, for what that moves
    /// Where the reference's plugins are: logits are compared with its own. Null: scores are judged by the logits alone.
    const PluginCatalog* catalog = nullptr;
    bool approximate = false;  ///< the reference tells step size and epochs alone
};

/// What verifying found, of all ranks and on all ranks.
struct VerifiedTraining {
    double loss_error = 0, gradient_error = 0;  ///< against the reference, in the back end's type; 0 without one
    double float64_error = 0;                   ///< the larger of both in float64
    bool in_float64 = false;                    ///< whether run 3 was made
    bool volume_equal = true;
    bool same_bits = true;        ///< the checked training gave the plain one's losses and gradients to the bit
    std::string rounding;         ///< what is further off than 1e-4, where rounding explains that; else empty
    std::string ill_conditioned;  ///< why rounding alone may do anything to this training; else empty
    double learning_rate = 0;     ///< of the steps that were verified
    double response = 0;  ///< to rounding, the largest (worker/verify/conditioning.hpp); 0 where it was not asked
    std::vector<Fault> faults;                 ///< empty: verified
    std::map<std::string, CheckCount> checks;  ///< sums over ranks, worst of all
    double plain_s = 0, checked_s = 0, float64_s = 0, response_s = 0;
    std::string notes;  ///< this rank's, of the plain training
    Volume epoch,
        evaluation;  ///< this rank's, counted in the plain run: its last epoch; the evaluation, where asked
};

/// Verifies a training in three runs of it, stepping as the reference does. Collective. 1. plain, as it is timed:
/// losses and gradients are compared with the reference (1e-4 in float32) on every rank,
///     counted volume with the stated one; after the last epoch, logits with the reference's at the same weights and
///     the score with the logits (evaluation_check.hpp);
/// 2. checked: every verb and message by itself (check/checked_backend.hpp), the memory with the stated one, the
///     gradients with the step of the optimizer. Losses and gradients must equal the plain run's, because the checks
///     wait where the plain run might have forgotten to. Then two epochs with the trial's own optimizer, if that is
///     not SGD;
/// 3. in float64 against the reference (1e-10), if the back end's type is another.
/// Where float32 is further off than 1e-4 and 2 and 3 find nothing, the training's own response to rounding decides
/// (worker/verify/conditioning.hpp). `reference`: on rank 0; null if there is none to step by. A strategy that is
/// `approximate` is not compared with it, which leaves 2 and the volume. Of epochs with many steps, the first few of
/// two epochs are trained in each run, and whole epochs once more for their volumes. Independent workers train one
/// epoch plainly and one checked; volume and memory are held to what is stated, but the two are not compared, because
/// who meets whom depends on timing.
VerifiedTraining verify_training(const VerificationCase& c, const ReferenceResult* reference);

/// Ledgers of all ranks, put together on all ranks. Collective.
void gather(const Ledger& mine, const ProcessGroup& group, VerifiedTraining& into);

}  // namespace gnnbench
