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
        const auto nets = p.hypergraph().nets_of(v);
        const PartId own = p.part_of(v);
        BestMove best;
        std::size_t meetings = 0;
        NetWeight all = 0;
        for (const Id net : nets) {
            meetings += p.connectivity(net);
            all += p.weight(net);
            p.prefetch(net);
        }
        if (meetings == nets.size()) {  // every net is whole, and has another pin
            best.held = all;
            best.gain = -all;
            return best;
        }
        NetWeight most = 0;
        const auto consider = [&](PartId part) {
            const NetWeight shared = shared_[static_cast<std::size_t>(part)];
            shared_[static_cast<std::size_t>(part)] = 0;
            if (shared >= most && shared > 0 && part != own && allowed(part) &&
                (shared > most || best.to < 0 || p.part_weight(part) < p.part_weight(best.to) ||
                 (p.part_weight(part) == p.part_weight(best.to) && part < best.to)))
                most = shared, best.to = part;
        };
        // Without branches, and all parts looked at, where many are met; else only those that are.
        const bool many = meetings >= shared_.size();
        for (const Id net : nets) {
            const NetWeight weight = p.weight(net);
            p.for_each_met(net, [&](PartId part, Id pins) {
                NetWeight& shared = shared_[static_cast<std::size_t>(part)];
                if (!many && shared == 0) met_.push_back(part);
                shared += weight;
                best.held += part == own && pins > 1 ? weight : 0;
            });
        }
        if (many)
            for (PartId part = 0; part < p.parts(); ++part) consider(part);
        else
            for (const PartId part : met_) consider(part);
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
