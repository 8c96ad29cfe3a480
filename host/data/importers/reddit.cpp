// Reddit as DGL distributes it: reddit_data.npz has feature [n × f], label [n] and node_types [n] (1 train, 2
// validation, 3 test), reddit_graph.npz (or reddit_self_loop_graph.npz) the adjacency as scipy.sparse.save_npz writes
// it; entry (u, v) is an edge from u to v. Both directions are listed; values are not weights.
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/importers/formats.hpp>
#include <data/importers/labels.hpp>
#include <data/importers/sparse_matrix.hpp>
#include <data/importers/split_lists.hpp>
#include <data/options.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr auto reddit_params = joined(
    std::array<ParamDecl, 4>{{directed_param("true"), loops_param, repeats_param, reverse_param}}, fill_params);
constexpr const char* reddit_data = "reddit_data.npz";
constexpr std::array reddit_graphs{"reddit_graph.npz", "reddit_self_loop_graph.npz"};

bool is_reddit(const fs::path& path) {
    return path.filename() == reddit_data || path.filename() == reddit_graphs[0] ||
           path.filename() == reddit_graphs[1] || is_there(path / reddit_data);
}

/// Graph and data. Of two graphs the named one counts.
std::vector<fs::path> reddit_inputs(const fs::path& path) {
    const auto folder = fs::is_directory(path) ? path : path.parent_path();
    fs::path graph;
    for (auto name : reddit_graphs)
        if (is_there(folder / name) && (graph.empty() || path.filename() == name)) graph = folder / name;
    if (graph.empty() || !is_there(folder / reddit_data))
        throw DataError(fmt::format("{}: Reddit's format needs {} and {}, there is no {}", path.string(),
                                    reddit_data, reddit_graphs[0],
                                    graph.empty() ? reddit_graphs[0] : reddit_data));
    return {graph, folder / reddit_data};
}

void take_node_types(RawDataset& data, const NpzFile& npz, std::int64_t n) {
    const auto types = npz.shaped("node_types", {n}).as<std::int32_t>();
    make_masks(data, 1, n, npz.file() + ": 'node_types'");
    for (std::size_t v = 0; v < types.size(); ++v) {
        if (types[v] < 0 || types[v] > 3)
            throw DataError(
                fmt::format("{}: 'node_types' has {} for vertex {}, allowed are 1 (train), 2 "
                            "(validation), 3 (test) and 0 (none)",
                            npz.file(), types[v], v));
        data.masks[v] = static_cast<Split>(types[v]);
    }
}

RawDataset read_reddit(const fs::path& path, const Params& p, const MemoryBudget&) {
    const auto files = reddit_inputs(path);
    auto matrix = read_scipy_matrix(files[0]);
    require_square(matrix);
    const auto n = matrix.rows;
    RawDataset data;
    data.graph = build_listed(row_to_column(std::move(matrix)), p);
    const NpzFile npz(files[1], {"feature", "label", "node_types"});
    const auto& features = npz.shaped("feature", {n, -1});
    if (features.shape()[1] < 1)
        throw DataError(fmt::format("{}: 'feature' has no columns, at least one is needed", npz.file()));
    data.feature_count = features.shape()[1];
    data.features = features.as<float>();
    take_classes(data, npz.shaped("label", {n}).as<double>(), npz.file() + ": 'label'");
    take_node_types(data, npz, n);
    return data;
}

}  // namespace

const ImportFormat reddit_format{
    "reddit",
    "Reddit as DGL distributes it: reddit_data.npz and reddit_graph.npz, one of them or their folder",
    reddit_params,
    is_reddit,
    read_reddit,
    reddit_inputs};

}  // namespace gnnbench
