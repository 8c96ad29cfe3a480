// CAGNET, the 1D algorithm: block-row distribution with broadcasts.
// A. Tripathy, K. Yelick, A. Buluç, "Reducing Communication in Graph Neural Network Training", SC 2020, Algorithm 1.
//
//   Â_ij [n_i × n_j]   block of Â: rows of rank i, columns of rank j; rank i holds row i of blocks
//   H_j  [n_j × f]     rows of rank j;  W [f × g] on every rank
#include <fmt/format.h>

#include <gnnbench/row_parallel.hpp>

namespace gnnbench {
namespace {

class BlockRowBroadcast final : public DistributedSpmm {
public:
    BlockRowBroadcast(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest)
        : blocks_(a, index, rank.world.rank(), rank.kernel),
          index_(index),
          kernel_(rank.kernel),
          world_(rank.world) {
        if (world_.size() > 1) receive_ = kernel_.matrix(index.largest(), widest);
    }

    void multiply(Direction d, MatrixView h_i, MatrixView z_i, const Epilogue& e) override {
        const Part i = world_.rank(), ranks = world_.size();
        for (Part j = 0; j < ranks; ++j) {
            // H_j ← broadcast from rank j
            const MatrixView h_j = j == i ? h_i : receive_.view().reshaped(index_.size(j), h_i.cols);
            world_.broadcast_now(h_j, j);
            // Z_i ← Z_i + Â_ij H_j
            const bool first = j == 0, last = j == ranks - 1;
            const PreparedMatrix& a_ij = blocks_.block(d, j);
            if (first || last || a_ij.nonzeros > 0)
                kernel_.spmm(a_ij, h_j, z_i, {.beta = first ? 0.0 : 1.0}, last ? e : Epilogue{});
        }
    }
    std::string notes() const override { return fmt::format("blocks: {}", blocks_.formats()); }

private:
    PreparedBlocks blocks_;
    const IndexMap& index_;
    Kernel& kernel_;
    Communicator& world_;
    Matrix receive_;  // [max n_j × widest]
};

class Cagnet1d final : public Strategy {
public:
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    Volume stated_volume(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const auto product = [&](Direction, std::int64_t width) {
            return block_row_volume(p.index, rank, width * element_bytes);
        };
        return row_parallel_volume(aggregate_first_plan(*this, p), p.model, product, p.index.parts(), rank,
                                   element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const auto product = [&](MemoryStatement& m, std::int64_t widest) {
            if (p.index.parts() > 1) m.matrix(p.index.largest(), widest);
        };
        return row_parallel_memory(aggregate_first_plan(*this, p), p, rank, product, element_bytes);
    }

    std::unique_ptr<Trainer> make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, aggregate_first_plan(*this, p),
                                         [&](const Adjacency& a, std::int64_t widest) {
                                             return std::make_unique<BlockRowBroadcast>(a, p.index, rank, widest);
                                         });
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN_WITHOUT_PARAMS(strategy, gnnbench::Cagnet1d, "cagnet-1d", "1.0.0",
                               "CAGNET 1D: block rows, broadcasts, aggregate first (Tripathy et al., SC 2020)")
