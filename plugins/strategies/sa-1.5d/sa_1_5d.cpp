// Sparsity-aware CAGNET 1.5D: each replica exchanges only the rows that its stages' nonzero columns need, down its
// own column of ranks, and an all-reduce over the replicas completes the sum. U. Mukhodopadhyay, A. Tripathy, O.
// Selvitopi, K. Yelick, A. Buluç, "Sparsity-Aware Communication for Distributed Graph Neural Network Training",
// ICPP 2024, section 4.2.
//
//   rank (i, k)         part i of P/c, replica k of c (ReplicatedLayout); it multiplies the stages j ∈ J_k
//   H̃_j  [nzc(Â_ij) × f]  those rows of H_j that Â_ij needs, from rank (j, k)
//
// The released code sums dW over all ranks, so c times too often; here each column of ranks computes its own sum.
#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/replicated_rows.hpp>

namespace gnnbench {
namespace {

class ReplicatedSparseSpmm final : public ReplicatedSpmm {
public:
    ReplicatedSparseSpmm(const Problem& p, const Adjacency& a, const ReplicatedRank& r, std::int64_t widest)
        : ReplicatedSpmm(p, r) {
        const auto make_side = [&](Direction d) {
            const HaloBlocks halo(a, p.index, layout_.part, d, [&](Part j) { return layout_.stage(j); }, backend_);
            return std::make_unique<Side>(Side{HaloExchange(halo, backend_, widest), halo.own(), halo.remote()});
        };
        forward_ = make_side(Direction::forward);
        if (!a.symmetric()) backward_ = make_side(Direction::backward);
    }

private:
    void add_stages(Direction d, BlockSum& z_ik) override {
        const MatrixView h_i = z_ik.operand();
        Side& s = d == Direction::backward && backward_ ? *backward_ : *forward_;
        s.exchange.gather_now(column_, h_i);                    // H̃
        z_ik.add(*s.own, h_i, {.first = true, .last = false});  // Ẑ_ik ← Â_ii H_i, where i ∈ J_k
        // Ẑ_ik ← Ẑ_ik + Σ_{j ∈ J_k} Â_ij H̃_j
        z_ik.add(*s.halo, s.exchange.received(h_i.cols), {.first = false, .last = false});
    }

    struct Side {
        HaloExchange exchange;
        std::unique_ptr<PreparedMatrix> own, halo;
    };
    std::unique_ptr<Side> forward_, backward_;
};

class Sa15d final : public ReplicatedRows {
    std::unique_ptr<ReplicatedSpmm> make_spmm(const Problem& p, const Adjacency& a, const ReplicatedRank& r,
                                              std::int64_t widest) const override {
        return std::make_unique<ReplicatedSparseSpmm>(p, a, r, widest);
    }
    void state_stages(HostStatement& m, const Problem& p, const ReplicatedLayout& layout) const override {
        const auto stage = [&](Part j) { return layout.stage(j); };
        state_halo_cuts(m, p, layout.part, Direction::forward, stage);
        if (!adjacency_of(p).symmetric()) state_halo_cuts(m, p, layout.part, Direction::backward, stage);
    }
    SpmmVolume stages_volume(const Problem& p, const ReplicatedLayout& layout,
                             std::int64_t element_bytes) const override {
        const BlockCounts counts(adjacency_of(p), p.index, layout.part);
        return [counts, layout, element_bytes](Direction d, std::int64_t width) {
            return halo_volume({counts, layout.part, layout.parts, d, [&](Part j) { return layout.stage(j); }},
                               BackwardExchange::gather, CommOp::all_to_all, width * element_bytes);
        };
    }
    StateSpmmMemory stages_memory(const Problem& p, const ReplicatedLayout& layout) const override {
        const Adjacency a = adjacency_of(p);
        const BlockCounts counts(a, p.index, layout.part);
        return [counts, layout, symmetric = a.symmetric()](MemoryStatement& m, std::int64_t widest) {
            const auto stage = [&](Part j) { return layout.stage(j); };
            for (const Direction d : {Direction::forward, Direction::backward})
                if (d == Direction::forward || !symmetric)
                    state_halo_memory(m, {counts, layout.part, layout.parts, d, stage}, widest);
        };
    }
};

constexpr ParamDecl parameters[] = {replication_parameter};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(
    strategy, gnnbench::Sa15d, "sa-1.5d", "1.0.0",
    "sparsity-aware CAGNET 1.5D: needed rows only, replicated block rows (Mukhodopadhyay et al., ICPP 2024)",
    gnnbench::parameters)
