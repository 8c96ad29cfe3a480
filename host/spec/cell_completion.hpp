#pragma once
#include <optional>

#include "spec/experiment.hpp"
#include "spec/fields.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// The one normalisation that layers have that are not GCN's.
Normalisation normalisation_of(LayerKind kind);

/// Values of a cell that follow from its others: GraphSAGE's and GIN's normalisation, threads, the input's dropout, and what stands for a partitioner where
/// all vertices are in one part.
class CellCompletion {
public:
    CellCompletion(const LoadOptions& options, const PluginSource& plugins)
        : options_(options), plugins_(plugins) {}
    void complete(Draft& draft);

private:
    const LoadOptions& options_;
    const PluginSource& plugins_;
    std::optional<PluginChoice> none_;
};

}  // namespace gnnbench
