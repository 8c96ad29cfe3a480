#include <gnnbench/training/boundary_spmm.hpp>

namespace gnnbench {

BoundarySpmm::BoundarySpmm(const Adjacency& a, const IndexMap& index, Rank rank, const LayerPlan& plan,
                           bool overlap)
    : BoundarySpmm(a, HaloBlocks(a, index, rank.world.rank(), Direction::forward, every_block, rank.backend), rank,
                   plan, overlap) {}

BoundarySpmm::BoundarySpmm(const Adjacency& a, const HaloBlocks& halo, Rank rank, const LayerPlan& plan,
                           bool overlap)
    : backend_(rank.backend),
      world_(rank.world),
      overlap_(overlap),
      boundaries_(halo, rank.backend, plan.widest_operand()),
      room_(rank.backend.matrix(boundaries_.rows().needed_rows, plan.widest_room())) {
    own_ = halo.own();
    if (!a.symmetric()) own_transposed_ = halo.own_transposed();
    remote_ = halo.remote();
    remote_transposed_ = halo.remote_transposed();
}

void BoundarySpmm::state_memory(MemoryStatement& m, const HaloRoom& rows, const LayerPlan& plan) {
    HaloExchange::state_memory(m, rows, plan.widest_operand());
    m.matrix(rows.needed_rows, plan.widest_room());
}

const PreparedMatrix& BoundarySpmm::own(Direction d) const {
    return d == Direction::backward && own_transposed_ ? *own_transposed_ : *own_;
}

const PreparedMatrix& BoundarySpmm::remote(Direction d) const {
    return d == Direction::forward ? *remote_ : *remote_transposed_;
}

void BoundarySpmm::multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) {
    if (d == Direction::backward) return return_gradients(b, c);
    SpmmSum sum(backend_, b, c, e);
    accumulate(d, sum);
}

// Z_i = Â_ii H_i + Σ_j Â_ij H_B. The sum is one product: all rows arrive in one exchange.
void BoundarySpmm::accumulate(Direction d, BlockSum& z_i) {
    require(d == Direction::forward, "sums over boundaries are returned, backward");
    const MatrixView h_i = z_i.operand();
    const auto add_own = [&] { z_i.add(own(d), h_i, {.first = true, .last = false}); };
    if (overlap_) {
        const Event arrived = boundaries_.gather(world_, h_i);
        add_own();
        backend_.wait(StreamRole::compute, arrived);
    } else {
        boundaries_.gather_now(world_, h_i);
        add_own();
    }
    z_i.add(remote(d), boundaries_.received(h_i.cols), {.first = false, .last = true});
}

void BoundarySpmm::accumulate_returned(ReturnedSum& sum) {
    boundaries_.return_sums(world_, sum, {own(Direction::forward), own(Direction::backward)},
                            {remote(Direction::forward), remote(Direction::backward)}, room_);
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
