// Sparsity-aware CAGNET 1.5D: each replica exchanges only the rows that its stages' nonzero columns need, down its own
// column of ranks, and an all-reduce over the replicas completes the sum.
// U. Mukhodopadhyay, A. Tripathy, O. Selvitopi, K. Yelick, A. Buluç, "Sparsity-Aware Communication for Distributed
// Graph Neural Network Training", ICPP 2024, section 4.2.
//
//   rank (i, k)         part i of P/c, replica k of c (ReplicatedLayout); it multiplies the stages j ∈ J_k
//   H̃_j  [nzc(Â_ij) × f]  those rows of H_j that Â_ij needs, from rank (j, k)
//
// The released code sums dW over all ranks and so c times too often; here each column of ranks sums its own.
#include <optional>

#include <gnnbench/halo.hpp>
#include <gnnbench/row_parallel.hpp>

namespace gnnbench {
namespace {

int replication_of(const Params& params) { return static_cast<int>(params.integer("replication")); }

class ReplicatedSparseSpmm final : public DistributedSpmm {
public:
    ReplicatedSparseSpmm(const Adjacency& a, const IndexMap& index, const ReplicatedLayout& layout, Rank rank,
                         Communicator& column, std::int64_t widest)
        : kernel_(rank.kernel), column_(column), row_(rank.world.split(layout.part, layout.replica)) {
        const auto make_side = [&](Direction d) {
            const Halo halo = make_halo(a, index, layout.part, d, [&](Part j) { return layout.stage(j); });
            return std::make_unique<Side>(
                Side{HaloExchange(halo, kernel_, widest), kernel_.prepare(halo.own), kernel_.prepare(halo.joined())});
        };
        forward_ = make_side(Direction::forward);
        if (!a.symmetric()) backward_ = make_side(Direction::backward);
    }

    void multiply(Direction d, MatrixView h_i, MatrixView z_i, const Epilogue& e) override {
        Side& s = d == Direction::backward && backward_ ? *backward_ : *forward_;
        const auto sends = s.exchange.pack(h_i);
        kernel_.wait(StreamRole::compute, column_.all_to_all(sends, s.exchange.receives(h_i.cols)));
        kernel_.spmm(*s.own, h_i, z_i);                                            // Ẑ_ik ← Â_ii H_i, where i ∈ J_k
        kernel_.spmm(*s.halo, s.exchange.received(h_i.cols), z_i, {.beta = 1});    // Ẑ_ik ← Ẑ_ik + Σ_{j ∈ J_k} Â_ij H̃_j
        kernel_.wait(StreamRole::compute, row_.all_reduce(z_i));                   // Z_i ← Σ_k Ẑ_ik
        kernel_.apply(e, z_i);
    }

private:
    struct Side {
        HaloExchange exchange;
        std::unique_ptr<PreparedMatrix> own, halo;
    };

    Kernel& kernel_;
    Communicator& column_;  // ranks (·, k): one of each part
    Communicator row_;      // ranks (i, ·): the replicas
    std::unique_ptr<Side> forward_, backward_;
};

class Sa15d final : public Strategy {
public:
    std::string why_unsupported(const Setting& s) const override {
        const std::string reason = ReplicatedLayout::why_unsupported(s.ranks, replication_of(s.params));
        return reason.empty() ? row_parallel_why_unsupported(s) : reason;
    }
    PartitionNeed partition_need(const Setting& s) const override { return {.parts = s.ranks / replication_of(s.params)}; }

    Volume stated_volume(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const int c = replication_of(p.params);
        const ReplicatedLayout layout(p.index.parts() * c, c, rank);
        const BlockCounts counts(Adjacency(p.dataset.graph, p.model), p.index);
        const auto product = [&](Direction d, std::int64_t width) {
            Volume v = halo_volume(counts, layout.part, layout.parts, d, BackwardExchange::gather,
                                   [&](Part j) { return layout.stage(j); }, CommOp::all_to_all, width * element_bytes);
            v += replica_sum_volume(layout, p.index.size(layout.part) * width, element_bytes);
            return v;
        };
        return row_parallel_volume(aggregate_first_plan(*this, p), p.model, product, layout.parts, layout.part, element_bytes);
    }

    std::unique_ptr<Trainer> make_trainer(const Problem& p, Rank rank) const override {
        const ReplicatedLayout layout(rank.world.size(), replication_of(p.params), rank.world.rank());
        const auto column = std::make_shared<Communicator>(rank.world.split(layout.replica, layout.part));
        return make_row_parallel_trainer(p, rank, {layout.part, column}, aggregate_first_plan(*this, p),
                                         [&](const Adjacency& a, std::int64_t widest) {
                                             return std::make_unique<ReplicatedSparseSpmm>(a, p.index, layout, rank, *column, widest);
                                         });
    }
};

constexpr ParamDecl parameters[] = {
    {"replication", ParamType::integer, "2", 1, 1024, nullptr,
     "c: how often every block row is held; c² must divide the number of ranks"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Sa15d, "sa-1.5d", "1.0.0",
                "sparsity-aware CAGNET 1.5D: needed rows only, replicated block rows (Mukhodopadhyay et al., ICPP 2024)",
                gnnbench::parameters)
