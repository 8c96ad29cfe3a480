// CAGNET, the 1D algorithm: block-row distribution with broadcasts.
// A. Tripathy, K. Yelick, A. Buluç, "Reducing Communication in Graph Neural Network Training", SC 2020, Algorithm 1.
//
//   Â_ij [n_i × n_j]   block of Â: rows of rank i, columns of rank j; rank i holds row i of blocks
//   H_j  [n_j × f]     rows of rank j;  W [f × g] on every rank
//   Û^i  [n × g]       what rank i adds to U = ÂᵀG in the outer-product backward
#include <array>

#include <fmt/format.h>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/training/stated_volume.hpp>

namespace gnnbench {
namespace {

constexpr std::array forward_alone{Direction::forward};
constexpr std::array backward_alone{Direction::backward};
constexpr std::array both_directions{Direction::forward, Direction::backward};

bool by_outer_product(const Params& params) { return params.choice("backward") == "outer_product"; }

ProductDirections directions(const Problem& p) {
    if (!by_outer_product(p.params)) return ProductDirections::both;
    return p.model.attends() ? ProductDirections::forward_and_transposed_blocks
                             : ProductDirections::forward_and_its_transposes;
}

LayerPlan plan(const Problem& p) {
    LayerPlan plan = aggregate_first_plan(p, by_outer_product(p.params) ? returned_attention : attention);
    if (p.params.choice("buffers") == "separate") plan.buffers = Buffers::separate;
    return plan;
}

/// Columns of the buffers for rows of other ranks, and of those for Û.
std::vector<std::int64_t> receive_columns(const Problem& p) {
    if (by_outer_product(p.params)) return plan(p).received_columns(forward_alone);
    return plan(p).received_columns(both_directions);
}
std::vector<std::int64_t> partial_columns(const Problem& p) { return plan(p).received_columns(backward_alone); }

class BlockRows final : public DistributedSpmm {
public:
    BlockRows(const Problem& p, const Adjacency& a, Rank rank)
        : rows_(a, p.index, rank.world.rank(), rank.backend, every_block, BlockLine::row, directions(p)),
          by_outer_product_(by_outer_product(p.params)),
          index_(p.index),
          backend_(rank.backend),
          world_(rank.world) {
        if (world_.size() > 1) receive_ = {backend_, index_.largest(), receive_columns(p)};
        if (!by_outer_product_) return;
        if (world_.size() > 1) partial_ = {backend_, index_.vertices(), partial_columns(p)};
        if (world_.size() > 1) room_ = backend_.matrix(index_.largest(), plan(p).widest_room());
        for (Part j = 0; j < world_.size(); ++j) row_counts_.push_back(index_.size(j));
    }

