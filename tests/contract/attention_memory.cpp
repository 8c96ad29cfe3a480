// What layers that attend hold beyond a GCN of the same widths, as every scheme states it for each rank. That it is what they
// hold is tested by contract_strategy.
#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include <gnnbench/training/parameters.hpp>
#include <gnnbench/vertex_copies.hpp>

#include "contract/strategy_models.hpp"
#include "contract/strategy_selection.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

/// Elements that each rank holds beside parameters.
std::vector<std::int64_t> stated_elements(const TrainingCase& c) {
    std::vector<std::int64_t> of_rank;
    MemoryStatement parameters(8);
    ReplicatedParameters::state_memory(parameters, c.model, c.train);
    for (int rank = 0; rank < c.ranks; ++rank)
        of_rank.push_back((c.strategy->stated_memory(c.problem(), rank, 8) - parameters.bytes()) / 8);
    return of_rank;
}

/// Columns of a rank's rows that a model may hold beyond a GCN: 2w + 3H of each layer. GATv2: w + 3H, and one layer after the
/// other 2w for what its walks hold at once, 3w where heads are averaged, so that G's memory is too small for t.
std::int64_t allowed_columns(const ModelSpec& model) {
    const bool dynamic = model.kind == LayerKind::gatv2;
    std::int64_t columns = 0, walks = 0;
    for (const LayerSpec& layer : layers_of(model, false)) {
        const std::int64_t w = layer.transformed();
        columns += (dynamic ? 1 : 2) * w + 3 * layer.attention->shape.heads;
        if (dynamic) walks = std::max(walks, (layer.g < w ? 3 : 2) * w);
    }
    return columns + walks;
}

/// Under a vertex cut: the rows that a rank has, its own and copies, and those of its own that others have copies of.
struct CutRows {
    std::int64_t own = 0, held = 0, lent = 0;
    CutRows(const TrainingCase& c, int rank) : own(c.index->size(rank)), held(own) {
        const VertexCopies copies(c.data.graph, *c.index, rank);
        held += copies.held_rows();
        for (const auto& list : copies.lent()) lent += std::ssize(list);
    }
};

/// Numbers more than a GCN's where copies of a row merge what they have summed up: all that is summed of a row, 2w + 3H numbers
/// (GATv2: w + 2H), of the rows that the rank has and of those that come to it; and 2H of each of its own.
std::int64_t allowed_merging(const TrainingCase& c, const CutRows& rows) {
    std::int64_t merged = 0, most_heads = 0;
    for (const LayerSpec& layer : layers_of(c.model, false)) {
        const std::int64_t w = layer.transformed(), heads = layer.attention->shape.heads;
        merged = std::max(merged, layer.attention->dynamic ? w + 2 * heads : 2 * w + 3 * heads);
        most_heads = std::max(most_heads, heads);
    }
    return (rows.held + rows.lent) * merged + rows.own * 2 * most_heads;
}

/// Numbers more than a GCN's for rows of other ranks. A rank has two buffers of them at most, of the widest product: gathered
/// rows come with 3H numbers each (GATv2: s and 2H). sancus keeps layer 0's rows of all others, of a GCN only if told to.
std::int64_t allowed_received(const TrainingCase& c, std::int64_t n) {
    if (c.ranks == 1) return 0;
    std::int64_t more = 0;
    const std::vector<LayerSpec> layers = layers_of(c.model, false);
    for (const LayerSpec& layer : layers) {
        const std::int64_t w = layer.transformed(), heads = layer.attention->shape.heads;
        more = std::max(more, layer.attention->dynamic ? w + 2 * heads : 3 * heads);
    }
    const auto& params = c.settings.params.values();
    const bool keeps = params.contains("cache_input") && !c.settings.params.boolean("cache_input");
    const std::int64_t kept = layers[0].transformed() + layers[0].attention->shape.heads;
    return 2 * n * more + (keeps ? (c.ranks - 1) * n * kept : 0);
}

}  // namespace

TEST_CASE(
    "attention holds beyond a GCN of its widths n (2w + 3H) numbers a layer, GATv2 n (w + 3H) and its walks'") {
    // X is wide: no scheme's GCN aggregates first in fewer columns than w, as attention cannot.
    const std::vector<ModelVariant> models = {attention({64, 24, 12, 5}, {3, 2, 1}),
                                              attention({64, 24, 5}, {3, 1}), attention({64, 24, 5}, {3, 4}),
                                              attention({64, 16, 16, 16}, {1}), attention({64, 16, 16}, {1})};
    const graphs::NamedGraph graph = graphs::directed_random(64, 400, true);
    std::map<std::string, int> compared;
    for (const std::string& name : full_batch_strategies())
        for (const StrategyVariant& s : variants(name))
            for (const ModelVariant& gat : models)
                for (const LayerKind kind : {LayerKind::gat, LayerKind::gatv2})
                    for (const int ranks : {1, 2, 4}) {
                        ModelVariant attends = gat;
                        attends.model.kind = kind;
                        const ModelVariant gcn{.name = "GCN", .widths = gat.widths};
                        const auto with = training_case(s, "block", attends, graph, ranks);
                        const auto without = training_case(s, "block", gcn, graph, ranks);
                        if (!with->skipped.empty() || !without->skipped.empty()) continue;
                        const auto held = stated_elements(*with), of_gcn = stated_elements(*without);
                        for (std::size_t rank = 0; rank < held.size(); ++rank) {
                            std::int64_t allowed = 0;
                            if (with->vertex_cut) {
                                const CutRows rows(*with, static_cast<int>(rank));
                                allowed = rows.held * allowed_columns(with->model) + allowed_merging(*with, rows);
                            } else {
                                const std::int64_t n = graph.view().vertices() / with->index->parts();
                                allowed = n * allowed_columns(with->model) + allowed_received(*with, n);
                            }
                            const std::int64_t beyond = held[rank] - of_gcn[rank];
                            INFO(s.name << " " << s.changed << ", rank " << rank << " of " << ranks << ", "
                                        << (kind == LayerKind::gat ? "GAT" : "GATv2") << " from " << gat.name
                                        << ": " << beyond << " numbers beyond a GCN's, " << allowed << " allowed");
                            CHECK(beyond <= allowed);
                        }
                        ++compared[name];
                    }
    for (const char* name : {"serial", "cagnet-1d", "cagnet-1.5d", "mg-gcn", "sa-1d", "sa-1.5d", "demirci-p2p",
                             "bns-gcn", "pipegcn", "sancus", "distgnn"}) {
        INFO(name << " was compared");
        CHECK(compared[name] > 0);
    }
}
