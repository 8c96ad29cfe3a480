#pragma once
#include <optional>
#include <string>

#include "spec/experiment.hpp"
#include "spec/fields.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// The one normalisation that layers have that are not GCN's.
Normalisation normalisation_of(LayerKind kind);

/// Keys of a cell that are valid alone but not together.
struct Disagreement {
    const char* path;
    std::string text;
};
std::optional<Disagreement> disagreement(const Cell& cell);

/// Values of a cell that follow from its others: GraphSAGE's and GIN's normalisation, threads, the input's dropout,
/// and what stands for a partitioner where all vertices are in one part.
class CellCompletion {
public:
    CellCompletion(const LoadOptions& options, const PluginSource& plugins)
        : options_(options), plugins_(plugins) {}
    void complete(Draft& draft);
    /// A dataset that is only expected, with ranks that are not simulated.
    std::optional<Disagreement> expects_without_simulating(const Cell& cell) const;

private:
    const LoadOptions& options_;
    const PluginSource& plugins_;
    std::optional<PluginChoice> none_;
};

}  // namespace gnnbench
