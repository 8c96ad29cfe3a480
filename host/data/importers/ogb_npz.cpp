// data.npz, as of ogbn-papers100M: edge_index [2 × m], node_feat [n × f], num_nodes_list [1], num_edges_list [1]; and
// node-label.npz: node_label [n × 1], NaN where it is unknown, or [n × classes]. Arrays are read one by one, so that
// the largest alone is in memory twice. experiments/baselines/export_graph.py adds add_inverse_edge [1], named as in OGB's
// table of sets.
#include <data/importers/ogb_raw.hpp>

#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/formats.hpp>
#include <data/importers/labels.hpp>
#include <data/importers/npz_file.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

std::int64_t listed_count(const NpzFile& npz, const char* name, std::int64_t most) {
    const auto counts = npz.shaped(name, {-1}).as<std::int64_t>();
    if (counts.size() != 1)
        throw DataError(
            fmt::format("{}: '{}' is of {} graphs; sets of one graph are read", npz.file(), name, counts.size()));
    if (counts[0] < 0 || counts[0] > most)
        throw DataError(fmt::format("{}: '{}' states {}, allowed are 0 to {}", npz.file(), name, counts[0], most));
    return counts[0];
}

EdgeList npz_edges(const fs::path& file, std::int64_t n, std::int64_t m) {
    EdgeList edges;
    edges.file = file.string();
    edges.vertices = n;
    const auto pairs = NpzFile(file, {"edge_index"}).shaped("edge_index", {2, m}).as<std::int32_t>();
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (pairs[i] < 0 || pairs[i] >= n)
            throw DataError(fmt::format("{}: edge {} has vertex {}, allowed are 0 to {}", edges.file, i % usize(m),
                                        pairs[i], n - 1));
    edges.source.assign(pairs.begin(), pairs.begin() + m);
    edges.target.assign(pairs.begin() + m, pairs.end());
    return edges;
}

EdgePolicy policy_for(const OgbEdges& wanted, const EdgeList& edges) {
    EdgePolicy policy = wanted.policy;
    if (!wanted.listing) return policy;
    ListedWays ways;
    for (std::size_t e = 0; e < edges.source.size(); ++e) ways.add(edges.source[e], edges.target[e]);
    policy.listing = wanted.listing(ways.ways());
    return policy;
}

void take_npz_features(RawDataset& data, const fs::path& file, std::int64_t n) {
    const NpzFile npz(file, {"node_feat"});
    if (!npz.has("node_feat")) return;
    const auto& features = npz.shaped("node_feat", {n, -1});
    if (features.shape()[1] < 1)
        throw DataError(fmt::format("{}: 'node_feat' has no columns, at least one is needed", npz.file()));
    data.feature_count = features.shape()[1];
    data.features = features.as<float>();
}

void take_npz_node_labels(RawDataset& data, const fs::path& file, std::int64_t n) {
    const NpzFile npz(file, {"node_label"});
    const auto what = npz.file() + ": 'node_label'";
    const auto& labels = npz.at("node_label");
    if (labels.shape().size() == 1) return take_classes(data, npz.shaped("node_label", {n}).as<double>(), what);
    const auto columns = npz.shaped("node_label", {n, -1}).shape()[1];
    if (columns == 1) return take_classes(data, labels.as<double>(), what);
    check_label_columns(n, columns, what);
    take_label_matrix(data, labels.as<double>(), n, columns, what);
}

}  // namespace

std::optional<bool> stated_inverse(const fs::path& raw) {
    constexpr const char* name = "add_inverse_edge";
    if (!is_there(raw / "data.npz")) return std::nullopt;
    const NpzFile npz(raw / "data.npz", std::vector<std::string>{name});
    if (!npz.has(name)) return std::nullopt;
    return listed_count(npz, name, 1) == 1;
}

std::int64_t read_ogb_npz(const fs::path& raw, const OgbEdges& wanted, RawDataset& data) {
    const auto file = raw / "data.npz";
    const NpzFile counts(file, {"num_nodes_list", "num_edges_list"});
    const auto n = listed_count(counts, "num_nodes_list", INT32_MAX),
               m = listed_count(counts, "num_edges_list", INT64_MAX / 2);
    if (n < 1) throw DataError(fmt::format("{}: it states no vertices, at least one is needed", file.string()));
    auto edges = npz_edges(file, n, m);
    const EdgePolicy policy = policy_for(wanted, edges);
    if (wanted.weighted) {
        const NpzFile npz(file, {"edge_feat"});
        const bool flat = npz.at("edge_feat").shape().size() == 1;
        const std::vector<std::int64_t> column = flat ? std::vector{m} : std::vector<std::int64_t>{m, 1};
        edges.weight = npz.shaped("edge_feat", column).as<float>();
    }
    take_npz_features(data, file, n);
    if (is_there(raw / "node-label.npz")) take_npz_node_labels(data, raw / "node-label.npz", n);
    if (wanted.reverse) std::swap(edges.source, edges.target);
    data.graph = build_graph(std::move(edges), policy);
    return n;
}

}  // namespace gnnbench
