#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include <gnnbench/backend.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/distributed_spmm.hpp>
#include <gnnbench/training/layer_plan.hpp>
#include <gnnbench/training/stated_memory.hpp>

#include "copy_exchange.hpp"
#include "held_copies.hpp"

namespace gnnbench::dist {

/// Sums of rows that attend, merged over the copies of a row.
///
/// A copy i of row v has z_i = Σ p h, Σ p λ' h, Σ p and Σ p λ' of its own entries, p = a exp(e − M_i), under the maximum M_i of
/// each head. With M = max_i M_i the row's sums are Σ_i exp(M_i − M) times those: what attention adds up over entries i whose
/// scores are M_i, before it divides. So the root attends once more, over one entry for each copy that has entries, and takes
/// its own sums as those of the entries before.
class AttendedCopies final : public SharedRows {
public:
    AttendedCopies(Backend& backend, CopyExchange& exchange, const HeldCopies& copies, const Adjacency& a,
                   const GraphView& graph, const LayerPlan& plan);
    /// Columns of the widest rows that travel.
    static std::int64_t widest(const LayerPlan& plan);
    static void state_memory(MemoryStatement& m, const HeldCopies& copies, const LayerPlan& plan);

    std::int64_t roots() const override { return copies_.roots(); }
    void merge(const AttentionRows& sums) override;
    void copy_from_roots(std::span<const MatrixView> matrices) override;
    const PreparedMatrix& nothing() const override { return *nothing_; }
    /// Over the copies of each row; valid until the next call of any of these.
    ConstMatrixView summed(ConstMatrixView g);

private:
    Backend& backend_;
    CopyExchange& exchange_;
    const HeldCopies& copies_;
    std::unique_ptr<PreparedMatrix> merging_, nothing_;  ///< [roots × lent], [rows × 0]
    Matrix rows_;                                        ///< [rows × widest()]: what is merged, summed or copied
    Matrix zeros_;                                       ///< [roots × most heads]: the roots' halves of scores
    Matrix room_;                                        ///< [roots × most heads]
};

}  // namespace gnnbench::dist
