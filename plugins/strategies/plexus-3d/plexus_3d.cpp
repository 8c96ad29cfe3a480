// Plexus: three-dimensional tensor-parallel full-graph training.
// A. K. Ranjan, "Scaling Parallel Full-graph GNN Training to Thousands of GPUs", M.S. thesis, University of
// Maryland, 2025, Algorithm 1 and sections 3 and 5.
//
//   X × Y × Z      the grid. Comments name the axes of layer 0; later layers cycle them (layout.hpp's roles)
//   A [n_Z × n_X]  shard of Â, replicated along Y. Three shards serve all layers, six with double permutation
//   F [n_X × f_Y]  the layer's input
//   H [n_Z × f_Y]  = A F
//   Q [n_Z × g_X]  = H W
//   W [f_Y × g_X]  cut further along Z, as layer 0's F is
#include <fmt/format.h>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/training/problem.hpp>

#include "sharded_state.hpp"
#include "stated_memory.hpp"

namespace gnnbench::plexus {
namespace {

class PlexusTrainer final : public CollectiveTrainer, private ShardedState {
public:
    PlexusTrainer(const Problem& problem, Rank rank, const Layout& layout, const VertexBlocks& vertices,
                  const SparsePlan& sparse, const Options& options, const EpochKind& kind)
        : ShardedState(problem, rank, layout, vertices, sparse, options, kind),
          output_order_(vertices.rows(layout.layers() - 1)),
          overlaps_blocks_(options.overlaps_blocks) {
        if (!kind.aggregated_input) return;
        aggregate_input(Pass::evaluation, 0);
        data_.features = Matrix();
        adjacency_.drop_layer_0();
    }

    Step train_step(std::int64_t epoch, std::int64_t) override {
        loss_.start(forward(Pass::training, epoch), data_.outputs.loss_input(), q(last()));
        for (int l = last(); l >= 0; --l) backward_layer(l, epoch);
        wait(scattered_);
        parameters_.step(feature_slots());
        return {.loss = loss_.value(), .samples = data_.outputs.samples};
    }
    Score evaluate() override { return loss_.score(forward(Pass::evaluation, 0), data_.outputs.loss_input()); }
    ModelWeights weights() override { return parameters_.weights(grid_.world()); }
    ModelWeights gradients() override { return parameters_.gradients(grid_.world()); }
    Moments moments() override { return parameters_.moments(grid_.world()); }

    /// Ranks along o gather whole rows; those along i hold the same rows, so one of each line gives them.
    OwnedRows embeddings() override {
        const Matrix whole = loss_.whole_rows(forward(Pass::evaluation, 0));
        const Roles roles = layout_.layer(last()).roles;
        if (layout_.at(roles.o) > 0 || layout_.at(roles.i) > 0) return {{}, HostMatrix(0, whole.cols())};
        return {output_order_.owned(layout_.at(roles.d)), backend_.download(whole)};
    }
    std::string notes() const override {
        const std::string products = products_.notes();
        return fmt::format("grid: {}; shards: {}{}{}", text(layout_.grid()), adjacency_.formats(),
                           products.empty() ? "" : "; ", products);
    }

private:
    ConstMatrixView forward(Pass pass, std::int64_t epoch) {
        for (int l = 0; l <= last(); ++l) forward_layer(l, pass, epoch);
        return q(last());
    }

