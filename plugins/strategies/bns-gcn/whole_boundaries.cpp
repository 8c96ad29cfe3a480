#include "boundaries.hpp"

#include <gnnbench/usize.hpp>

namespace gnnbench::bns {
namespace {

class WholeBoundaries final : public DistributedSpmm {
public:
    WholeBoundaries(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest)
        : backend_(rank.backend), world_(rank.world) {
        const HaloBlocks halo(a, index, world_.rank(), Direction::forward, every_block, backend_);
        own_ = halo.own();
        if (!a.symmetric()) own_transposed_ = halo.own_transposed();
        for (Part j = 0; j < index.parts(); ++j) {
            const auto n = usize(j);
            if (const std::int64_t needed = halo.needed()[n]; needed > 0) {
                givers_.push_back(j);
                needed_.push_back(needed);
                PreparedPair block = halo.block_and_transpose(j);
                blocks_.push_back(std::move(block.matrix));
                transposed_.push_back(std::move(block.transposed));
            }
            if (const std::int64_t sent = halo.sent()[n]; sent > 0) {
                takers_.push_back(j);
                given_.push_back(sent);
                rows_.push_back(halo.sent_list(j));
            }
        }
        received_ = backend_.matrix(halo.needed_rows(), widest);
        sent_ = backend_.matrix(halo.sent_rows(), widest);
    }

    void multiply(Direction d, MatrixView b, MatrixView c, const Epilogue& e) override {
        if (d == Direction::forward) return aggregate(b, c, e);
        return_gradients(b, c);
    }

private:
    // [Alg 1, lines 7–11] Z_i = Â_ii H_i + Σ_j Â_ij H_U, U = B
    void aggregate(MatrixView h_i, MatrixView z_i, const Epilogue& e) {
        const auto sends = segments(takers_, given_, sent_, h_i.cols);
        const auto receives = segments(givers_, needed_, received_, h_i.cols);
        for (std::size_t j = 0; j < takers_.size(); ++j) backend_.gather_rows(h_i, rows_[j].data(), sends[j].rows);
        const Event arrived = world_.all_to_all(sends, receives);
        backend_.spmm(*own_, h_i, z_i);
        backend_.wait(StreamRole::compute, arrived);
        for (std::size_t j = 0; j < givers_.size(); ++j)
            backend_.spmm(*blocks_[j], receives[j].rows, z_i, {.beta = 1});
        backend_.apply(e, z_i);
    }

    // [Alg 1, line 14] dH_j gets Â_ijᵀ V_i from every i that received its rows
    void return_gradients(MatrixView v_i, MatrixView dh_i) {
        const auto sends = segments(givers_, needed_, received_, v_i.cols);
        const auto receives = segments(takers_, given_, sent_, v_i.cols);
        for (std::size_t j = 0; j < givers_.size(); ++j) backend_.spmm(*transposed_[j], v_i, sends[j].rows);
        const Event arrived = world_.all_to_all(sends, receives);
        backend_.spmm(own_transposed_ ? *own_transposed_ : *own_, v_i, dh_i);
        backend_.wait(StreamRole::compute, arrived);
        for (std::size_t j = 0; j < takers_.size(); ++j)
            backend_.scatter_add_rows(receives[j].rows, rows_[j].data(), dh_i);
    }

    Backend& backend_;
    Communicator& world_;
    std::unique_ptr<PreparedMatrix> own_, own_transposed_;
    std::vector<Part> givers_, takers_;         ///< the parts j with b_ij > 0, with b_ji > 0
    std::vector<std::int64_t> needed_, given_;  ///< b_ij by giver, b_ji by taker
    std::vector<std::unique_ptr<PreparedMatrix>> blocks_, transposed_;  ///< Â_ij, Â_ijᵀ by giver
    std::vector<Array<std::int32_t>> rows_;                             ///< B_ji as local ids, by taker
    Matrix received_, sent_;
};

}  // namespace

std::unique_ptr<DistributedSpmm> make_whole_boundaries(const Adjacency& a, const IndexMap& index, Rank rank,
                                                       std::int64_t widest) {
    return std::make_unique<WholeBoundaries>(a, index, rank, widest);
}

}  // namespace gnnbench::bns
