// Gossip between active and passive workers: an active one averages with a passive one that it draws.
// The thesis on GossipGCN, Algorithm 5. The protocol, with its lines and what differs from the print:
// active_passive.cpp.
#include <fmt/format.h>

#include "active_passive.hpp"
#include "gossip_strategy.hpp"

namespace gnnbench {
namespace {

class GossipActivePassive final : public gossip::GossipStrategy {
public:
    std::string why_unsupported(const Setting& s) const override {
        if (s.ranks % 2 != 0)
            return fmt::format("half of the workers are active, so their number is even; {} given", s.ranks);
        return GossipStrategy::why_unsupported(s);
    }

private:
    gossip::Protocol protocol(const Params&) const override {
        return {.train = gossip::train_active_passive,
                .words = [](int workers) { return gossip::ActivePassiveWords(workers).words(); }};
    }
};

constexpr auto parameters = gossip::with_printed_pool(joined(cluster_parameters, averaging_parameters));

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::GossipActivePassive, "gossip-active-passive", "2.0.0",
                "Gossip of active with passive workers (thesis on GossipGCN, Algorithm 5)",
                gnnbench::parameters.of)
