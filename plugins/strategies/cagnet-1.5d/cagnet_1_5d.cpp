// CAGNET, the 1.5D algorithm: block rows replicated c times; each replica broadcasts and multiplies its share of
// the stages, and an all-reduce over the replicas completes the sum. A. Tripathy, K. Yelick, A. Buluç, "Reducing
// Communication in Graph Neural Network Training", SC 2020, section IV-B (after Koanantakool et al., IPDPS 2016).
//
//   rank (i, k)         part i of P/c, replica k of c (ReplicatedLayout)
//   Â_ij [n_i × n_j]    block of Â; rank (i, k) holds those of its P/c² stages j ∈ J_k
//   H_j  [n_j × f]      rows of part j, on all c ranks (j, ·)
#include <array>

#include <gnnbench/training/replicated_rows.hpp>
#include <gnnbench/training/stated_volume.hpp>

namespace gnnbench {
namespace {

LayerPlan layer_plan(const Problem& p) {
    LayerPlan plan = aggregate_first_plan(p);
    if (p.params.choice("buffers") == "separate") plan.buffers = Buffers::separate;
    return plan;
}

std::vector<std::int64_t> receive_columns(const Problem& p) {
    return layer_plan(p).received_columns(std::array{Direction::forward, Direction::backward});
}

class ReplicatedBroadcast final : public ReplicatedSpmm {
public:
    ReplicatedBroadcast(const Problem& p, const Adjacency& a, const ReplicatedRank& r)
        : ReplicatedSpmm(p, r),
          blocks_(a, p.index, layout_.part, backend_, [layout = layout_](Part j) { return layout.stage(j); }),
          index_(p.index) {
        if (column_.size() > 1) receive_ = {backend_, index_.largest(), receive_columns(p)};
    }
    void begin_layer(int l) override { receive_.begin_layer(l); }

private:
    void add_stages(Direction d, BlockSum& z_ik) override {
        const MatrixView h_i = z_ik.operand();
        bool first = true;
        for (Part j = 0; j < layout_.parts; ++j) {
            if (!layout_.stage(j)) continue;
            // H_j ← broadcast from rank (j, k) down column k
            const MatrixView h_j = j == layout_.part ? h_i : receive_.view(index_.size(j), h_i.cols);
            column_.broadcast_now(h_j, j);
            // Ẑ_ik ← Ẑ_ik + Â_ij H_j
            const PreparedMatrix& a_ij = blocks_.block(d, j);
            if (first || a_ij.nonzeros > 0) z_ik.add(a_ij, h_j, {.first = first, .last = false});
            first = false;
        }
    }

    PreparedBlocks blocks_;
    const IndexMap& index_;
    LayerwiseBuffers receive_;  // [max n_j × f]
};

class Cagnet15d final : public ReplicatedRows {
    std::unique_ptr<ReplicatedSpmm> make_spmm(const Problem& p, const Adjacency& a, const ReplicatedRank& r,
                                              std::int64_t) const override {
        return std::make_unique<ReplicatedBroadcast>(p, a, r);
    }
    LayerPlan plan(const Problem& p) const override { return layer_plan(p); }
    SpmmVolume stages_volume(const Problem& p, const ReplicatedLayout& layout,
                             std::int64_t element_bytes) const override {
        return [&p, layout, element_bytes](Direction, std::int64_t width) {
            VolumeStatement v(element_bytes);
            for (Part j = 0; j < layout.parts; ++j)
                if (layout.stage(j)) v.broadcast(p.index.size(j) * width, layout.parts, j == layout.part);
            return v.total();
        };
    }
    StateSpmmMemory stages_memory(const Problem& p, const ReplicatedLayout& layout) const override {
        return [&p, layout](MemoryStatement& m, std::int64_t) {
            if (layout.parts > 1) LayerwiseBuffers::state_memory(m, p.index.largest(), receive_columns(p));
        };
    }
};

constexpr ParamDecl parameters[] = {
    replication_parameter,
    {"buffers", ParamType::choice, "separate", 0, 0, "separate|shared",
     "separate: each layer has its own for activations, their gradients, products and received rows, as CAGNET's "
     "released code; shared: as few as MG-GCN's"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Cagnet15d, "cagnet-1.5d", "1.1.0",
                "CAGNET 1.5D: replicated block rows, fewer broadcasts, one all-reduce (Tripathy et al., SC 2020)",
                gnnbench::parameters)
