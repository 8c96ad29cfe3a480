// CAGNET, the 1.5D algorithm: block rows replicated c times; each replica broadcasts and multiplies its share of the
// stages, and an all-reduce over the replicas completes the sum.
// A. Tripathy, K. Yelick, A. Buluç, "Reducing Communication in Graph Neural Network Training", SC 2020, section IV-B
// (after Koanantakool et al., IPDPS 2016).
//
//   rank (i, k)         part i of P/c, replica k of c (ReplicatedLayout)
//   Â_ij [n_i × n_j]    block of Â; rank (i, k) holds those of its P/c² stages j ∈ J_k
//   H_j  [n_j × f]      rows of part j, on all c ranks (j, ·)
#include <gnnbench/row_parallel.hpp>

namespace gnnbench {
namespace {

int replication_of(const Params& params) { return static_cast<int>(params.integer("replication")); }

class ReplicatedBroadcast final : public DistributedSpmm {
public:
    ReplicatedBroadcast(const Adjacency& a, const IndexMap& index, const ReplicatedLayout& layout, Rank rank,
                        Communicator& column, std::int64_t widest)
        : layout_(layout),
          blocks_(a, index, layout.part, rank.kernel, [layout](Part j) { return layout.stage(j); }),
          index_(index),
          kernel_(rank.kernel),
          column_(column),
          row_(rank.world.split(layout.part, layout.replica)) {
        if (column_.size() > 1) receive_ = kernel_.matrix(index.largest(), widest);
    }

    void multiply(Direction d, MatrixView h_i, MatrixView z_i, const Epilogue& e) override {
        double beta = 0;
        for (Part j = 0; j < layout_.parts; ++j) {
            if (!layout_.stage(j)) continue;
            // H_j ← broadcast from rank (j, k) down column k
            const MatrixView h_j = j == layout_.part ? h_i : receive_.view().reshaped(index_.size(j), h_i.cols);
            kernel_.wait(StreamRole::compute, column_.broadcast(h_j, j));
            // Ẑ_ik ← Ẑ_ik + Â_ij H_j
            const PreparedMatrix& a_ij = blocks_.block(d, j);
            if (beta == 0 || a_ij.nonzeros > 0) kernel_.spmm(a_ij, h_j, z_i, {.beta = beta});
            beta = 1;
        }
        // Z_i ← Σ_k Ẑ_ik
        kernel_.wait(StreamRole::compute, row_.all_reduce(z_i));
        kernel_.apply(e, z_i);
    }

private:
    ReplicatedLayout layout_;
    PreparedBlocks blocks_;
    const IndexMap& index_;
    Kernel& kernel_;
    Communicator& column_;  // ranks (·, k): one of each part
    Communicator row_;      // ranks (i, ·): the replicas
    Matrix receive_;        // [max n_j × widest]
};

class Cagnet15d final : public Strategy {
public:
    std::string why_unsupported(const Setting& s) const override {
        const std::string reason = ReplicatedLayout::why_unsupported(s.ranks, replication_of(s.params));
        return reason.empty() ? row_parallel_why_unsupported(s) : reason;
    }
    PartitionNeed partition_need(const Setting& s) const override { return {.parts = s.ranks / replication_of(s.params)}; }

    Volume stated_volume(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const int c = replication_of(p.params);
        const ReplicatedLayout layout(p.index.parts() * c, c, rank);
        const auto product = [&](Direction, std::int64_t width) {
            Volume v;
            for (Part j = 0; j < layout.parts; ++j)
                if (layout.stage(j) && layout.parts > 1 && p.index.size(j) > 0)
                    v[{CommOp::broadcast, Content::payload}] +=
                        counting::broadcast(p.index.size(j) * width * element_bytes, layout.parts, j == layout.part);
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
                                             return std::make_unique<ReplicatedBroadcast>(a, p.index, layout, rank, *column, widest);
                                         });
    }
};

constexpr ParamDecl parameters[] = {
    {"replication", ParamType::integer, "2", 1, 1024, nullptr,
     "c: how often every block row is held; c² must divide the number of ranks"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Cagnet15d, "cagnet-1.5d", "1.0.0",
                "CAGNET 1.5D: replicated block rows, fewer broadcasts, one all-reduce (Tripathy et al., SC 2020)",
                gnnbench::parameters)
