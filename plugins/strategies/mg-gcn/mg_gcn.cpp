// MG-GCN: two-buffer pipelines that overlap communication with SpMM.
// M. F. Balın, K. Sancak, Ü. V. Çatalyürek, "MG-GCN: Scalable Multi-GPU GCN Training Framework", ICPP 2022.
//
//   A^ij [n_i × n_j]   tile of Â [Sec 4.1] [Eq 15]; a rank holds its tile row (the paper's choice) or tile column
//   H^j  [n_j × f]     rows of rank j
//   C^i  [n_i × f]     rows i of the product
//   BC1, BC2           buffers [max n_j × widest] for rows of other ranks: one is multiplied into or from while the
//                      other is in flight [Sec 4.3]
#include <array>
#include <memory>

#include <fmt/format.h>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/training/stated_volume.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

class Pipeline : public DistributedSpmm {
public:
    Pipeline(const Adjacency& a, const IndexMap& index, Rank rank, BlockLine line, std::int64_t widest,
             bool overlap)
        : tiles_(a, index, rank.world.rank(), rank.backend, every_block, line),
          backend_(rank.backend),
          world_(rank.world),
          overlap_(overlap),
          index_(index) {
        if (world_.size() == 1) return;
        bc_[0] = backend_.matrix(index.largest(), widest);
        if (overlap) bc_[1] = backend_.matrix(index.largest(), widest);
    }
    std::string notes() const override { return fmt::format("tiles: {}", tiles_.formats()); }

protected:
    /// The rows j of stage j: this rank's own, or the buffer that receives them.
    MatrixView rows(MatrixView own, Part j) const {
        if (j == world_.rank()) return own;
        return bc_[overlap_ ? j % 2 : 0].view().reshaped(index_.size(j), own.cols);
    }

    // Without overlap there is nothing to do in the meantime.
    Event broadcast(MatrixView rows, Part root) {
        if (overlap_) return world_.broadcast(rows, root);
        world_.broadcast_now(rows, root);
        return {};
    }
    Event reduce(MatrixView rows, Part root) {
        if (overlap_) return world_.reduce(rows, root);
        world_.reduce_now(rows, root);
        return {};
    }

    PreparedBlocks tiles_;
    Backend& backend_;
    Communicator& world_;
    bool overlap_;

private:
    const IndexMap& index_;
    std::array<Matrix, 2> bc_;
};

class BroadcastPipeline final : public Pipeline {
public:
    using Pipeline::Pipeline;
    void multiply(Direction d, MatrixView h_i, MatrixView c_i, const Epilogue& e) override {
        SpmmSum sum(backend_, h_i, c_i, e);
        accumulate(d, sum);
    }

    // C^i = Σ_j A^ij H^j in P stages: stage j multiplies while stage j + 1's broadcast is in flight. A broadcast
    // waits for the compute stream's earlier work, so for the SpMM that last read its buffer.
    void accumulate(Direction d, BlockSum& c_i) override {
        const MatrixView h_i = c_i.operand();
        const Part stages = world_.size();
        Event arrived = broadcast(rows(h_i, 0), 0);
        for (Part j = 0; j < stages; ++j) {
            const Event now = arrived;
            if (overlap_ && j + 1 < stages) arrived = broadcast(rows(h_i, j + 1), j + 1);
            backend_.wait(StreamRole::compute, now);
            // C^i ← C^i + A^ij H^j [Sec 4.1]
            const bool first = j == 0, last = j == stages - 1;
            const PreparedMatrix& a_ij = tiles_.block(d, j);
            if (first || last || a_ij.nonzeros > 0) c_i.add(a_ij, rows(h_i, j), {first, last});
            if (!overlap_ && !last) arrived = broadcast(rows(h_i, j + 1), j + 1);
        }
    }
};

class ReductionPipeline final : public Pipeline {
public:
    using Pipeline::Pipeline;

    // C^i = Σ_j A^ij H^j in P stages: rank j's part of C^i is in flight to rank i while stage i + 1 multiplies. A
    // stage writes its buffer only after the reduction of two stages before, which last read it.
    void multiply(Direction d, MatrixView h_j, MatrixView c_j, const Epilogue& e) override {
        std::array<Event, 2> reduced;
        for (Part i = 0; i < world_.size(); ++i) {
            Event& under_way = reduced[usize(i % 2)];
            backend_.wait(StreamRole::compute, under_way);
            const MatrixView c_ij = rows(c_j, i);
            backend_.spmm(tiles_.block(d, i), h_j, c_ij);  // A^ij H^j
            under_way = reduce(c_ij, i);                   // C^i ← Σ_j A^ij H^j at rank i [Sec 4.1]
        }
        for (const Event& last : reduced) backend_.wait(StreamRole::compute, last);
        backend_.apply(e, c_j);
    }
};

/// The volume of one product in which every rank's rows are the sum of all ranks' contributions.
Volume reduced_rows_volume(const IndexMap& index, int rank, std::int64_t row_bytes) {
    VolumeStatement v(row_bytes);
    for (Part root = 0; root < index.parts(); ++root) v.reduce(index.size(root), index.parts(), root == rank);
    return v.total();
}

