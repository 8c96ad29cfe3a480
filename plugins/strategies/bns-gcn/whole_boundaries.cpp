#include "boundaries.hpp"

namespace gnnbench::bns {
namespace {

class WholeBoundaries final : public DistributedSpmm {
public:
    WholeBoundaries(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest, bool overlap)
        : WholeBoundaries(a,
                          HaloBlocks(a, index, rank.world.rank(), Direction::forward, every_block, rank.backend),
                          rank, widest, overlap) {}

    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (d == Direction::forward) return aggregate(b, c, e);
        return_gradients(b, c);
    }

private:
    WholeBoundaries(const Adjacency& a, const HaloBlocks& halo, Rank rank, std::int64_t widest, bool overlap)
        : backend_(rank.backend), world_(rank.world), overlap_(overlap), boundaries_(halo, rank.backend, widest) {
        own_ = halo.own();
        if (!a.symmetric()) own_transposed_ = halo.own_transposed();
        remote_ = halo.remote();
        remote_transposed_ = halo.remote_transposed();
    }

    // [Alg 1, lines 7–11] Z_i = Â_ii H_i + Σ_j Â_ij H_U, U = B. The sum is one product: all rows arrive in one exchange.
    void aggregate(MatrixView h_i, MatrixView z_i, const Epilogue& e) {
        if (overlap_) {
            const Event arrived = boundaries_.gather(world_, h_i);
            backend_.spmm(*own_, h_i, z_i);
            backend_.wait(StreamRole::compute, arrived);
        } else {
            boundaries_.gather_now(world_, h_i);
            backend_.spmm(*own_, h_i, z_i);
        }
        backend_.spmm(*remote_, boundaries_.received(h_i.cols), z_i, {.beta = 1}, e);
    }

    // [Alg 1, line 14] dH_j gets Â_ijᵀ V_i from every i that received its rows
    void return_gradients(MatrixView v_i, MatrixView dh_i) {
        const PreparedMatrix& own = own_transposed_ ? *own_transposed_ : *own_;
        if (!overlap_) backend_.spmm(own, v_i, dh_i);
        backend_.spmm(*remote_transposed_, v_i, boundaries_.received(v_i.cols));
        if (!overlap_) return boundaries_.return_now(world_, dh_i);
        const Event returned = boundaries_.start_return(world_, v_i.cols);
        backend_.spmm(own, v_i, dh_i);
        boundaries_.finish_return(world_, returned, dh_i);
    }

    Backend& backend_;
    Communicator& world_;
    bool overlap_;
    HaloExchange boundaries_;  ///< B_ij of all j, received, and B_ji, sent
    std::unique_ptr<PreparedMatrix> own_, own_transposed_;
    std::unique_ptr<PreparedMatrix> remote_, remote_transposed_;  ///< Â_ij of all j side by side [n_i × Σ_j b_ij]
};

}  // namespace

std::unique_ptr<DistributedSpmm> make_whole_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                       std::int64_t widest, bool overlap) {
    return std::make_unique<WholeBoundaries>(a, index, rank, widest, overlap);
}

}  // namespace gnnbench::bns
