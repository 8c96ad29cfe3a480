#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "check/ledger.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench {

/// Verification trains at most this many steps of an epoch, and at most two epochs if they have several steps.
inline constexpr std::int64_t verified_steps = 3, verified_epochs_of_many_steps = 2;

/// Losses and gradients of a training, and the order in which it took messages, by epoch.
struct Epochs {
    std::vector<double> loss;
    std::vector<ModelWeights> gradient;
    std::vector<std::vector<std::size_t>> waits;
};

/// A strategy at work on its own back end while its training is verified. What its volume, memory and epochs show
/// goes to the ledger.
class TrainingRun {
public:
    /// `c` outlives it. Collective.
    TrainingRun(const VerificationCase& c, std::unique_ptr<Backend> backend, std::shared_ptr<Ledger> ledger);

    /// Whether ranks advance together; else they are independent workers.
    bool advances_together() const { return std::holds_alternative<std::unique_ptr<CollectiveTrainer>>(trainer_); }
    bool has_many_steps() const;
    /// Epochs to verify.
    std::int64_t epochs() const;

    /// One epoch, or the first steps of one that has many; its loss over all ranks. `waits`: the order in which the
    /// messages are taken, or empty: as they arrive. Independent workers train all of one epoch, and have no loss.
    double epoch(std::int64_t e, std::vector<std::size_t> waits = {});
    /// All steps of an epoch.
    void whole_epoch(std::int64_t e);

    /// Reading sharded matrices communicates, outside the epoch.
    ModelWeights gradients() { return uncounted(base(trainer_).gradients()); }
    ModelWeights weights() { return uncounted(base(trainer_).weights()); }
    /// What an evaluation moves.
    Volume evaluation();
    /// Logits and score as they are now. The reference's logits follow from the weights alone, so those of trained
    /// features only before the first epoch.
    void check_evaluation();
    bool trains_input() const;

    /// What was counted in the last epoch, which was a whole one, against what is stated of it.
    void check_volume(std::int64_t e);
    /// What set-up allocated against what is stated.
    void check_memory();
    /// Epochs allocate nothing.
    void check_allocations();

    const Volume& volume() const { return volume_; }                             ///< of the last epoch
    const std::vector<std::size_t>& waits() const { return backend_->waits(); }  ///< of the last epoch
    DType dtype() const { return backend_->dtype(); }
    std::string notes() const;

private:
    Step train(std::int64_t e, bool whole);
    Step timed(std::int64_t e, std::vector<std::size_t> waits, bool whole);
    ModelWeights uncounted(ModelWeights w);
    std::int64_t element_bytes() const { return static_cast<std::int64_t>(size_of(backend_->dtype())); }

    const VerificationCase& case_;
    std::shared_ptr<Ledger> ledger_;
    std::unique_ptr<Backend> backend_;
    VolumeCounter counter_;
    Communicator world_;
    AnyTrainer trainer_;
    Volume volume_;
    std::int64_t held_bytes_ = 0, allocations_ = 0;
    bool has_trained_ = false;
};

}  // namespace gnnbench
