#pragma once
#include <cstddef>
#include <memory>
#include <string_view>

#include <gnnbench/batches/cluster_worker.hpp>
#include <gnnbench/strategy.hpp>

#include "protocol.hpp"

namespace gnnbench::gossip {

/// Declarations with the pool as printed (line 3): the clusters in their order, again and again.
template <std::size_t N>
constexpr ParamDecls<N> with_printed_pool(ParamDecls<N> all) {
    for (ParamDecl& p : all.of)
        if (std::string_view(p.name) == "shuffle") {
            p.default_value = "false";
            p.help = "draw the order of the pool's clusters anew for each epoch; else they come in their own";
        }
    return all;
}

/// Who trains which batch and who averages with whom.
struct Protocol {
    WorkerRecord (*train)(const Settings&, const Worker&);
    int (*words)(int workers);         ///< that so many workers share
    bool averages_in_clean_up = true;  ///< a worker may average once more after its last batch
    Schedule schedule = Schedule::pairs;
};

/// A strategy whose workers train batches of clusters from a common pool and average in pairs, as a protocol says. Its
/// consensus is the best local model.
class GossipStrategy : public Strategy {
public:
    std::string approximation(const Params& params) const final;
    std::string why_unsupported(const Setting& setting) const override;
    bool trains_on_batches() const final { return true; }
    PartitionNeed partition_need(const Setting& setting) const final { return clusters_needed(setting); }
    /// At most: every batch of the epoch by this worker, each with an averaging, and one in the clean-up, where the
    /// protocol has it.
    StatedVolume stated_volume(const Problem& problem, int rank, std::int64_t element_bytes,
                               std::int64_t epoch) const final;
    std::int64_t stated_memory(const Problem& problem, int rank, std::int64_t element_bytes) const final;
    AnyTrainer make_trainer(const Problem& problem, Rank rank) const final;

private:
    virtual Protocol protocol(const Params& params) const = 0;
};

}  // namespace gnnbench::gossip
