#include <gnnbench/training/boundary_spmm.hpp>

namespace gnnbench {

BoundarySpmm::BoundarySpmm(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest, bool overlap)
    : BoundarySpmm(a, HaloBlocks(a, index, rank.world.rank(), Direction::forward, every_block, rank.backend), rank,
                   widest, overlap) {}

BoundarySpmm::BoundarySpmm(const Adjacency& a, const HaloBlocks& halo, Rank rank, std::int64_t widest,
                           bool overlap)
    : backend_(rank.backend), world_(rank.world), overlap_(overlap), boundaries_(halo, rank.backend, widest) {
    own_ = halo.own();
    if (!a.symmetric()) own_transposed_ = halo.own_transposed();
    remote_ = halo.remote();
    remote_transposed_ = halo.remote_transposed();
}

const PreparedMatrix& BoundarySpmm::own(Direction d) const {
    return d == Direction::backward && own_transposed_ ? *own_transposed_ : *own_;
}

const PreparedMatrix& BoundarySpmm::remote(Direction d) const {
    return d == Direction::forward ? *remote_ : *remote_transposed_;
}

void BoundarySpmm::multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) {
    if (d == Direction::forward) return aggregate(b, c, e);
    return_gradients(b, c);
}

// Z_i = Â_ii H_i + Σ_j Â_ij H_B. The sum is one product: all rows arrive in one exchange.
void BoundarySpmm::aggregate(MatrixView h_i, MatrixView z_i, const Epilogue& e) {
    if (overlap_) {
        const Event arrived = boundaries_.gather(world_, h_i);
        backend_.spmm(own(Direction::forward), h_i, z_i);
        backend_.wait(StreamRole::compute, arrived);
    } else {
        boundaries_.gather_now(world_, h_i);
        backend_.spmm(own(Direction::forward), h_i, z_i);
    }
    backend_.spmm(remote(Direction::forward), boundaries_.received(h_i.cols), z_i, {.beta = 1}, e);
}

// dH_j gets Â_ijᵀ V_i from every i that received its rows.
void BoundarySpmm::return_gradients(MatrixView v_i, MatrixView dh_i) {
    if (!overlap_) backend_.spmm(own(Direction::backward), v_i, dh_i);
    backend_.spmm(remote(Direction::backward), v_i, boundaries_.received(v_i.cols));
    if (!overlap_) return boundaries_.return_now(world_, dh_i);
    const Event returned = boundaries_.start_return(world_, v_i.cols);
    backend_.spmm(own(Direction::backward), v_i, dh_i);
    boundaries_.finish_return(world_, returned, dh_i);
}

}  // namespace gnnbench
