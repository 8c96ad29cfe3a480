// Two layouts of .npz. Shchur et al. (gnn-benchmark, 2018): adjacency and attributes as CSR parts, adj_data,
// adj_indices …; entry (u, v) of the adjacency is an edge from u to v. Platonov et al. (heterophilous-graphs, 2023):
// node_features, node_labels, edges [m × 2], and train_masks, val_masks, test_masks [splits × n]. Labels of either
// are one class a vertex [n], or, where a vertex may have several, a matrix [n × classes] of 0 and 1.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include <data/importers/formats.hpp>
#include <data/importers/zip.hpp>
#include <data/options.hpp>

namespace gnnbench {

namespace {

constexpr auto npz_params = joined(
    std::array<ParamDecl, 4>{{directed_param("false"), loops_param, repeats_param, reverse_param}}, fill_params);
constexpr const char* npz_endings[] = {".npz"};
constexpr std::int64_t most_splits = 10000;  // published sets have ten

using Arrays = std::map<std::string, NpyArray>;

class Npz {
public:
    explicit Npz(const std::filesystem::path& path)
        : file_(path.string()), arrays_(read_npz(path, [](const std::string& name) {
              return name != "node_names" && name != "class_names" && name != "attr_names";
          })) {}
    bool has(const std::string& name) const { return arrays_.contains(name); }
    const NpyArray& at(const std::string& name) const {
        auto found = arrays_.find(name);
        if (found != arrays_.end()) return found->second;
        std::vector<std::string> names;
        for (const auto& [n, array] : arrays_) names.push_back(n);
        throw DataError(fmt::format("{}: array '{}' is missing; it has {}", file_, name, fmt::join(names, ", ")));
    }
    /// The array, of the given shape; an extent of −1 may be anything.
    const NpyArray& shaped(const std::string& name, std::vector<std::int64_t> shape) const {
        const auto& array = at(name);
        const auto& found = array.shape();
        bool fits = found.size() == shape.size();
        for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || shape[i] == found[i];
        if (!fits)
            throw DataError(fmt::format("{}: array '{}' has shape ({}), expected ({}) where -1 is any", file_,
                                        name, fmt::join(found, ", "), fmt::join(shape, ", ")));
        return array;
    }
    const std::string& file() const { return file_; }

private:
    std::string file_;
    Arrays arrays_;
};

/// Rows and columns of a CSR matrix of the file whose arrays begin with `prefix`.
std::vector<std::int64_t> matrix_shape(const Npz& npz, const std::string& prefix) {
    auto shape = npz.shaped(prefix + "_shape", {2}).as<std::int64_t>();
    if (shape[0] < 0 || shape[0] > INT32_MAX || shape[1] < 0 || shape[1] > INT32_MAX)
        throw DataError(
            fmt::format("{}: {}_shape is ({}, {}), which cannot be", npz.file(), prefix, shape[0], shape[1]));
    return shape;
}

/// Calls entry(row, column, position) for a CSR matrix of the file whose arrays begin with `prefix`. Returns its
/// shape.
template <class Entry>
std::pair<std::int64_t, std::int64_t> each_entry(const Npz& npz, const std::string& prefix, Entry entry) {
    auto shape = matrix_shape(npz, prefix);
    auto indptr = npz.shaped(prefix + "_indptr", {shape[0] + 1}).as<std::int64_t>();
    auto indices = npz.shaped(prefix + "_indices", {-1}).as<std::int64_t>();
    auto nonzeros = static_cast<std::int64_t>(indices.size());
    if (indptr.front() != 0 || indptr.back() != nonzeros || !std::ranges::is_sorted(indptr))
        throw DataError(fmt::format("{}: {}_indptr must rise from 0 to {}", npz.file(), prefix, nonzeros));
    for (std::int64_t r = 0; r < shape[0]; ++r)
        for (auto e = indptr[static_cast<std::size_t>(r)]; e < indptr[static_cast<std::size_t>(r) + 1]; ++e) {
            auto c = indices[static_cast<std::size_t>(e)];
            if (c < 0 || c >= shape[1])
                throw DataError(fmt::format("{}: {}_indices has {} in row {}, allowed are 0 to {}", npz.file(),
                                            prefix, c, r, shape[1] - 1));
            entry(r, c, static_cast<std::size_t>(e));
        }
    return {shape[0], shape[1]};
}

void take_label_matrix(RawDataset& data, const Npz& npz, const std::string& name, std::int64_t n) {
    const auto& array = npz.shaped(name, {n, -1});
    const std::int64_t classes = array.shape()[1];
    if (classes < 2 || classes > 1'000'000)
        throw DataError(fmt::format(
            "{}: '{}' is a label matrix of {} classes, allowed are 2 to 1000000; one label a vertex has "
            "the shape ({})",
            npz.file(), name, classes, n));
    const auto values = array.as<double>();
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0 && values[i] != 1)
            throw DataError(fmt::format("{}: '{}' has {} for vertex {} and class {}, allowed are 0 and 1",
                                        npz.file(), name, values[i], i / static_cast<std::size_t>(classes),
                                        i % static_cast<std::size_t>(classes)));
    data.classes = static_cast<std::int32_t>(classes);
    data.label_matrix.assign(values.begin(), values.end());
}

void take_labels(RawDataset& data, const Npz& npz, const std::string& name, std::int64_t n) {
    if (npz.at(name).shape().size() == 2) return take_label_matrix(data, npz, name, n);
    data.labels = npz.shaped(name, {n}).as<std::int32_t>();
    if (data.labels.empty()) throw DataError(fmt::format("{}: '{}' is empty", npz.file(), name));
    auto largest = *std::ranges::max_element(data.labels);
    if (largest >= 1'000'000)
        throw DataError(fmt::format("{}: '{}' has the class {}, allowed are 0 to 999999, and -1 for unknown",
                                    npz.file(), name, largest));
    data.classes = std::max(1, largest + 1);
}

RawDataset read_shchur(const Npz& npz, const Params& p) {
    RawDataset data;
    EdgeList edges;
    edges.file = npz.file();
    auto values = npz.shaped("adj_data", npz.at("adj_indices").shape()).as<float>();
    auto [n, columns] = each_entry(npz, "adj", [&](std::int64_t u, std::int64_t v, std::size_t e) {
        edges.source.push_back(static_cast<std::int32_t>(u));
        edges.target.push_back(static_cast<std::int32_t>(v));
        edges.weight.push_back(values[e]);
    });
    if (n != columns || n < 1)
        throw DataError(fmt::format("{}: the adjacency is {} × {}, expected a square", npz.file(), n, columns));
    edges.vertices = n;
    if (std::ranges::all_of(edges.weight, [](float w) { return w == 1; })) edges.weight.clear();
    data.graph = build_listed(std::move(edges), p);
    if (npz.has("attr_shape")) {
        auto attributes = npz.shaped("attr_data", npz.at("attr_indices").shape()).as<float>();
        auto shape = matrix_shape(npz, "attr");
        if (shape[0] != n || shape[1] < 1)
            throw DataError(
                fmt::format("{}: attr_shape is ({}, {}), expected {} rows", npz.file(), shape[0], shape[1], n));
        data.feature_count = shape[1];
        data.features.assign(array_elements(npz.file() + ": attr", {n, shape[1]}, sizeof(float)), 0);
        each_entry(npz, "attr", [&](std::int64_t v, std::int64_t c, std::size_t e) {
            data.features[static_cast<std::size_t>(v * shape[1] + c)] += attributes[e];
        });
    }
    if (npz.has("labels")) take_labels(data, npz, "labels", n);
    return data;
}

void take_masks(RawDataset& data, const Npz& npz, std::int64_t n) {
    auto splits = npz.shaped("train_masks", {-1, n}).shape()[0];
    if (splits < 1 || splits > most_splits)
        throw DataError(
            fmt::format("{}: 'train_masks' has {} splits, allowed are 1 to {}", npz.file(), splits, most_splits));
    data.splits = static_cast<std::int32_t>(splits);
    data.masks.assign(array_elements(npz.file() + ": masks", {splits, n}, sizeof(Split)), Split::none);
    for (auto [name, split] :
         {std::pair{"train_masks", Split::train}, {"val_masks", Split::validation}, {"test_masks", Split::test}}) {
        auto mask = npz.shaped(name, {splits, n}).as<std::uint8_t>();
        for (std::size_t i = 0; i < mask.size(); ++i) {
            if (mask[i] == 0) continue;
            if (data.masks[i] != Split::none)
                throw DataError(fmt::format("{}: vertex {} is in two masks of split {}", npz.file(),
                                            i % static_cast<std::size_t>(n), i / static_cast<std::size_t>(n)));
            data.masks[i] = split;
        }
    }
}

RawDataset read_heterophilous(const Npz& npz, const Params& p) {
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
    take_labels(data, npz, "node_labels", n);
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

RawDataset read_npz(const std::filesystem::path& path, const Params& p) {
    Npz npz(path);
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
    [](const std::filesystem::path& path) { return ends_with_any(path, npz_endings); }, read_npz};

}  // namespace gnnbench
