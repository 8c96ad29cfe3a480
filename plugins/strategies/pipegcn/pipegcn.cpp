// PipeGCN: partition parallelism with pipelined, stale boundary rows.
// C. Wan, Y. Li, C. R. Wolfe, A. Kyrillidis, N. S. Kim, Y. Lin, "PipeGCN: Efficient Full-Graph Training of Graph
// Convolutional Networks with Pipelined Feature Communication", ICLR 2022.
//
//   Z_i(t)  = Â_ii H_i(t) + Â_iB F_i(t)                 F_i(t)  what i has of its boundary rows B
//   dH_i(t) = Â_iiᵀ V_i(t) + Σ_j R_j(t)                 R_j(t)  what j has returned of the gradients of i's rows
//
//   F_i(t) = H_B(t − 1), R_j(t) = (Â_jBᵀ V_j)(t − 1); F(0) = R(0) = 0
//
// smoothed: F_i(t) = γ F_i(t − 1) + (1 − γ) H_B(t − 1), and R likewise.
#include <fmt/format.h>

#include <gnnbench/training/boundary_spmm.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>

#include "pipelined_boundaries.hpp"

namespace gnnbench {
namespace {

bool is_stale(const Params& params) { return params.integer("staleness") > 0; }

/// What is smoothed: "none", "features", "gradients" or "both".
pipe::Smoothing smoothing_of(const Params& params) {
    const std::string& what = params.choice("smoothing");
    const double decay = params.real("decay");
    pipe::Smoothing s;
    if (what == "features" || what == "both") s.features = decay;
    if (what == "gradients" || what == "both") s.gradients = decay;
    return s;
}

class PipeGcn final : public Strategy, public StatesHostMemory {
public:
    std::string approximation(const Params& params) const override {
        if (!is_stale(params)) return {};
        const std::string& smoothed = params.choice("smoothing");
        return "boundary rows and their gradients are one epoch old" +
               (smoothed == "none" ? std::string()
                                   : fmt::format("; {} smoothed", smoothed == "both" ? "both" : smoothed));
    }
    std::string why_unsupported(const Setting& s) const override { return row_parallel_why_unsupported(s); }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const BlockCounts counts(adjacency_of(p), p.index, rank);
        const auto product = [&](const LayerProduct& of) {
            if (of.again && is_stale(p.params)) return Volume{};  // rows of the epoch before are still there
            return halo_volume({counts, rank, p.index.parts(), of.direction}, BackwardExchange::return_sums,
                               CommOp::all_to_all, of.width * element_bytes);
        };
        return row_parallel_volume(plan(p), LayerVolume(product), p.index.parts(), rank, element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const BlockCounts counts(adjacency_of(p), p.index, rank);
        const HaloRoom rows = rows_of({counts, rank, p.index.parts(), Direction::forward});
        const LayerPlan layers = plan(p);
        const auto product = [&](MemoryStatement& m, std::int64_t) {
            BoundarySpmm::state_memory(m, rows, layers);
            if (is_stale(p.params)) pipe::state_stale_rows(m, rows, layers);
        };
        return row_parallel_memory(layers, p, rank, product, element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_owned_rows(m, p, rank);
        state_halo_cuts(m, p, rank, Direction::forward, every_block, true);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        const auto make = [&](const Adjacency& a, std::int64_t) -> std::unique_ptr<DistributedSpmm> {
            if (is_stale(p.params))
                return pipe::make_pipelined_boundaries(a, p.index, rank, plan(p), smoothing_of(p.params),
                                                       p.params.choice("transfers") == "run_on");
            return std::make_unique<BoundarySpmm>(a, p.index, rank, plan(p), false);
        };
        return make_row_parallel_trainer(p, rank, plan(p), make);
    }

private:
    /// Received rows are aggregated, then transformed; their gradients go back in the input's width.
    LayerPlan plan(const Problem& p) const { return same_order_plan(p, aggregate_first_kept, returned_attention); }
};

constexpr ParamDecl parameters[] = {
    {"staleness", ParamType::integer, "1", 0, 1, nullptr,
     "how many epochs old boundary rows and their gradients are; 0 exchanges, then multiplies, and is exact"},
    {"smoothing", ParamType::choice, "none", 0, 0, "none|features|gradients|both",
     "what is a moving average over epochs, to smooth staleness"},
    {"transfers", ParamType::choice, "end_with_epoch", 0, 0, "end_with_epoch|run_on",
     "an epoch waits for its own transfers at its end, after the sum of the weights' gradients; or the next one "
     "waits "
     "for them where it uses them, as released: epochs then follow one another without a pause"},
    {"decay", ParamType::real, "0.95", 0.0, 1.0, nullptr, "γ: the weight of the average so far in the next one"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(
    strategy, gnnbench::PipeGcn, "pipegcn", "1.0.0",
    "PipeGCN: boundary rows of the epoch before, exchanged while this one computes (Wan et al., ICLR 2022)",
    gnnbench::parameters)