    /// [Alg 1] FORWARD. Layers after the first omit line 2: the layer before left their F whole in place.
    /// [Sec 3.2]
    void forward_layer(int l, Pass pass, std::int64_t epoch) {
        const auto [o, i, d] = layout_.layer(l).roles;
        // [Alg 1, line 2] [Alg 1, line 3] [Alg 1, line 4]
        if (l > 0)
            aggregate(Direction::forward, l, f(l), h(l), &along(o));
        else if (!kind_.aggregated_input)
            aggregate_input(pass, epoch);
        // [Alg 1, line 5] All-gather W across Z
        const Gathered w = gathered_weights(l);
        // [Alg 1, line 6] [Eq 2.2] Q = SGEMM(H, W)
        const MatrixView h_l = l == 0 && kind_.aggregated_input ? dropped_aggregate(pass, epoch) : h(l);
        backend_.gemm(Transpose::no, h_l, Transpose::no, w.weight, q(l));
        const void* bias = problem_.model.bias ? w.bias.data : nullptr;
        if (l < last() && exchange(l + 1)) return spread(l, pass, epoch, bias);
        // [Alg 1, line 7] All-reduce Q across Y
        along(i).all_reduce_now(q(l));
        // [Alg 1, line 8] [Eq 2.3] F = σ(Q), in place
        activate(epilogue(l, pass, epoch), bias, q(l));
    }
    void activate(Epilogue e, const void* bias, MatrixView z) {
        e.bias = bias;
        backend_.apply(e, z);
    }

    /// [Sec 8.1] In place of lines 7 and 8: Q's rows are reduced to their owners along Y, which apply σ and give
    /// F's rows to the ranks whose shards of A need them.
    void spread(int l, Pass pass, std::int64_t epoch, const void* bias) {
        RowExchange& rows = *exchange(l + 1);
        Communicator& line = along(layout_.layer(l).roles.i);
        const MatrixView next = f(l + 1), own = rows.own(next);
        line.reduce_scatter_now(q(l), own, row_counts(l));
        activate(epilogue(l, pass, epoch, first_own_row(l)), bias, own);
        rows.gather(next, line);
    }

    /// [Sec 8.1] Backward in place of line 18: dF's rows go back to their owners, which apply σ'; dQ is gathered
    /// whole, because dW = Hᵀ dQ needs all its rows.
    void collect(int l, std::int64_t epoch) {
        RowExchange& rows = *exchange(l);
        Communicator& line = along(layout_.layer(l).roles.d);
        rows.reduce(panel(l), line);
        // [Eq 2.4] dQ = dF ⊙ σ'(Q)
        backend_.apply_backward(epilogue(l - 1, Pass::training, epoch, first_own_row(l - 1)), rows.own(f(l)),
                                rows.own(panel(l)), own_rows(l - 1));
        line.all_gather_now(q(l - 1), row_counts(l - 1));
    }

    /// Layer 0: [Alg 1, line 2] All-gather F across Z, then as every layer.
    void aggregate_input(Pass pass, std::int64_t epoch) {
        const MatrixView f = gathered_features(pass, epoch);
        aggregate(Direction::forward, 0, f, h(0), &along(layout_.layer(0).roles.o));
    }

    /// [Alg 1, line 3] [Eq 2.1] H = SpMM(A, F) and [Alg 1, line 4] all-reduce H across X, or backward's lines 17
    /// and 18: each row block is reduced while the next is multiplied [Sec 5.2], or before. Without a line nothing is
    /// reduced.
    void aggregate(Direction direction, int l, MatrixView b, MatrixView c, Communicator* line) {
        const auto blocks = adjacency_.row_blocks(l, direction);
        std::int64_t first = 0;
        for (const auto& a : blocks) {
            const MatrixView rows = c.rows_from(first, a->rows);
            backend_.spmm(*a, b, rows);
            if (line && (a == blocks.back() || !overlaps_blocks_))
                line->all_reduce_now(rows);
            else if (line)
                reducing_.push_back(line->all_reduce(rows));
            first += a->rows;
        }
        for (const Event& e : reducing_) wait(e);
        reducing_.clear();
    }

