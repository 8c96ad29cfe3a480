#include "spec/cell_completion.hpp"

#include <algorithm>
#include <thread>

#include <gnnbench/strategy.hpp>

#include "spec/setting.hpp"

namespace gnnbench {
namespace {

int default_threads(int ranks, const LoadOptions& options) {
    const int cores = options.cores > 0 ? options.cores : static_cast<int>(std::thread::hardware_concurrency());
    const int hosts = std::max(1, options.hosts);
    return std::max(1, cores / ((ranks + hosts - 1) / hosts));
}

/// Whether all vertices are in one part, whatever the partitioner. A program partitions as it likes.
bool one_part(const Cell& cell, const PluginSource& plugins) {
    if (cell.scheme.is_program()) return true;
    if (cell.gpus > 1) return false;
    const Question q(cell, {});
    const Setting setting{cell.gpus, q.model, q.train, cell.scheme.params};
    const Strategy& strategy = plugins.strategy(cell.scheme.name);
    if (!strategy.why_unsupported(setting).empty()) return false;
    const PartitionNeed need = strategy.partition_need(setting);
    return need.parts <= 1 && need.column_parts <= 1;
}

/// What a cell of one part has for a partitioner: `block`, which then does nothing, shown as "none", so that one rank
/// is measured once and not once per partitioner.
PluginChoice no_partitioner(const PluginSource& plugins, const PluginChoice& otherwise) {
    const auto block = plugins.find(PluginKind::partitioner, "block");
    if (!block) return otherwise;
    return {"block", block->version, Params(block->params), "none"};
}

}  // namespace

Normalisation normalisation_of(LayerKind kind) {
    return kind == LayerKind::sage ? Normalisation::mean : Normalisation::none;
}

void CellCompletion::complete(Draft& draft) {
    Cell& cell = draft.cell;
    if (cell.model.kind != LayerKind::gcn) {
        if (!draft.normalisation_given) cell.model.normalisation = normalisation_of(cell.model.kind);
        if (!draft.self_loops_given) cell.model.self_loops = false;
    }
    if (!draft.input_dropout_given) cell.train.input_dropout = cell.train.dropout;
    if (!draft.threads_given) cell.threads_per_rank = default_threads(cell.gpus, options_);
    if (!one_part(cell, plugins_)) return;
    if (!none_) none_ = no_partitioner(plugins_, cell.partitioner);
    cell.partitioner = *none_;
}

}  // namespace gnnbench
