#pragma once
#include <memory>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/distributed_spmm.hpp>
#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/layer_plan.hpp>

namespace gnnbench {

/// Products by Â over boundaries: a rank receives the rows of others that its blocks' nonzero columns need, multiplies
/// by all of them at once, and returns the gradients of what it received to the rows' owners.
///
///   B_ij   boundary: rows of part j that part i needs
///   Â_ii   own block; Â_iB   the blocks of all other parts side by side, without their empty columns [n_i × Σ_j |B_ij|]
class BoundarySpmm : public DistributedSpmm {
public:
    /// `overlap`: the own block is multiplied while boundaries are under way, forward and backward; else before or after.
    BoundarySpmm(const Adjacency& a, const IndexMap& index, Rank rank, const LayerPlan& plan, bool overlap);
    static void state_memory(MemoryStatement& m, const HaloRoom& rows, const LayerPlan& plan);

    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override;
    /// Forward alone.
    void accumulate(Direction d, BlockSum& sum) override;
    /// Without overlap: rows arrive, sums leave.
    void accumulate_returned(ReturnedSum& sum) override;

protected:
    /// Â_ii or its transpose; Â_iB or its transpose.
    const PreparedMatrix& own(Direction d) const;
    const PreparedMatrix& remote(Direction d) const;
    HaloExchange& boundaries() { return boundaries_; }
    /// For a ReturnedSum.
    MatrixView room(std::int64_t columns) const { return room_.view().reshaped(room_.rows(), columns); }
    Backend& backend() { return backend_; }
    Communicator& world() { return world_; }

private:
    BoundarySpmm(const Adjacency& a, const HaloBlocks& halo, Rank rank, const LayerPlan& plan, bool overlap);
    void return_gradients(MatrixView v_i, MatrixView dh_i);

    Backend& backend_;
    Communicator& world_;
    bool overlap_;
    HaloExchange boundaries_;  ///< B_ij of all j, received, and B_ji, sent
    std::unique_ptr<PreparedMatrix> own_, own_transposed_, remote_, remote_transposed_;
    Matrix room_;  ///< where sums of received rows are made before they are returned
};

}  // namespace gnnbench
