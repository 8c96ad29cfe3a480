// GossipGCN: asynchronous workers that average in pairs, any with any.
// The thesis on GossipGCN, Algorithm 6. The protocol, with its lines and what differs from the print: gossip_gcn.cpp.
#include "gossip_gcn.hpp"
#include "gossip_strategy.hpp"

namespace gnnbench {
namespace {

class GossipGcn final : public gossip::GossipStrategy {
public:
    GossipGcn()
        : GossipStrategy(gossip::train_gossip_gcn,
                         [](int workers) { return gossip::GossipGcnWords(workers).words(); }) {}
};

constexpr auto parameters = joined(cluster_parameters, averaging_parameters);

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::GossipGcn, "gossip-gcn", "1.0.0",
                "GossipGCN: asynchronous workers that average in random pairs (thesis on GossipGCN, Algorithm 6)",
                gnnbench::parameters.of)
