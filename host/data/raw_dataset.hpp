#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/graph.hpp>

namespace gnnbench {

struct OutsideParts;

/// A graph in memory, rows as in GraphView, with what was done to the listed edges.
struct RawGraph {
    std::vector<std::int64_t> indptr{0};  ///< length vertices + 1
    std::vector<std::int32_t> indices;    ///< length edges, ascending in each row, no repeats
    std::vector<float> weights;           ///< length edges, or empty
    std::int64_t listed_edges = 0, loops_dropped = 0, repeats_merged = 0;

    std::int64_t vertices() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
    GraphView view() const { return {indptr, indices, weights}; }
};

/// A dataset as importers and generators make it. Empty features, labels (where the label matrix is empty too) and
/// masks are filled with random values before it is stored, and listed in `synthetic`.
struct RawDataset {
    std::string name;
    RawGraph graph;
    /// The graph, and perhaps features, where an import may not hold them in memory (external_graph.hpp); `graph` is empty
    /// then, and what is missing is drawn when the store is written.
    std::shared_ptr<OutsideParts> outside;
    std::int64_t feature_count = 0;
    std::vector<float> features;  ///< [vertices × feature_count]
    std::int32_t classes = 0;
    std::vector<std::int32_t> labels;        ///< length vertices; −1 where unknown
    std::vector<std::uint8_t> label_matrix;  ///< [vertices × classes] of 0 and 1, instead of labels
    std::int32_t splits = 0;
    std::vector<Split> masks;  ///< [splits × vertices]
    std::vector<std::string> synthetic;
    std::string source;
    std::string licence = "unknown";
    nlohmann::json options = nlohmann::json::object();
    nlohmann::json imported;  ///< what was imported, by content (import_record.hpp); null: not an import
    nlohmann::json report;    ///< of a generator: what was wanted beside what was reached; null: nothing
};

}  // namespace gnnbench
