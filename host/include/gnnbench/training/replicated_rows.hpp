#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/row_parallel.hpp>

/// Shared by the 1.5D strategies: several ranks hold each block row of Â, and each of them multiplies a share
/// of the blocks. The strategies differ in how a rank obtains the rows of the other parts.

namespace gnnbench {

/// P ranks as a grid of P/c parts × c replicas; rank (i, k) is number i·c + k and holds part i. Replica k
/// multiplies the columns of blocks J_k = {k·P/c², …, (k+1)·P/c² − 1}, its stages.
struct ReplicatedLayout {
    int replication = 1;  ///< c
    Part parts = 1;       ///< P / c
    Part part = 0;        ///< i
    int replica = 0;      ///< k
    ReplicatedLayout(int ranks, int replication, int rank);
    bool stage(Part j) const { return j / (parts / replication) == replica; }
};

/// A rank on that grid. Its column is the ranks (·, k), one for each part, numbered by part.
struct ReplicatedRank {
    const ReplicatedLayout& layout;
    Rank rank;
    Communicator& column;
};

/// A product by one replica's stages, completed by all-reduces over the replicas.
class ReplicatedSpmm : public DistributedSpmm {
public:
    ReplicatedSpmm(const Problem& p, const ReplicatedRank& r);
    /// Z_i ← epilogue(Σ_k Ẑ_ik)
    void multiply(Direction d, MatrixView h_i, MatrixView z_i, const Epilogue& epilogue) final;
    void accumulate(Direction d, BlockSum& sum) final;

protected:
    const ReplicatedLayout layout_;
    Backend& backend_;
    Communicator& column_;

private:
    /// Ẑ_ik ← Σ_{j ∈ J_k} Â_ij H_j, or Âᵀ's blocks. No stage is the last.
    virtual void add_stages(Direction d, BlockSum& z_ik) = 0;

    Communicator row_;                         // ranks (i, ·): the replicas
    std::unique_ptr<PreparedMatrix> nothing_;  // [n_i × 0], if layers attend
};

/// The one parameter of every 1.5D scheme.
inline constexpr ParamDecl replication_parameter{
    "replication",
    ParamType::integer,
    "2",
    1,
    1024,
    nullptr,
    "c: how often every block row is held; c² must divide the number of ranks"};

/// A row-parallel strategy on that grid: P/c parts; each column of ranks holds the whole graph once, and sums its
/// own gradients and loss.
class ReplicatedRows : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const final;
    std::vector<ParamTexts> arrangements(int ranks) const final;
    PartitionNeed partition_need(const Setting& s) const final;
    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const final;
    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const final;
    void state_host_memory(HostStatement& m, const Problem& p, int rank) const final;
    AnyTrainer make_trainer(const Problem& p, Rank rank) const final;

private:
    /// What the ReplicatedSpmm cuts; by default its stages' blocks.
    virtual void state_stages(HostStatement& m, const Problem& p, const ReplicatedLayout& layout) const;
    virtual std::unique_ptr<ReplicatedSpmm> make_spmm(const Problem& p, const Adjacency& a,
                                                      const ReplicatedRank& r, std::int64_t widest) const = 0;
    /// The products of an epoch; by default aggregate_first_plan.
    virtual LayerPlan plan(const Problem& p) const;
    /// The volume of one product within the column of ranks. Its references must outlive it.
    virtual SpmmVolume stages_volume(const Problem& p, const ReplicatedLayout& layout,
                                     std::int64_t element_bytes) const = 0;
    /// The memory of the ReplicatedSpmm. Its references must outlive it.
    virtual StateSpmmMemory stages_memory(const Problem& p, const ReplicatedLayout& layout) const = 0;
};

}  // namespace gnnbench
