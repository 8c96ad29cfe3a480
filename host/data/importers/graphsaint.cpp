// GraphSAINT (Zeng et al., ICLR 2020): a folder of adj_full.npz and adj_train.npz (SciPy, CSR, N × N), feats.npy [N ×
// f], class_map.json (of every vertex a class, or a list of 0 and 1 of any number of classes) and role.json (the
// vertices of "tr", "va" and "te"). Row v of adj_full is what v aggregates from, as GraphSAINT multiplies by it; its
// values say only whether there is an edge. adj_train has the edges between train vertices; it is checked, if it is
// there, and not kept.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/formats.hpp>
#include <data/importers/json_numbers.hpp>
#include <data/importers/labels.hpp>
#include <data/importers/sparse_matrix.hpp>
#include <data/importers/split_lists.hpp>
#include <data/options.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr auto graphsaint_params = joined(
    std::array<ParamDecl, 4>{{directed_param("true"), loops_param, repeats_param, reverse_param}}, fill_params);
constexpr std::array saint_files{"adj_full.npz", "feats.npy", "class_map.json", "role.json"};
constexpr const char* saint_train_file = "adj_train.npz";

/// The folder, of itself or of its adj_full.npz; empty where it is not one of GraphSAINT's.
fs::path saint_folder(const fs::path& path) {
    const auto folder = path.filename() == saint_files[0] ? path.parent_path() : path;
    return is_there(folder / "adj_full.npz") && is_there(folder / "role.json") ? folder : fs::path();
}

std::vector<fs::path> saint_inputs(const fs::path& path) {
    const auto folder = saint_folder(path);
    std::vector<fs::path> files;
    for (auto name : saint_files) files.push_back((folder.empty() ? path : folder) / name);
    for (const auto& file : files)
        if (!is_there(file))
            throw DataError(fmt::format("{}: GraphSAINT's format needs {}, and there is none", path.string(),
                                        file.filename().string()));
    if (is_there(files[0].parent_path() / saint_train_file))
        files.push_back(files[0].parent_path() / saint_train_file);
    return files;
}

EdgeList read_adjacency(const fs::path& file) {
    auto matrix = read_scipy_matrix(file);
    require_square(matrix);
    drop_zeros(matrix);
    auto edges = row_to_column(std::move(matrix));
    std::swap(edges.source, edges.target);
    return edges;
}

void take_npy_features(RawDataset& data, const fs::path& file, std::int64_t n) {
    const MappedFile mapped(file);
    const NpyArray features({mapped.bytes().begin(), mapped.bytes().end()}, file.string());
    const auto& shape = features.shape();
    if (shape.size() != 2 || shape[0] != n || shape[1] < 1)
        throw DataError(
            fmt::format("{}: it has the shape ({}), expected {} rows, one a vertex, of at least one "
                        "feature",
                        file.string(), fmt::join(shape, ", "), n));
    data.feature_count = shape[1];
    data.features = features.as<float>();
}

std::int64_t vertex_of(const JsonNumbers& entry, std::int64_t n) {
    std::int64_t vertex = -1;
    const auto end = entry.key.data() + entry.key.size();
    auto [stop, bad] = std::from_chars(entry.key.data(), end, vertex);
    if (bad != std::errc{} || stop != end || vertex < 0 || vertex >= n)
        throw DataError(fmt::format("{}: expected a vertex, allowed are 0 to {}", entry.where, n - 1));
    return vertex;
}

/// class_map.json, vertex by vertex: all have one number, or all have lists of one length.
class ClassMap {
public:
    ClassMap(RawDataset& data, std::int64_t n) : data_(data), n_(n), seen_(usize(n)) {}

    void add(const JsonNumbers& entry) {
        const auto v = vertex_of(entry, n_);
        if (seen_[usize(v)]) throw DataError(fmt::format("{}: it is there twice", entry.where));
        seen_[usize(v)] = true;
        if (count_++ == 0) begin(entry);
        if (entry.list != listed_ || std::ssize(entry.values) != columns_)
            throw DataError(fmt::format("{}: it has {}, the vertex before {}", entry.where,
                                        form(entry.list, std::ssize(entry.values)), form(listed_, columns_)));
        if (listed_) return add_row(v, entry);
        const double value = entry.values.front();
        if (value < 0 || value >= static_cast<double>(most_classes) || value != std::floor(value))
            throw DataError(
                fmt::format("{}: it has the class {}, allowed are 0 to {}", entry.where, value, most_classes - 1));
        classes_[usize(v)] = value;
    }

