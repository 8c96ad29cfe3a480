// Point-to-point training: non-blocking sends of exactly the needed rows, received blocks multiplied as they
// arrive. G. V. Demirci, A. Haldar, H. Ferhatosmanoglu, "Scalable Graph Convolutional Network Training on
// Distributed-Memory Systems", VLDB 2023, Algorithms 1 and 2. The paper's letters:
//
//   A_m  [n_m × n]        rows of A on processor P_m; by columns' owners A_mm and A_mn, n ≠ m
//   X_mn                  which rows of P_m's share P_n needs; S_m those P_m sends, R_m the processors it hears
//   from H^{k-1}_mn, G^k_mn    the rows that X_mn selects
//
// The paper's backward multiplies by A as if A = Aᵀ; here it is Âᵀ, with index lists of its own where Â ≠ Âᵀ.
#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

class PointToPointSpmm final : public StagedSpmm {
public:
    PointToPointSpmm(const Adjacency& a, const IndexMap& index, Rank rank, std::int64_t widest)
        : StagedSpmm(rank.backend), world_(rank.world), forward_(make_side(a, index, Direction::forward, widest)) {
        if (!a.symmetric()) backward_ = make_side(a, index, Direction::backward, widest);
    }

    // [Alg 1, lines 3–9] with H^{k-1}, and [Alg 2, lines 4–10] with G^k; W^k is applied once, after the sum.
    void accumulate(Direction d, BlockSum& z_m) override {
        const MatrixView h_m = z_m.operand();
        Side& s = d == Direction::backward && backward_ ? *backward_ : *forward_;
        // One message from each of R_m and to each P_n that shares rows, all non-blocking.
        std::vector<Event> arrivals = s.exchange.gather_each(world_, h_m);
        const Event sent = arrivals.back();
        arrivals.pop_back();
        // [Alg 1, line 6] Z_m = A_mm H_m, while messages are in flight
        const bool alone = s.peers.empty();
        z_m.add(*s.own, h_m, {.first = true, .last = alone});
        // [Alg 1, lines 7–9] Z_m = Z_m + A_mn H_nm, in order of arrival
        std::vector<bool> done(arrivals.size());
        for (std::size_t k = 0; k < arrivals.size(); ++k) {
            const std::size_t n = backend_.wait_any(StreamRole::compute, arrivals, done);
            done[n] = true;
            const bool last = k + 1 == arrivals.size();
            z_m.add(*s.blocks[n], s.exchange.received(s.peers[n], h_m.cols), {.first = false, .last = last});
        }
        backend_.wait(StreamRole::compute, sent);
    }

private:
    struct Side {
        HaloExchange exchange;
        std::unique_ptr<PreparedMatrix> own;
        std::vector<Part> peers;                              ///< R_m: those with rows that A_m needs
        std::vector<std::unique_ptr<PreparedMatrix>> blocks;  ///< A_mn without its empty columns, by peer
    };

    std::unique_ptr<Side> make_side(const Adjacency& a, const IndexMap& index, Direction d, std::int64_t widest) {
        const HaloBlocks halo(a, index, world_.rank(), d, every_block, backend_);
        auto side = std::make_unique<Side>(Side{HaloExchange(halo, backend_, widest), halo.own(), {}, {}});
        halo.each_block([&](Part n, std::unique_ptr<PreparedMatrix> block) {
            side->peers.push_back(n);
            side->blocks.push_back(std::move(block));
        });
        return side;
    }

    Communicator& world_;
    std::unique_ptr<Side> forward_, backward_;
};

class DemirciP2p final : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const BlockCounts counts(adjacency_of(p), p.index, rank);
        const auto product = [&](Direction d, std::int64_t width) {
            return halo_volume({counts, rank, p.index.parts(), d}, BackwardExchange::gather,
                               CommOp::point_to_point, width * element_bytes);
        };
        return row_parallel_volume(aggregate_first_plan(p), product, p.index.parts(), rank, element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const Adjacency a = adjacency_of(p);
        const BlockCounts counts(a, p.index, rank);
        const auto product = [&](MemoryStatement& m, std::int64_t widest) {
            for (const Direction d : {Direction::forward, Direction::backward})
                if (d == Direction::forward || !a.symmetric())
                    state_halo_memory(m, {counts, rank, p.index.parts(), d}, widest);
        };
        return row_parallel_memory(aggregate_first_plan(p), p, rank, product, element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_owned_rows(m, p, rank);
        state_halo_cuts(m, p, rank, Direction::forward, every_block);
        if (!adjacency_of(p).symmetric()) state_halo_cuts(m, p, rank, Direction::backward, every_block);
    }

    // [Alg 2, line 12] ΔW_m = (H_m^{k-1})ᵀ (Âᵀ G^k)_m and [line 13] its all-reduce are the shared trainer's.
    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, aggregate_first_plan(p),
                                         [&](const Adjacency& a, std::int64_t widest) {
                                             return std::make_unique<PointToPointSpmm>(a, p.index, rank, widest);
                                         });
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN_WITHOUT_PARAMS(strategy, gnnbench::DemirciP2p, "demirci-p2p", "1.0.0",
                               "point-to-point messages of needed rows, overlapped (Demirci et al., VLDB 2023)")
