#include "spec/cell_completion.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <gnnbench/strategy.hpp>
#include <gnnbench/usize.hpp>

#include "spec/setting.hpp"
#include "spec/words.hpp"

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

/// The one part's vertices have an order, too: it stays.
void keep_order(const Params& given, const PluginSource& plugins, PluginChoice& none) {
    const auto order = given.values().find("order");
    if (order == given.values().end() || to_text(order->second) == "natural") return;
    const auto facts = plugins.find(PluginKind::partitioner, none.name);
    if (!facts) return;
    for (const ParamDecl& d : facts->params)
        if (order->first == d.name) none.params.set(d, to_text(order->second));
    none.label += "(order=" + to_text(order->second) + ")";
}

/// Keys of GAT and GATv2, and how its heads fit its layers. `model` has the hidden widths alone.
std::optional<Disagreement> attention_disagreement(const ModelSpec& model, const char* kind) {
    static const ModelSpec standard;
    if (model.kind != LayerKind::gatv2 && model.share_weights)
        return Disagreement{"model.share_weights", fmt::format("is GATv2's; model.layers is {}", kind)};
    if (!model.attends()) {
        const char* key = model.heads != standard.heads                     ? "model.heads"
                          : model.combine != standard.combine               ? "model.combine"
                          : model.negative_slope != standard.negative_slope ? "model.negative_slope"
                          : model.residual                                  ? "model.residual"
                          : model.attention_dropout != 0                    ? "model.attention_dropout"
                                                                            : nullptr;
        if (!key) return std::nullopt;
        return Disagreement{key, fmt::format("is GAT's and GATv2's; model.layers is {}", kind)};
    }
    const std::size_t layers = model.widths.size() + 1;
    if (model.heads.size() != 1 && model.heads.size() != layers)
        return Disagreement{"model.heads",
                            fmt::format("expected one number, or {} (one per layer: {} hidden and the "
                                        "last); found {}",
                                        layers, layers - 1, model.heads.size())};
    if (model.combine == HeadsCombined::mean) return std::nullopt;
    for (std::size_t l = 0; l < model.widths.size(); ++l)
        if (const int heads = model.heads_of(static_cast<int>(l)); model.widths[l] % heads != 0)
            return Disagreement{"model.hidden",
                                fmt::format("layer {} has {} columns for {} heads, which divide them with "
                                            "combine: concat; expected a multiple of {}",
                                            l, model.widths[l], heads, heads)};
    return std::nullopt;
}

/// What GraphSAGE and GIN are does not leave these keys open.
std::optional<Disagreement> model_disagreement(const ModelSpec& model) {
    const char* kind = words::layers.at(usize(static_cast<int>(model.kind)));
    if (model.kind != LayerKind::gin && model.epsilon != 0)
        return Disagreement{"model.epsilon", fmt::format("is GIN's; model.layers is {}", kind)};
    if (auto found = attention_disagreement(model, kind)) return found;
    if (model.kind == LayerKind::gcn) return std::nullopt;
    if (model.attends() && model.normalisation == Normalisation::none) return std::nullopt;
    if (const Normalisation own = normalisation_of(model.kind); model.normalisation != own)
        return Disagreement{"model.normalisation",
                            fmt::format("layers: {} has {}; found {}. Leave the key out", kind,
                                        words::normalisation.at(usize(static_cast<int>(own))),
                                        words::normalisation.at(usize(static_cast<int>(model.normalisation))))};
    if (model.self_loops)
        return Disagreement{
            "model.self_loops",
            fmt::format("layers: {} adds a vertex's own row by itself; leave the key out or set it to false",
                        kind)};
    return std::nullopt;
}

}  // namespace

std::optional<Disagreement> disagreement(const Cell& cell) {
    if (auto found = model_disagreement(cell.model)) return found;
    const std::size_t layers = cell.model.widths.size() + 1, decays = cell.train.weight_decay.size();
    if (decays != 1 && decays != layers)
        return Disagreement{
            "train.weight_decay",
            fmt::format("expected one number, or {} (one per layer: {} hidden and the last); found {}", layers,
                        layers - 1, decays)};
    if (cell.patience > 0 && cell.evaluate_every == 0)
        return Disagreement{"train.patience", "early stopping needs evaluations; set train.evaluate_every"};
    return std::nullopt;
}

std::optional<Disagreement> CellCompletion::expects_without_simulating(const Cell& cell) const {
    if (!cell.dataset.source->is_object() || !cell.dataset.source->contains("expect")) return std::nullopt;
    const auto kernel = plugins_.find(PluginKind::kernel, cell.kernel.name);
    if (kernel && kernel->simulates && !cell.scheme.is_program()) return std::nullopt;
    return Disagreement{
        "dataset",
        fmt::format("expect: {} is a graph that is not there, so only simulated ranks can train on it; "
                    "found {} {}, allowed is kernel: {{name: simulated, machine: …}} with a scheme that is a "
                    "plugin",
                    cell.dataset.source->at("expect").dump(), cell.scheme.is_program() ? "the program" : "kernel",
                    cell.scheme.is_program() ? cell.scheme.name : cell.kernel.name)};
}

Normalisation normalisation_of(LayerKind kind) {
    return kind == LayerKind::sage ? Normalisation::mean : Normalisation::none;
}

void CellCompletion::complete(Draft& draft) {
    Cell& cell = draft.cell;
    if (cell.model.kind != LayerKind::gcn) {
        if (!draft.normalisation_given) cell.model.normalisation = normalisation_of(cell.model.kind);
        if (!draft.self_loops_given) cell.model.self_loops = cell.model.attends();
    }
    if (!draft.input_dropout_given) cell.train.input_dropout = cell.train.dropout;
    const auto kernel = plugins_.find(PluginKind::kernel, cell.kernel.name);
    const bool simulates = kernel && kernel->simulates;
    // Simulated ranks compute nothing: the number of this machine's cores is not part of what is simulated.
    if (!draft.threads_given) cell.threads_per_rank = simulates ? 1 : default_threads(cell.gpus, options_);
    // Without values there is no training to go on with, and no noise to average.
    if (!draft.epochs_given && simulates && !simulates_values(cell)) cell.epochs = 1;
    if (!one_part(cell, plugins_)) return;
    if (!none_) none_ = no_partitioner(plugins_, cell.partitioner);
    const Params given = cell.partitioner.params;
    cell.partitioner = *none_;
    keep_order(given, plugins_, cell.partitioner);
}

}  // namespace gnnbench