    /// [Alg 1] BACKWARD. q(l) holds dQ.
    void backward_layer(int l, std::int64_t epoch) {
        const auto [o, i, d] = layout_.layer(l).roles;
        wait(scattered_);  // dW's buffer is free again
        // [Alg 1, line 12] [Eq 2.5] dW = SGEMM(Hᵀ, dQ), in the fastest order [Sec 5.3]; the bias is one more row
        // of W
        const Gathered dw = weight_gradient(l);
        products_.multiply(l, multiplied_h(l), q(l), dw.weight);
        if (problem_.model.bias) backend_.column_sums(q(l), dw.bias);
        // [Alg 1, line 13] Reduce-scatter dW across Z
        scattered_ = scatter_gradient(l);
        if (l == 0 && !kind_.trainable) return;  // F is fixed: dH is not needed
        // [Alg 1, line 14] All-gather W across Z
        const Gathered w = gathered_weights(l);
        // [Alg 1, line 15] [Eq 2.6] dH = SGEMM(dQ, Wᵀ), in H's place
        backend_.gemm(Transpose::no, q(l), Transpose::yes, w.weight, h(l));
        // [Alg 1, line 16] All-reduce dH across X
        along(o).all_reduce_now(h(l));
        // [Alg 1, line 17] [Eq 2.7] dF = SpMM(Aᵀ, dH)
        // [Alg 1, line 18] Reduce-scatter dF across Z in layer 0, all-reduce it in later ones [Sec 3.2]
        aggregate(Direction::backward, l, h(l), df(l), l > 0 && !exchange(l) ? &along(d) : nullptr);
        if (l == 0) return scatter_feature_gradient(epoch);
        if (exchange(l)) return collect(l, epoch);
        // [Eq 2.4] dQ = dF ⊙ σ'(Q) of the layer below
        backend_.apply_backward(epilogue(l - 1, Pass::training, epoch), q(l - 1), panel(l), q(l - 1));
    }

    void scatter_feature_gradient(std::int64_t epoch) {
        const LayerShape& s = layout_.layer(0);
        const Axis d = s.roles.d;
        if (!one_run(0))
            along(d).reduce_scatter_now(df(0), feature_gradient_, block_sizes(s.n_o, layout_.extent(d)));
        const Epilogue dropped = input_dropout(Pass::training, epoch);
        if (!dropped.empty())
            backend_.apply_backward(dropped, data_.features, feature_gradient_, feature_gradient_);
    }

    const IndexMap output_order_;  ///< of the last layer's rows
    const bool overlaps_blocks_;
    std::vector<Event> reducing_;  ///< row blocks in flight; empty between aggregations
    Event scattered_;              ///< dW's last reduce-scatter
};

class Plexus3d final : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const override {
        if (s.model.attends())
            return "trains GCN layers alone: a row's columns lie on the ranks of an axis, so that its "
                   "scores would take an all-reduce of H numbers a row and side along it (gatv2: H an "
                   "entry), and its softmax a maximum and a sum along the axis that shares its entries";
        if (s.model.kind != LayerKind::gcn)
            return "trains GCN layers alone: the roles of its axes alternate from one weight a layer to the next";
        const Options o = read_options(s.params);
        if (s.params.choice("grid") == "given" && (o.size[0] == 0 || o.size[1] == 0 || o.size[2] == 0))
            return "grid: given needs x, y and z; one of them is 0 (chosen automatically)";
        int given = 1;
        bool complete = true;
        for (const int size : o.size) {
            given *= size > 0 ? size : 1;
            complete = complete && size > 0;
        }
        if (complete ? given != s.ranks : s.ranks % given != 0)
            return fmt::format("the grid's given sizes multiply to {}, which {} {} ranks", given,
                               complete ? "is not" : "does not divide", s.ranks);
        if (s.model.sparse_features)
            return "sparse_features is for row-parallel schemes; this one cuts X by columns and all-gathers it";
        return why_input_not_aggregated(s);
    }

    std::vector<ParamTexts> arrangements(int ranks) const override {
        std::vector<ParamTexts> all;
        for (int x = 1; x <= ranks; ++x)
            for (int y = 1; x * y <= ranks; ++y)
                if (ranks % x == 0 && ranks / x % y == 0)
                    all.push_back({{"grid", "given"},
                                   {"x", std::to_string(x)},
                                   {"y", std::to_string(y)},
                                   {"z", std::to_string(ranks / x / y)}});
        return all;
    }

