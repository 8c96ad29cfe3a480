#pragma once
#include <vector>

#include "partitioned.hpp"

namespace gnnbench::hypergraph {

/// Where a vertex would go.
struct BestMove {
    PartId to = -1;      ///< −1: no other part meets its nets
    NetWeight gain = 0;  ///< by how much connectivity−1 falls
    NetWeight held = 0;  ///< Σ ω(e) of its nets with another pin in its own part: what it would leave
};

/// Finds the best part for a vertex. One for each thread.
class BestMoveFinder {
public:
    explicit BestMoveFinder(PartId parts) : shared_(static_cast<std::size_t>(parts)) {}

    /// gain(v → p) = Σ_{e ∋ v, Φ(e,p) > 0} ω(e) − Σ_{e ∋ v, Φ(e,own) > 1} ω(e), the best over the parts for which
    /// allowed(p) is true; the lighter part of two that are equally good.
    template <typename Allowed>
    BestMove find(const Partitioned& p, Id v, Allowed&& allowed) {
        const Hypergraph& h = p.hypergraph();
        const PartId own = p.part_of(v);
        BestMove best;
        for (const Id net : h.nets_of(v)) {
            const NetWeight weight = h.net_weight[net];
            for (const PinCount& c : p.met(net)) {
                if (c.part == own) {
                    if (c.count > 1) best.held += weight;
                    continue;
                }
                NetWeight& shared = shared_[static_cast<std::size_t>(c.part)];
                if (shared == 0) met_.push_back(c.part);
                shared += weight;
            }
        }
        NetWeight most = 0;
        for (const PartId part : met_) {
            NetWeight& shared = shared_[static_cast<std::size_t>(part)];
            if (shared >= most && allowed(part) &&
                (shared > most || best.to < 0 || p.part_weight(part) < p.part_weight(best.to) ||
                 (p.part_weight(part) == p.part_weight(best.to) && part < best.to)))
                most = shared, best.to = part;
            shared = 0;
        }
        met_.clear();
        best.gain = most - best.held;
        return best;
    }
    BestMove find(const Partitioned& p, Id v) {
        return find(p, v, [](PartId) { return true; });
    }

private:
    std::vector<NetWeight> shared_;  ///< length parts: Σ ω(e) of the vertex' nets that meet the part
    std::vector<PartId> met_;
};

}  // namespace gnnbench::hypergraph
