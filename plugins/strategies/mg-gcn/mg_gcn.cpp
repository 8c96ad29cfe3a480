// MG-GCN: a two-buffer broadcast pipeline that overlaps with SpMM.
// M. F. Balın, K. Sancak, Ü. V. Çatalyürek, "MG-GCN: Scalable Multi-GPU GCN Training Framework", ICPP 2022.
//
//   A^ij [n_i × n_j]   tile of Â (section 4.1, equation 15); rank i holds tile row i
//   H^j  [n_j × f]     rows of rank j
//   BC1, BC2           receive buffers [max n_j × widest]: one is multiplied while the other is filled (section 4.3)
#include <array>

#include <fmt/format.h>

#include <gnnbench/row_parallel.hpp>

namespace gnnbench {
namespace {

class BroadcastPipeline final : public DistributedSpmm {
public:
    BroadcastPipeline(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest, bool overlap)
        : tiles_(a, index, rank.world.rank(), rank.kernel),
          index_(index),
          kernel_(rank.kernel),
          world_(rank.world),
          overlap_(overlap) {
        if (world_.size() == 1) return;
        bc_[0] = kernel_.matrix(index.largest(), widest);
        if (overlap) bc_[1] = kernel_.matrix(index.largest(), widest);
    }

    // C^i = Σ_j A^ij H^j in P stages: stage j multiplies while stage j + 1's broadcast is under way. A broadcast
    // waits for what the compute stream was given before it, so for the SpMM that last read its buffer.
    void multiply(Direction d, MatrixView h_i, MatrixView c_i, const Epilogue& e) override {
        const Part stages = world_.size();
        Event arrived = world_.broadcast(tile(h_i, 0), 0);
        for (Part j = 0; j < stages; ++j) {
            const Event now = arrived;
            if (overlap_ && j + 1 < stages) arrived = world_.broadcast(tile(h_i, j + 1), j + 1);
            kernel_.wait(StreamRole::compute, now);
            // C^i ← C^i + A^ij H^j
            const bool first = j == 0, last = j == stages - 1;
            const PreparedMatrix& a_ij = tiles_.block(d, j);
            if (first || last || a_ij.nonzeros > 0)
                kernel_.spmm(a_ij, tile(h_i, j), c_i, {.beta = first ? 0.0 : 1.0}, last ? e : Epilogue{});
            if (!overlap_ && !last) arrived = world_.broadcast(tile(h_i, j + 1), j + 1);
        }
    }
    std::string notes() const override { return fmt::format("tiles: {}", tiles_.formats()); }

private:
    /// H^j of stage j: this rank's own rows, or the buffer they are received in.
    MatrixView tile(MatrixView h_i, Part j) const {
        if (j == world_.rank()) return h_i;
        return bc_[overlap_ ? j % 2 : 0].view().reshaped(index_.size(j), h_i.cols);
    }

    PreparedBlocks tiles_;
    const IndexMap& index_;
    Kernel& kernel_;
    Communicator& world_;
    bool overlap_;
    std::array<Matrix, 2> bc_;
};

class MgGcn final : public Strategy {
public:
    std::string approximation(const Params& params) const override {
        if (!params.boolean("gradient_shortcut")) return {};
        return "gradient shortcut: dW of layer 0 and of widening layers leaves out a product by Â";
    }
    /// The shortcut replaces what the aggregated input would make exact.
    bool aggregates_input_by_default(const Params& params) const override {
        return !params.boolean("gradient_shortcut");
    }
    std::string why_unsupported(const Setting& s) const override {
        if (s.params.boolean("gradient_shortcut") && s.model.aggregate_input == AggregateInput::on)
            return "gradient_shortcut and aggregate_input exclude each other: both replace layer 0's backward SpMM";
        return row_parallel_why_unsupported(s);
    }

    Volume stated_volume(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const auto product = [&](Direction, std::int64_t width) { return block_row_volume(p.index, rank, width * element_bytes); };
        return row_parallel_volume(plan(p.model, p.train, p.params), p.model, product, p.index.parts(), rank, element_bytes);
    }

    std::unique_ptr<Trainer> make_trainer(const Problem& p, Rank rank) const override {
        const bool overlap = p.params.boolean("overlap");
        return make_row_parallel_trainer(
            p, rank, plan(p.model, p.train, p.params), [&, overlap](const Adjacency& a, std::int64_t widest) {
                return std::make_unique<BroadcastPipeline>(a, p.index, rank, widest, overlap);
            });
    }

private:
    /// Section 4.4: SpMM first if d(l) < d(l+1), else GEMM first.
    LayerPlan plan(const ModelSpec& m, const TrainSpec& t, const Params& params) const {
        const bool shortcut = params.boolean("gradient_shortcut");
        LayerPlan plan;
        for (std::size_t l = 0; l + 1 < m.widths.size(); ++l) {
            const bool widening = m.widths[l] < m.widths[l + 1];
            plan.order.push_back(widening ? (shortcut ? LayerOrder::aggregate_first_shortcut : LayerOrder::aggregate_first_kept)
                                          : (shortcut ? LayerOrder::transform_first_shortcut : LayerOrder::transform_first));
        }
        if (aggregates_input(*this, {1, m, t, params})) plan.order[0] = LayerOrder::aggregated_input;
        return plan;
    }
};

constexpr ParamDecl parameters[] = {
    {"overlap", ParamType::boolean, "true", 0, 0, nullptr,
     "broadcast the next tile while the present one is multiplied (section 4.3); off: one buffer, one after the other"},
    {"gradient_shortcut", ParamType::boolean, "false", 0, 0, nullptr,
     "the released code's first-layer and widening-layer weight gradients (section 4.4); not the exact gradient"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::MgGcn, "mg-gcn", "1.0.0",
                "MG-GCN: overlapped broadcasts, order of products by width, shared buffers (Balin et al., ICPP 2022)",
                gnnbench::parameters)
