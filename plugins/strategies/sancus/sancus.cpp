// SANCUS: broadcasts of block rows, left out while what was sent before is fresh enough.
// J. Peng, Z. Chen, Y. Shao, Y. Shen, L. Chen, J. Cao, "SANCUS: Staleness-Aware Communication-Avoiding Full-Graph
// Decentralized Training in Large-Scale Graph Neural Networks", PVLDB 15(9), 2022.
//
//   Z_i = Σ_j Â_ij H̃_j        H̃_i = H_i; H̃_j, j ≠ i: H_j as rank j last broadcast it
//   U_i = Σ_j (Âᵀ)_ij G_j     dW = Σ_i H_iᵀ U_i, dH_i = U_i Wᵀ
#include <gnnbench/training/host_statement.hpp>

#include "cached_broadcasts.hpp"

namespace gnnbench {
namespace {

using sancus::Policy;

/// CAGNET 1D's, with buffers of its own for every layer.
LayerPlan plan(const Problem& p) {
    LayerPlan plan = aggregate_first_plan(p);
    plan.buffers = Buffers::separate;
    return plan;
}

class Sancus final : public Strategy, public StatesHostMemory {
public:
    std::string approximation(const Params& params) const override { return Policy(params).approximation(); }
    std::string why_unsupported(const Setting& s) const override {
        const std::string why = row_parallel_why_unsupported(s);
        return why.empty() ? Policy(s.params).why_unsupported() : why;
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const override {
        const LayerPlan layers = plan(p);
        const Policy policy(p.params);
        const std::vector<sancus::CachedLayer> cached = sancus::cached_layers(p, layers);
        const auto product = [&](const LayerProduct& of) {
            const sancus::CachedLayer& layer = cached[usize(of.layer)];
            const bool sent = of.direction == Direction::backward ||
                              (of.again ? !layer.caches(policy) : layer.sends(policy, epoch));
            return sent ? block_row_volume(p.index, rank, of.width * element_bytes) : Volume{};
        };
        const bool bound = policy.when == Policy::When::change;
        return {row_parallel_volume(layers, LayerVolume(product), p.index.parts(), rank, element_bytes),
                bound ? StatedVolume::Means::at_most : StatedVolume::Means::this_epoch};
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const LayerPlan layers = plan(p);
        const auto product = [&](MemoryStatement& m, std::int64_t) {
            sancus::state_cached_broadcasts(m, p, rank, layers, Policy(p.params));
        };
        return row_parallel_memory(layers, p, rank, product, element_bytes);
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_owned_rows(m, p, rank);
        state_block_cuts(m, p, rank, BlockLine::row, every_block, ProductDirections::both);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, plan(p), [&](const Adjacency& a, std::int64_t) {
            return sancus::make_cached_broadcasts(p, a, rank, plan(p), Policy(p.params));
        });
    }
};

constexpr ParamDecl parameters[] = {
    {"policy", ParamType::choice, "interval", 0, 0, "interval|change|released",
     "when rows of a layer's input are broadcast: every `interval` epochs; once they have changed by "
     "`least_change`; "
     "or, of the second layer alone, in every second epoch after 51, as the released code does"},
    {"interval", ParamType::integer, "2", 1, 1e6, nullptr, "epochs from one broadcast to the next; 1 is exact"},
    {"least_change", ParamType::real, "0.05", 0.0, 1e9, nullptr,
     "how far a rank's rows change before it sends them, relative to what it sent; 0 is exact"},
    {"most_epochs", ParamType::integer, "10", 0, 1e6, nullptr, "how old rows may become under any policy"},
    {"cache_input", ParamType::boolean, "true", 0, 0, nullptr,
     "send rows of the first layer's input once, where they stay the same; takes memory for all of them"},
    {"own_rows", ParamType::choice, "fresh", 0, 0, "fresh|cached",
     "a rank's own rows in its products: as they are, or as it last sent them, as in the released code"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(
    strategy, gnnbench::Sancus, "sancus", "1.0.0",
    "SANCUS: CAGNET 1D whose broadcasts are left out while rows are fresh enough (Peng et al., VLDB 2022)",
    gnnbench::parameters)