    void finish(const fs::path& file) {
        if (count_ != n_) {
            const auto missing = std::ranges::find(seen_, false) - seen_.begin();
            throw DataError(fmt::format("{}: it has no label for vertex {}", file.string(), missing));
        }
        if (listed_) return;
        // GraphSAINT counts classes from the smallest there is.
        const double least = std::ranges::min(classes_);
        for (double& c : classes_) c -= least;
        take_classes(data_, classes_, file.string());
    }

private:
    static std::string form(bool list, std::int64_t length) {
        return list ? fmt::format("a list of {}", length) : std::string("one number");
    }
    void begin(const JsonNumbers& first) {
        listed_ = first.list;
        columns_ = std::ssize(first.values);
        if (!listed_) return classes_.resize(usize(n_));
        check_label_columns(n_, columns_, first.where);
        data_.classes = static_cast<std::int32_t>(columns_);
        data_.label_matrix.resize(array_elements(first.where + ": the labels", {n_, columns_}, 1));
    }
    void add_row(std::int64_t v, const JsonNumbers& entry) {
        for (std::int64_t c = 0; c < columns_; ++c) {
            const double value = entry.values[usize(c)];
            if (value != 0 && value != 1)
                throw DataError(
                    fmt::format("{}: it has {} for class {}, allowed are 0 and 1", entry.where, value, c));
            data_.label_matrix[usize(v * columns_ + c)] = value == 1;
        }
    }

    RawDataset& data_;
    std::int64_t n_, count_ = 0, columns_ = 0;
    bool listed_ = false;
    std::vector<bool> seen_;
    std::vector<double> classes_;
};

void take_class_map(RawDataset& data, const fs::path& file, std::int64_t n) {
    ClassMap map(data, n);
    read_json_numbers(file, [&](const JsonNumbers& entry) { map.add(entry); });
    map.finish(file);
}

void take_roles(RawDataset& data, const fs::path& file, std::int64_t n) {
    make_masks(data, 1, n, file.string());
    std::set<std::string> found;
    read_json_numbers(file, [&](const JsonNumbers& entry) {
        const auto role = entry.key == "tr"   ? Split::train
                          : entry.key == "va" ? Split::validation
                          : entry.key == "te" ? Split::test
                                              : Split::none;
        if (role == Split::none || !entry.list || !found.insert(entry.key).second)
            throw DataError(fmt::format("{}: expected the keys tr, va and te, once each, with a list of vertices",
                                        entry.where));
        for (const double value : entry.values) {
            const bool whole = value >= 0 && value < static_cast<double>(n) && value == std::floor(value);
            if (!whole)
                throw DataError(
                    fmt::format("{}: it lists vertex {}, allowed are 0 to {}", entry.where, value, n - 1));
            const auto problem = put_in_mask(data.masks, static_cast<std::int64_t>(value), role);
            if (!problem.empty()) throw DataError(fmt::format("{}: {}", entry.where, problem));
        }
    });
    if (found.size() != 3)
        throw DataError(fmt::format("{}: expected the keys tr, va and te, found only {}", file.string(),
                                    fmt::join(found, ", ")));
}

/// Its edges connect train vertices; there are no more than in the whole graph.
void check_train_adjacency(const fs::path& file, const RawDataset& data, std::int64_t n, std::int64_t all_edges) {
    const auto edges = read_adjacency(file);
    if (edges.vertices != n)
        throw DataError(
            fmt::format("{}: it is of {} vertices, {} of {}", file.string(), edges.vertices, saint_files[0], n));
    if (edges.edges() > all_edges)
        throw DataError(fmt::format("{}: it has {} edges, more than the {} of {}", file.string(), edges.edges(),
                                    all_edges, saint_files[0]));
    for (std::size_t e = 0; e < edges.source.size(); ++e)
        for (auto v : {edges.source[e], edges.target[e]})
            if (data.masks[usize(v)] != Split::train)
                throw DataError(fmt::format(
                    "{}: it has an edge {} → {}, but {} is not among role.json's train vertices; without "
                    "this file, which is only checked, the set imports",
                    file.string(), edges.source[e], edges.target[e], v));
}

RawDataset read_graphsaint(const fs::path& path, const Params& p, const MemoryBudget&) {
    const auto files = saint_inputs(path);
    auto edges = read_adjacency(files[0]);
    const auto n = edges.vertices, listed = edges.edges();
    RawDataset data;
    data.graph = build_listed(std::move(edges), p);
    take_npy_features(data, files[1], n);
    take_class_map(data, files[2], n);
    take_roles(data, files[3], n);
    if (files.size() > 4) check_train_adjacency(files[4], data, n, listed);
    return data;
}

}  // namespace

const ImportFormat graphsaint_format{
    "graphsaint",
    "GraphSAINT's folder: adj_full.npz, feats.npy, class_map.json, role.json; adj_train.npz is checked",
    graphsaint_params,
    [](const fs::path& path) { return !saint_folder(path).empty(); },
    read_graphsaint,
    saint_inputs};

}  // namespace gnnbench
