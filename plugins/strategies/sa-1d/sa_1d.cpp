// Sparsity-aware CAGNET 1D: only the rows that the other side's nonzero columns need, in one all-to-all-v.
// U. Mukhodopadhyay, A. Tripathy, O. Selvitopi, K. Yelick, A. Buluç, "Sparsity-Aware Communication for Distributed
// Graph Neural Network Training", ICPP 2024, Algorithm 1.
//
//   Â_ij [n_i × n_j]    block of Â; rank i holds row i of blocks, with the empty columns of Â_ij, j ≠ i, left out
//   H_i  [n_i × f]      rows of rank i
//   H̃_j  [nzc(Â_ij) × f]  those rows of H_j that Â_ij needs; H̃ all of them, one after another
#include <optional>

#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/row_parallel.hpp>

namespace gnnbench {
namespace {

BackwardExchange backward_of(const Params& params) {
    return params.choice("backward") == "gather" ? BackwardExchange::gather : BackwardExchange::return_sums;
}

LayerPlan plan(const Problem& p) {
    const bool gathers = backward_of(p.params) == BackwardExchange::gather;
    return aggregate_first_plan(p, gathers ? attention : returned_attention);
}

class SparsityAwareSpmm final : public DistributedSpmm {
public:
    /// `again`: columns of the rows that are received once more, backward.
    SparsityAwareSpmm(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest,
                      BackwardExchange backward, std::int64_t again)
        : backend_(rank.backend), world_(rank.world), backward_(backward) {
        const HaloBlocks forward(a, index, world_.rank(), Direction::forward, every_block, backend_);
        forward_ = {forward.own(), forward.remote()};
        forward_exchange_.emplace(forward, backend_, widest);
        if (backward == BackwardExchange::return_sums) {
            backward_ = BackwardExchange::return_sums;
            transposed_ = {forward.own_transposed(), forward.remote_transposed()};
            room_ = backend_.matrix(forward_exchange_->rows().needed_rows, again);
        } else if (!a.symmetric()) {
            const HaloBlocks other(a, index, world_.rank(), Direction::backward, every_block, backend_);
            transposed_ = {other.own(), other.remote()};
            backward_exchange_.emplace(other, backend_, widest);
        }
    }

    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (d == Direction::backward && backward_ == BackwardExchange::return_sums) return return_sums(b, c);
        SpmmSum sum(backend_, b, c, e);
        accumulate(d, sum);
    }
    void accumulate(Direction d, BlockSum& sum) override {
        if (d == Direction::forward || !backward_exchange_)  // Â, or Â = Âᵀ
            return gather(forward_, *forward_exchange_, sum);
        gather(transposed_, *backward_exchange_, sum);
    }

    void accumulate_returned(ReturnedSum& sum) override {
        forward_exchange_->return_sums(world_, sum, {*forward_.own, *transposed_.own},
                                       {*forward_.halo, *transposed_.halo}, room_);
    }

private:
    struct Blocks {
        std::unique_ptr<PreparedMatrix> own, halo;
    };

    // Z_i = Â_ii H_i + Σ_{j≠i} Â_ij H̃_j
    void gather(const Blocks& a, HaloExchange& x, BlockSum& z_i) {
        const MatrixView h_i = z_i.operand();
        x.gather_now(world_, h_i);                                               // H̃
        z_i.add(*a.own, h_i, {.first = true, .last = false});                    // Z_i ← Â_ii H_i
        z_i.add(*a.halo, x.received(h_i.cols), {.first = false, .last = true});  // Z_i ← Z_i + Â_i,halo H̃
    }

    // U_j = Σ_i Â_ijᵀ G_i, where each rank returns the sums for rows that it does not own
    void return_sums(MatrixView g_i, MatrixView u_i) {
        HaloExchange& x = *forward_exchange_;
        backend_.spmm(*transposed_.halo, g_i, x.received(g_i.cols));  // Â_i,haloᵀ G_i
        backend_.spmm(*transposed_.own, g_i, u_i);                    // U_i ← Â_iiᵀ G_i
        x.return_now(world_, u_i);  // U_i ← U_i + the sums returned by the others
    }

    Backend& backend_;
    Communicator& world_;
    BackwardExchange backward_;
    Blocks forward_, transposed_;
    std::optional<HaloExchange> forward_exchange_, backward_exchange_;
    Matrix room_;  ///< where sums of received rows are made before they are returned
};

class Sa1d final : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const BlockCounts counts(adjacency_of(p), p.index, rank);
        const auto product = [&](Direction d, std::int64_t width) {
            return halo_volume({counts, rank, p.index.parts(), d}, backward_of(p.params), CommOp::all_to_all,
                               width * element_bytes);
        };
        return row_parallel_volume(plan(p), product, p.index.parts(), rank, element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const Adjacency a = adjacency_of(p);
        const BlockCounts counts(a, p.index, rank);
        const bool both = backward_of(p.params) == BackwardExchange::gather && !a.symmetric();
        const auto product = [&](MemoryStatement& m, std::int64_t widest) {
            const HaloShape forward{counts, rank, p.index.parts(), Direction::forward};
            state_halo_memory(m, forward, widest);
            m.matrix(rows_of(forward).needed_rows, plan(p).widest_room());
            if (both) state_halo_memory(m, {counts, rank, p.index.parts(), Direction::backward}, widest);
        };
        return row_parallel_memory(plan(p), p, rank, product, element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        const bool returns = backward_of(p.params) == BackwardExchange::return_sums;
        state_owned_rows(m, p, rank);
        state_halo_cuts(m, p, rank, Direction::forward, every_block, returns);
        if (!returns && !adjacency_of(p).symmetric())
            state_halo_cuts(m, p, rank, Direction::backward, every_block);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, plan(p), [&](const Adjacency& a, std::int64_t widest) {
            return std::make_unique<SparsityAwareSpmm>(a, p.index, rank, widest, backward_of(p.params),
                                                       plan(p).widest_room());
        });
    }
};

constexpr ParamDecl parameters[] = {
    {"backward", ParamType::choice, "gather", 0, 0, "gather|return",
     "gather rows of G for the transposed blocks, or return partial sums of the forward blocks' transposes to the "
     "owners"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Sa1d, "sa-1d", "1.0.0",
                "sparsity-aware CAGNET 1D: all-to-all of needed rows only (Mukhodopadhyay et al., ICPP 2024)",
                gnnbench::parameters)
