// Two layouts of .npz. Shchur et al. (gnn-benchmark, 2018): adjacency and attributes as CSR parts, adj_data,
// adj_indices …; entry (u, v) of the adjacency is an edge from u to v. Platonov et al. (heterophilous-graphs, 2023):
// node_features, node_labels, edges [m × 2], and train_masks, val_masks, test_masks [splits × n]. Labels of either
// are one class a vertex [n], or, where a vertex may have several, a matrix [n × classes] of 0 and 1.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/formats.hpp>
#include <data/importers/labels.hpp>
#include <data/importers/npz_file.hpp>
#include <data/importers/sparse_matrix.hpp>
#include <data/importers/split_lists.hpp>
#include <data/options.hpp>

namespace gnnbench {

namespace {

constexpr auto npz_params = joined(
    std::array<ParamDecl, 4>{{directed_param("false"), loops_param, repeats_param, reverse_param}}, fill_params);
constexpr const char* npz_endings[] = {".npz"};

void take_npz_labels(RawDataset& data, const NpzFile& npz, const std::string& name, std::int64_t n) {
    const auto what = fmt::format("{}: '{}'", npz.file(), name);
    if (npz.at(name).shape().size() != 2) return take_classes(data, npz.shaped(name, {n}).as<double>(), what);
    const auto& matrix = npz.shaped(name, {n, -1});
    check_label_columns(n, matrix.shape()[1], what);  // before as many numbers are made
    take_label_matrix(data, matrix.as<double>(), n, matrix.shape()[1], what);
}

/// Dense features, of the CSR parts that begin with "attr_".
void take_attributes(RawDataset& data, const NpzFile& npz, std::int64_t n) {
    const auto attributes = read_csr(npz, "attr_");
    if (attributes.rows != n || attributes.cols < 1)
        throw DataError(fmt::format("{}: attr_shape is ({}, {}), expected {} rows", npz.file(), attributes.rows,
                                    attributes.cols, n));
    data.feature_count = attributes.cols;
    data.features.assign(array_elements(npz.file() + ": attr", {n, attributes.cols}, sizeof(float)), 0);
    for (std::size_t e = 0; e < attributes.value.size(); ++e)
        data.features[usize(attributes.row[e] * attributes.cols + attributes.col[e])] += attributes.value[e];
}

RawDataset read_shchur(const NpzFile& npz, const Params& p) {
    auto adjacency = read_csr(npz, "adj_");
    require_square(adjacency);
    const auto n = adjacency.rows;
    auto weight = std::move(adjacency.value);
    auto edges = row_to_column(std::move(adjacency));
    if (!std::ranges::all_of(weight, [](float w) { return w == 1; })) edges.weight = std::move(weight);
    RawDataset data;
    data.graph = build_listed(std::move(edges), p);
    if (npz.has("attr_shape")) take_attributes(data, npz, n);
    if (npz.has("labels")) take_npz_labels(data, npz, "labels", n);
    return data;
}

void take_masks(RawDataset& data, const NpzFile& npz, std::int64_t n) {
    const auto splits = npz.shaped("train_masks", {-1, n}).shape()[0];
    make_masks(data, splits, n, npz.file() + ": 'train_masks'");
    for (auto [name, split] :
         {std::pair{"train_masks", Split::train}, {"val_masks", Split::validation}, {"test_masks", Split::test}}) {
        auto mask = npz.shaped(name, {splits, n}).as<std::uint8_t>();
        for (std::size_t i = 0; i < mask.size(); ++i) {
            if (mask[i] == 0) continue;
            if (data.masks[i] != Split::none)
                throw DataError(fmt::format("{}: vertex {} is in two masks of split {}", npz.file(), i % usize(n),
                                            i / usize(n)));
            data.masks[i] = split;
        }
    }
}

RawDataset read_heterophilous(const NpzFile& npz, const Params& p) {
    const auto& features = npz.shaped("node_features", {-1, -1});
    auto n = features.shape()[0];
    if (n < 1) throw DataError(fmt::format("{}: it has no vertices; a dataset needs at least one", npz.file()));
    if (n > INT32_MAX || features.shape()[1] < 1)
        throw DataError(
            fmt::format("{}: 'node_features' has shape ({}, {}); at most {} vertices and at least one feature "
                        "are allowed",
                        npz.file(), n, features.shape()[1], INT32_MAX));
    RawDataset data;
    data.feature_count = features.shape()[1];
    data.features = features.as<float>();
    take_npz_labels(data, npz, "node_labels", n);
    auto pairs = npz.shaped("edges", {-1, 2}).as<std::int64_t>();
    EdgeList edges;
    edges.file = npz.file();
    edges.vertices = n;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (pairs[i] < 0 || pairs[i] >= n)
            throw DataError(
                fmt::format("{}: edge {} has vertex {}, allowed are 0 to {}", npz.file(), i / 2, pairs[i], n - 1));
        (i % 2 == 0 ? edges.source : edges.target).push_back(static_cast<std::int32_t>(pairs[i]));
    }
    data.graph = build_listed(std::move(edges), p);
    if (npz.has("train_masks")) take_masks(data, npz, n);
    return data;
}

RawDataset read_npz_set(const std::filesystem::path& path, const Params& p, const MemoryBudget&) {
    const NpzFile npz(path, {"adj_data", "adj_indices", "adj_indptr", "adj_shape", "attr_data", "attr_indices",
                             "attr_indptr", "attr_shape", "labels", "node_features", "node_labels", "edges",
                             "train_masks", "val_masks", "test_masks"});
    if (npz.has("adj_indptr")) return read_shchur(npz, p);
    if (npz.has("edges")) return read_heterophilous(npz, p);
    throw DataError(fmt::format(
        "{}: expected the arrays adj_indptr … (Shchur) or node_features, edges … (heterophilous graphs); "
        "found neither",
        path.string()));
}

}  // namespace

const ImportFormat npz_format{
    "npz", "NumPy archive in Shchur's layout or that of the heterophilous graphs (.npz)", npz_params,
    [](const std::filesystem::path& path) { return ends_with_any(path, npz_endings); }, read_npz_set};

}  // namespace gnnbench
