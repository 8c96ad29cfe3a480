#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/communicator.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>

namespace gnnbench {

/// A rank's rows under a vertex cut: those of its roots come first, copies of other ranks' roots follow. The entries of a row
/// lie on the ranks that have a copy of it.
class SharedRows {
public:
    virtual ~SharedRows();
    virtual std::int64_t roots() const = 0;
    /// What the copies of a row have summed up, each under its own maxima, becomes at the root the sum under the largest of
    /// all. Copies keep theirs.
    virtual void merge(const AttentionRows& sums) = 0;
    /// Each copy's row of these matrices [n × …], in turn, becomes its root's.
    virtual void copy_from_roots(std::span<const MatrixView> matrices) = 0;
    /// [n × 0]: a block without columns.
    virtual const PreparedMatrix& nothing() const = 0;
};

/// What a product by Â, or Âᵀ, adds up block after block.
class BlockSum {
public:
    virtual ~BlockSum();
    /// This rank's rows of B [n_p × width], contiguous, which the blocks of others need.
    virtual MatrixView operand() const = 0;
    /// Adds what block Â_pj, with the rows of B that belong to its columns, contributes to this rank's rows. Blocks come in
    /// any order, the stage says where each stands; one without nonzeros may be left out unless it is first or last.
    virtual void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) = 0;
    /// Backward, the same where part j has computed with other rows of this rank than it has now: own_then, of the forward
    /// pass' operand. Their gradients count as those of the rows that it has.
    virtual void add_for(const PreparedMatrix& a_pj, ConstMatrixView b_j, MatrixView own_then, Stage stage);
    /// Backward, but the operand is the forward pass': whoever still has the rows of others needs them no more.
    virtual bool again() const { return false; }
    /// After stages of which none was the last: what the ranks of `replicas`, all with the rows of this one, have each added
    /// up becomes the sum of all, completed. nothing [n_p × 0]: a block without columns, where layers attend.
    virtual void combine(Communicator& replicas, const PreparedMatrix* nothing) = 0;
    /// The same where ranks have copies of each other's rows. Throws LogicError where a sum is not merged by row.
    virtual void merge_copies(SharedRows& rows);
};

/// Z_p ← epilogue(Σ_j Â_pj B_j): SpMM.
class SpmmSum final : public BlockSum {
public:
    SpmmSum(Backend& backend, MatrixView b, MatrixView z, const Epilogue& e)
        : backend_(backend), b_(b), z_(z), epilogue_(e) {}
    MatrixView operand() const override { return b_; }
    void add(const PreparedMatrix& a_pj, ConstMatrixView b_j, Stage stage) override;
    void combine(Communicator& replicas, const PreparedMatrix* nothing) override;

private:
    Backend& backend_;
    MatrixView b_, z_;
    const Epilogue& epilogue_;
};

/// What a product by Âᵀ adds up on the ranks of the rows that it is of, not of those that it is for: each returns the sums
/// for rows that it has received. Those rows it receives once more.
class ReturnedSum {
public:
    /// Block Â_pj and its transpose.
    struct Block {
        const PreparedMatrix &block, &transposed;
    };
    virtual ~ReturnedSum();
    /// This rank's rows [n_p × a] that others receive once more, contiguous.
    virtual MatrixView again() const = 0;
    /// The sums [n_p × s], s ≤ a, contiguous, to which what others return is added.
    virtual MatrixView sums() const = 0;
    /// sums ← of block (Â_pp)ᵀ.
    virtual void add_own(const Block& a_pp) = 0;
    /// returned [n_j × s] ← what block (Â_pj)ᵀ contributes to the rows `received` [n_j × a], whose memory it may share;
    /// room [n_j × room_columns()]. All contiguous.
    virtual void sum_for(const Block& a_pj, MatrixView received, MatrixView room, MatrixView returned) = 0;
    virtual std::int64_t room_columns() const = 0;
};

/// Multiplies this rank's rows of Â or Âᵀ by a dense matrix that all ranks hold by rows: the one thing that a layer
/// asks of whoever distributes the graph.
class DistributedSpmm {
public:
    virtual ~DistributedSpmm();
    /// c [n_p × f] ← epilogue(Σ_j Â_pj B_j), or Âᵀ's blocks. b = B_p [n_p × f]. Both contiguous; they do not
    /// overlap. Leaves nothing in flight that touches b or c.
    virtual void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& epilogue) = 0;
    /// The same stages with another sum, such as attention's. Throws LogicError where a strategy has none, which refuses
    /// attention (row_parallel_why_unsupported).
    virtual void accumulate(Direction d, BlockSum& sum);
    /// Backward, where the plan's layers return their sums (returned_attention). Throws LogicError where a strategy has none.
    virtual void accumulate_returned(ReturnedSum& sum);
    /// g [n_p × f], what this rank's uses of its rows add to their gradients, summed over the ranks that have copies of a row:
    /// g itself where a strategy sums none, else valid until the next call.
    virtual ConstMatrixView summed_gradients(ConstMatrixView g) { return g; }
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

/// A strategy whose every product is a sum over blocks on the rank of its rows.
class StagedSpmm : public DistributedSpmm {
public:
    explicit StagedSpmm(Backend& backend) : backend_(backend) {}
    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& epilogue) final {
        SpmmSum sum(backend_, b, c, epilogue);
        accumulate(d, sum);
    }
    void accumulate(Direction d, BlockSum& sum) override = 0;

protected:
    Backend& backend_;
};

}  // namespace gnnbench
