#pragma once
#include <memory>
#include <string>
#include <vector>

#include "worker/verify/training_run.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench {

/// What rounding to float32 may do to a training, and whether that is what a float32 run's difference from the
/// reference is. Asked only of a run that differs by more than 1e-4 and whose single operations and float64 run are
/// clean (docs/decisions/verified-training.md).
struct Conditioning {
    double allowance = 0;          ///< the largest that a matrix, or the loss, needed; 0: none needed one
    double response = 0;           ///< the largest of any
    std::int64_t turns = 0;        ///< elements on whose ReLU rounding decided, over all ranks
    std::string worst;             ///< whose allowance that is: "W0", "loss"
    std::string fault;             ///< what rounding does not explain; empty: nothing
    bool ill_conditioned = false;  ///< an allowance above largest_allowance was needed
};

/// Seeds of the response, how many times its largest a difference may be, and what a cell may be allowed at most.
inline constexpr int response_seeds = 4;
inline constexpr double response_factor = 4, largest_allowance = 1e-2;
/// A difference up to so many times what is allowed is in doubt, and gets seeds until it is allowed, at most so many in all: the
/// leaky ReLU inside of an attention has a kink at each entry, whose sides are not given to the other runs, so that a few
/// of them may miss what one turn does.
inline constexpr double doubtful_factor = 4;
inline constexpr int response_seeds_in_doubt = 16;

/// `plain`: the run in float32 in question. Collective, and the same on all ranks. Makes six or more runs of the training:
///     one in float32, whose sides of ReLU are recorded;
///     one in float64, the basis, which takes these sides: what then differs from float32 is smooth;
///     response_seeds or more in float64, with these sides too, each verb perturbed as float32 may round it. They show how far
///     such rounding moves each gradient and the loss, and each sum on whose side basis and float32 disagree.
/// A side taken against the basis' own sum must be within response_factor times what rounding moves that sum (or the
/// sums of its row on average), a gradient within response_factor times what rounding moves it, or within 1e-4.
Conditioning judge_conditioning(const VerificationCase& c, const Epochs& plain, const ReferenceResult& reference,
                                const std::shared_ptr<Ledger>& ledger);

}  // namespace gnnbench
