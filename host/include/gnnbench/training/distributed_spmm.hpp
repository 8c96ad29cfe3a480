#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>

namespace gnnbench {

/// Multiplies this rank's rows of Â or Âᵀ by a dense matrix that all ranks hold by rows: the one thing that a layer
/// asks of whoever distributes the graph.
class DistributedSpmm {
public:
    virtual ~DistributedSpmm();
    /// c [n_p × f] ← epilogue(Σ_j Â_pj B_j), or Âᵀ's blocks. b = B_p [n_p × f]. Both contiguous; they do not
    /// overlap. Leaves nothing in flight that touches b or c.
    virtual void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& epilogue) = 0;
    /// Called before the products of a training epoch, and of a forward pass that only evaluates.
    virtual void begin_epoch(std::int64_t /*epoch*/) {}
    virtual void begin_evaluation() {}
    /// Called before each product of layer l of the plan.
    virtual void begin_layer(int /*l*/) {}
    /// CollectiveTrainer::finish, runs_on.
    virtual void finish() {}
    virtual bool runs_on() const { return false; }
    /// CollectiveTrainer::row_ages.
    virtual std::vector<RowAges> row_ages() const { return {}; }
    virtual std::string notes() const { return {}; }
};

}  // namespace gnnbench
