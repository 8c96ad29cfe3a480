#pragma once
#include <cstdint>

#include <gnnbench/communicator.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/volume.hpp>

namespace gnnbench {

/// The loss where a rank holds some rows of the logits and a shard of their classes.
///
///   rows     this rank's rows; any set, possibly empty
///   line     `class_group`: ranks that hold the same rows; its rank k holds block k of the classes
///   (process_grid.hpp's
///            even blocks; some are empty where there are more ranks than classes)
///   holders  ranks that together hold each logit exactly once, this one's class group among them: the loss is
///            summed over them. Where logits are replicated, each replica has holders of its own.
///
/// With one label a vertex it is softmax cross-entropy, Σ over counted rows of (m + log s − z_label) · scale, with m =
/// max_c z_c and s = Σ_c exp(z_c − m) of the whole row; m and s are all-reduced over the class group. With a label
/// matrix it is binary cross-entropy, a sum over elements, for which class groups exchange nothing. All buffers are
/// made by the constructor.
class ShardedLoss {
public:
    /// The communicators and the back end must outlive it.
    ShardedLoss(Backend& backend, Communicator& class_group, Communicator& holders, std::int64_t rows,
                std::int64_t classes, bool multi_label);

    std::int64_t first_class() const { return block_begin(classes_, class_group_.size(), class_group_.rank()); }
    std::int64_t class_count() const { return block_size(classes_, class_group_.size(), class_group_.rank()); }

    /// grad ← (softmax − onehot) · scale on counted rows, or (σ − labels) · scale, 0 on the others; may alias logits
    /// [rows × class_count()]. Starts summing the loss, for value() to wait for.
    void start(ConstMatrixView logits, const LossInput& in, MatrixView grad);
    /// The loss over all holders' rows, of the last start(). Call it late, so that the device does not stall.
    double value();

    /// The whole rows of logits, gathered over the class group. For evaluation: it allocates.
    Matrix whole_rows(ConstMatrixView logits);
    /// Over all holders' rows; each row counts once. Accuracy is by gathered logits; micro-F1 needs no gathering.
    Score score(ConstMatrixView logits, const LossInput& in);

    /// The volume of one start() and value() of one rank: two row vectors over the class group, unless multi-label, and
    /// one scalar over the holders. `class_rank` and `holder_rank` are its numbers in them.
    static Volume volume(std::int64_t rows, bool multi_label, int class_ranks, int class_rank, int holder_ranks,
                         int holder_rank, std::int64_t element_bytes);
    static void state_memory(MemoryStatement& m, std::int64_t rows, bool multi_label);

private:
    Backend& backend_;
    Communicator& class_group_;
    Communicator& holders_;
    std::int64_t rows_, classes_;
    bool multi_label_;
    Matrix maxima_, sums_;  ///< [rows × 1], or none where multi-label
    Array<double> loss_;    ///< one
    Event summed_;
};

}  // namespace gnnbench