    /// A permutation of all vertices ignores parts; without one, the partition determines the order.
    PartitionNeed partition_need(const Setting& s) const override {
        return {.parts = read_options(s.params).permutation == Permutation::original ? s.ranks : 1};
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const Options o = read_options(p.params);
        const Layout of_rank = layout(p, rank);
        const SparsePlan sparse = plan(p, of_rank, o);
        return epoch_volume(of_rank, kind(p), sparse.traffic(of_rank.layers()), element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const Options o = read_options(p.params);
        const Layout of_rank = layout(p, rank);
        return held_memory(p, of_rank, plan(p, of_rank, o), o, kind(p), element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        const Options o = read_options(p.params);
        const Layout of_rank = layout(p, rank);
        state_set_up(m, p, of_rank, *vertex_blocks(p, of_rank, o), o);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        const Options o = read_options(p.params);
        const Layout of_rank = layout(p, rank.world.rank());
        return std::make_unique<PlexusTrainer>(p, rank, of_rank, *vertex_blocks(p, of_rank, o),
                                               plan(p, of_rank, o), o, kind(p));
    }

private:
    EpochKind kind(const Problem& p) const {
        const Options o = read_options(p.params);
        return {.aggregated_input = p.model.aggregate_input,
                .blocks = o.blocks,
                .trainable = o.trainable,
                .multi_label = p.dataset.multi_label()};
    }
    SparsePlan plan(const Problem& p, const Layout& of_rank, const Options& o) const {
        if (!o.sparse) return {};
        return SparsePlan(adjacency_of(p), *vertex_blocks(p, of_rank, o), of_rank);
    }
    Layout layout(const Problem& p, int rank) const {
        return Layout(choose_grid(p, read_options(p.params), kind(p)), p.model, p.index.vertices(), rank);
    }
};

constexpr ParamDecl parameters[] = {
    {"grid", ParamType::choice, "predicted", 0, 0, "predicted|auto|given",
     "predicted: x, y, z that are 0 are chosen for the shortest epoch by the thesis' model of its machine "
     "(chapter "
     "4); auto: for the fewest stated bytes; given: x, y and z are used as they are"},
    {"prediction", ParamType::choice, "per_rank", 0, 0, "per_rank|printed",
     "flops of a sparse product in that model: per_rank: a rank's; printed: those of all ranks, as section 4.1 "
     "has "
     "them"},
    {"x", ParamType::integer, "0", 0, 65536, nullptr, "ranks along X; 0: chosen"},
    {"y", ParamType::integer, "0", 0, 65536, nullptr, "ranks along Y; 0: chosen"},
    {"z", ParamType::integer, "0", 0, 65536, nullptr, "ranks along Z; 0: chosen"},
    {"permutation", ParamType::choice, "double", 0, 0, "double|single|none",
     "rows and columns permuted differently, alternating by layer (section 5.1); alike; none: the partition's "
     "order"},
    {"permutation_seed", ParamType::integer, "-1", -1, 0x1p53, nullptr,
     "seed of the permutations; -1: the cell's seed"},
    {"blocks", ParamType::integer, "1", 1, 4096, nullptr,
     "row blocks of an aggregation, each all-reduced while the next is multiplied (section 5.2)"},
    {"overlap_blocks", ParamType::boolean, "true", 0, 0, nullptr,
     "false: a row block is all-reduced before the next is multiplied, as the thesis measures its Figure 5.1"},
    {"gemm_tuning", ParamType::boolean, "false", 0, 0, nullptr,
     "time all orders and transposes of the dW product in the first epochs and keep the fastest (section 5.3)"},
    {gnnbench::trainable_features, ParamType::boolean, "false", 0, 0, nullptr,
     "train the input features along with the weights (section 3.1)"},
    {"sparse_all_reduce", ParamType::boolean, "false", 0, 0, nullptr,
     "between layers, send only the rows that the next layer's shard needs (section 8.1, the thesis' future "
     "work)"},
};

}  // namespace
}  // namespace gnnbench::plexus

GNNBENCH_PLUGIN(strategy, gnnbench::plexus::Plexus3d, "plexus-3d", "1.3.0",
                "Plexus: 3D tensor parallelism, double permutation, blocked aggregation (Ranjan, UMD 2025)",
                gnnbench::plexus::parameters)