/// T = ÂH; Z = TW.   dW = HᵀG, without dH: width f, and T is not kept. What the released code does with a layer 0 that
/// widens, beside the paper's own shortcut; not the gradient.
class AggregateFirstShortcut final : public Layer {
public:
    using Layer::Layer;
    std::int64_t width(Direction d) const override { return d == Direction::forward ? spec().f : 0; }
    bool aggregates_input() const override { return true; }
    void forward(const ForwardStep& s) const override {
        const MatrixView t = s.product(spec().f);
        s.aggregate(Direction::forward, s.h.dense, t);  // T = Â H
        // H' = σ(T W + b)
        s.backend.gemm(Transpose::no, t, Transpose::no, s.values.weight, s.z, {}, s.epilogue);
    }
    void backward(const BackwardStep& s) const override {
        bias_gradient(s);
        weight_gradients(s, s.h, s.g);  // dW ≈ Xᵀ G
    }
};

bool by_columns(const Params& params) { return params.choice("tiling") == "column"; }

class MgGcn final : public Strategy, public StatesHostMemory {
public:
    std::string approximation(const Params& params) const override {
        if (!params.boolean("gradient_shortcut")) return {};
        return "gradient shortcut: dW of layer 0 leaves out a product by Â";
    }
    std::string why_unsupported(const Setting& s) const override {
        if (s.params.boolean("gradient_shortcut") && s.model.aggregate_input)
            return "gradient_shortcut and aggregate_input exclude each other: both replace layer 0's backward "
                   "SpMM";
        if (s.params.boolean("gradient_shortcut") && s.model.kind != LayerKind::gcn)
            return "gradient_shortcut is section 4.4's for GCN layers; without Â's normalisation, or beside self "
                   "weights, what it leaves out is no small part of the gradient";
        return row_parallel_why_unsupported(
            s, by_columns(s.params)
                   ? "tiling: column sums parts of a row up on other ranks, and a softmax needs the "
                     "row's maximum first; tiling: row has whole rows"
                   : "");
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const auto product = [&](Direction, std::int64_t width) {
            const auto volume = by_columns(p.params) ? reduced_rows_volume : block_row_volume;
            return volume(p.index, rank, width * element_bytes);
        };
        return row_parallel_volume(plan(p), product, p.index.parts(), rank, element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const auto buffers = [&](MemoryStatement& m, std::int64_t widest) {  // BC1, BC2
            if (p.index.parts() > 1) m.matrix(p.index.largest(), (p.params.boolean("overlap") ? 2 : 1) * widest);
        };
        return row_parallel_memory(plan(p), p, rank, buffers, element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_owned_rows(m, p, rank);
        state_block_cuts(m, p, rank, by_columns(p.params) ? BlockLine::column : BlockLine::row, every_block);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        const bool overlap = p.params.boolean("overlap");
        const auto make_spmm = [&, overlap](const Adjacency& a,
                                            std::int64_t widest) -> std::unique_ptr<DistributedSpmm> {
            if (by_columns(p.params))
                return std::make_unique<ReductionPipeline>(a, p.index, rank, BlockLine::column, widest, overlap);
            return std::make_unique<BroadcastPipeline>(a, p.index, rank, BlockLine::row, widest, overlap);
        };
        return make_row_parallel_trainer(p, rank, plan(p), make_spmm);
    }

private:
    /// [Sec 4.4] SpMM first if d(l) < d(l+1), else GEMM first; and no SpMM in layer 0's backward. Exact, layer 0 keeps
    /// T = ÂX where that is cheaper than a second product. With the shortcut it never does: dW = Xᵀ G.
    LayerPlan plan(const Problem& p) const {
        LayerPlan plan = narrowest_plan(p);
        if (!p.params.boolean("gradient_shortcut")) return plan;
        if (p.model.widths[0] >= p.model.widths[1])
            plan.layers[0] = transform_first_shortcut(plan.spec(0));
        else
            plan.layers[0] = std::make_shared<AggregateFirstShortcut>(plan.spec(0));
        return plan;
    }
};

constexpr ParamDecl parameters[] = {
    {"tiling", ParamType::choice, "row", 0, 0, "row|column",
     "which tiles of the matrix a rank holds (section 4.1): its row, rows of H broadcast; its column, rows of the "
     "product reduced"},
    {"overlap", ParamType::boolean, "true", 0, 0, nullptr,
     "communicate for one stage while another is multiplied (section 4.3); off: one buffer, in sequence"},
    {"gradient_shortcut", ParamType::boolean, "false", 0, 0, nullptr,
     "layer 0's weight gradient without a product by the matrix, as the paper's section 4.4; not the exact "
     "gradient"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::MgGcn, "mg-gcn", "1.3.0",
                "MG-GCN: overlapped broadcasts or reductions, order of products by width, shared buffers (Balin "
                "et al., ICPP 2022)",
                gnnbench::parameters)
