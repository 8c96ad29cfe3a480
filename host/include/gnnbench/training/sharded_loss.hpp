#pragma once
#include <cstdint>

#include <gnnbench/communicator.hpp>
#include <gnnbench/kernel.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/volume.hpp>

namespace gnnbench {

/// Softmax cross entropy where a rank holds some rows of the logits and a shard of their classes.
///
///   rows     this rank's rows; any set, possibly empty
///   line     `class_group`: ranks that hold the same rows; its rank k holds block k of the classes
///   (process_grid.hpp's
///            even blocks; some are empty where there are more ranks than classes)
///   holders  ranks that together hold each logit exactly once, this one's class group among them: the loss is
///            summed over them. Where logits are replicated, each replica has holders of its own.
///
/// The loss is Σ over counted rows of (m + log s − z_label) · scale, with m = max_c z_c and s = Σ_c exp(z_c − m)
/// of the whole row; m and s are all-reduced over the class group. All buffers are made by the constructor.
class ShardedLoss {
public:
    /// The communicators and the kernel must outlive it.
    ShardedLoss(Kernel& kernel, Communicator& class_group, Communicator& holders, std::int64_t rows,
                std::int64_t classes);

    std::int64_t first_class() const { return block_begin(classes_, class_group_.size(), class_group_.rank()); }
    std::int64_t class_count() const { return block_size(classes_, class_group_.size(), class_group_.rank()); }

    /// grad ← (softmax − onehot) · scale on counted rows, 0 on the others; may alias logits [rows ×
    /// class_count()]. Starts summing the loss, for value() to wait for.
    void start(ConstMatrixView logits, const LossInput& in, MatrixView grad);
    /// The loss over all holders' rows, of the last start(). Call it late, so that the device does not stall.
    double value();

    /// The whole rows of logits, gathered over the class group. For evaluation: it allocates.
    Matrix whole_rows(ConstMatrixView logits);
    /// Over all holders' rows, by gathered logits; each row counts once.
    Accuracy accuracy(ConstMatrixView logits, const LossInput& in);

    /// The volume of one start() and value() of one rank: two row vectors over the class group, one scalar over
    /// the holders. `class_rank` and `holder_rank` are its numbers in them.
    static Volume volume(std::int64_t rows, int class_ranks, int class_rank, int holder_ranks, int holder_rank,
                         std::int64_t element_bytes);
    static void state_memory(MemoryStatement& m, std::int64_t rows);

private:
    Kernel& kernel_;
    Communicator& class_group_;
    Communicator& holders_;
    std::int64_t rows_, classes_;
    Matrix maxima_, sums_;  ///< [rows × 1]
    Array<double> loss_;    ///< one
    Event summed_;
};

}  // namespace gnnbench