    void begin_layer(int l) override {
        receive_.begin_layer(l);
        partial_.begin_layer(l);
    }
    void multiply(Direction d, MatrixView h_i, MatrixView z_i, const Epilogue& e) override {
        if (d == Direction::backward && by_outer_product_) return outer_product(h_i, z_i, e);
        SpmmSum sum(backend_, h_i, z_i, e);
        accumulate(d, sum);
    }
    void accumulate(Direction d, BlockSum& z_i) override {
        const MatrixView h_i = z_i.operand();
        const Part i = world_.rank(), ranks = world_.size();
        for (Part j = 0; j < ranks; ++j) {
            // H_j ← broadcast from rank j
            const MatrixView h_j = j == i ? h_i : receive_.view(index_.size(j), h_i.cols);
            world_.broadcast_now(h_j, j);
            // Z_i ← Z_i + Â_ij H_j
            const bool first = j == 0, last = j == ranks - 1;
            const PreparedMatrix& a_ij = rows_.block(d, j);
            if (first || last || a_ij.nonzeros > 0) z_i.add(a_ij, h_j, {first, last});
        }
    }
    // Û^i's rows j ← of (Â_ij)ᵀ and the rows H_j, broadcast once more; then as an outer product.
    void accumulate_returned(ReturnedSum& sum) override {
        const Part i = world_.rank();
        const auto block = [&](Part j) {
            return ReturnedSum::Block{rows_.block(Direction::forward, j), rows_.block(Direction::backward, j)};
        };
        if (world_.size() == 1) return sum.add_own(block(0));
        const MatrixView again = sum.again(), partial = partial_.view(index_.vertices(), sum.sums().cols);
        for (Part j = 0; j < world_.size(); ++j) {
            const MatrixView h_j = j == i ? again : receive_.view(index_.size(j), again.cols);
            world_.broadcast_now(h_j, j);
            sum.sum_for(block(j), h_j, room_.view().reshaped(index_.size(j), sum.room_columns()),
                        partial.rows_from(index_.offset(j), index_.size(j)));
        }
        world_.reduce_scatter_now(partial, sum.sums(), row_counts_);
    }
    std::string notes() const override { return fmt::format("blocks: {}", rows_.formats()); }

private:
    void outer_product(MatrixView g_i, MatrixView u_i, const Epilogue& e) {
        if (world_.size() == 1)
            return backend_.spmm_transposed(rows_.block(Direction::forward, 0), g_i, u_i, {}, e);
        // Û^i ← (Â_i:)ᵀ G_i, all n rows of it, of rank n_i
        const MatrixView partial = partial_.view(index_.vertices(), g_i.cols);
        for (Part j = 0; j < world_.size(); ++j)
            backend_.spmm_transposed(rows_.block(Direction::forward, j), g_i,
                                     partial.rows_from(index_.offset(j), index_.size(j)));
        // U_j ← rows j of Σ_i Û^i
        world_.reduce_scatter_now(partial, u_i, row_counts_);
        backend_.apply(e, u_i);
    }

    PreparedBlocks rows_;
    bool by_outer_product_;
    const IndexMap& index_;
    Backend& backend_;
    Communicator& world_;
    LayerwiseBuffers receive_, partial_;  // [max n_j × f], [n × g]
    Matrix room_;                         // where rows j of Û^i are made, if they are more than a product
    std::vector<std::int64_t> row_counts_;
};

class Cagnet1d final : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const auto product = [&](Direction d, std::int64_t width) {
            if (d == Direction::forward || !by_outer_product(p.params))
                return block_row_volume(p.index, rank, width * element_bytes);
            VolumeStatement v(element_bytes);
            v.reduce_scatter(p.index.vertices() * width, p.index.size(rank) * width, p.index.parts());
            return v.total();
        };
        return row_parallel_volume(plan(p), product, p.index.parts(), rank, element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const auto product = [&](MemoryStatement& m, std::int64_t) {
            if (p.index.parts() == 1) return;
            LayerwiseBuffers::state_memory(m, p.index.largest(), receive_columns(p));
            if (!by_outer_product(p.params)) return;
            LayerwiseBuffers::state_memory(m, p.index.vertices(), partial_columns(p));
            m.matrix(p.index.largest(), plan(p).widest_room());
        };
        return row_parallel_memory(plan(p), p, rank, product, element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_owned_rows(m, p, rank);
        state_block_cuts(m, p, rank, BlockLine::row, every_block, directions(p));
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, plan(p), [&](const Adjacency& a, std::int64_t) {
            return std::make_unique<BlockRows>(p, a, rank);
        });
    }
};

constexpr ParamDecl parameters[] = {
    {"buffers", ParamType::choice, "separate", 0, 0, "separate|shared",
     "separate: each layer has its own for activations, their gradients, products and received rows, as CAGNET's "
     "released code; shared: as few as MG-GCN's"},
    {"backward", ParamType::choice, "broadcast", 0, 0, "broadcast|outer_product",
     "broadcast rows of G and multiply by the transpose's blocks, as released; or multiply this rank's own block "
     "row, transposed, and reduce-scatter the product, the paper's form for a matrix that is not symmetric"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Cagnet1d, "cagnet-1d", "1.2.0",
                "CAGNET 1D: block rows, broadcasts, aggregate first (Tripathy et al., SC 2020)",
                gnnbench::parameters)
