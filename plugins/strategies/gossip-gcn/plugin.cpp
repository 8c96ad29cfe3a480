// GossipGCN: asynchronous workers that average in pairs, any with any.
// The thesis on GossipGCN, Algorithm 6. The protocol, with its lines and what differs from the print: gossip_gcn.cpp.
// Two other ways to find a partner, which section 4.2 rejects: requested.cpp, scheduled.cpp.
#include <string_view>

#include <fmt/format.h>

#include "gossip_gcn.hpp"
#include "gossip_strategy.hpp"
#include "requested.hpp"
#include "scheduled.hpp"

namespace gnnbench {
namespace {

template <class Words>
int words_of(int workers) {
    return Words(workers).words();
}

class GossipGcn final : public gossip::GossipStrategy {
public:
    std::string why_unsupported(const Setting& s) const override {
        const std::string_view partners = s.params.choice("partners"), schedule = s.params.choice("schedule");
        if (partners != "scheduled" && schedule != "pairs")
            return fmt::format("schedule: {} is for partners: scheduled, and partners is {}", schedule, partners);
        return GossipStrategy::why_unsupported(s);
    }

private:
    gossip::Protocol protocol(const Params& params) const override {
        const std::string_view partners = params.choice("partners");
        if (partners == "requested")
            return {.train = gossip::train_requested,
                    .words = words_of<gossip::RequestedWords>,
                    .averages_in_clean_up = false};
        if (partners == "scheduled")
            return {.train = gossip::train_scheduled,
                    .words = words_of<gossip::ScheduledWords>,
                    .averages_in_clean_up = false,
                    .schedule = params.choice("schedule") == "pairs" ? gossip::Schedule::pairs
                                                                     : gossip::Schedule::rotating};
        return {.train = gossip::train_gossip_gcn, .words = words_of<gossip::GossipGcnWords>};
    }
};

constexpr ParamDecl own_parameters[] = {
    {"partners", ParamType::choice, "available", 0, 0, "available|requested|scheduled",
     "how a worker finds a partner: it draws an available one (Algorithm 6), asks one and waits for the answer, "
     "or has one by "
     "a schedule"},
    {"schedule", ParamType::choice, "pairs", 0, 0, "pairs|rotating",
     "partners: scheduled: the same partner in every round, or every other worker in turn"},
};
constexpr auto parameters =
    gossip::with_printed_pool(joined(cluster_parameters, averaging_parameters, own_parameters));

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::GossipGcn, "gossip-gcn", "2.0.0",
                "GossipGCN: asynchronous workers that average in random pairs (thesis on GossipGCN, Algorithm 6)",
                gnnbench::parameters.of)
