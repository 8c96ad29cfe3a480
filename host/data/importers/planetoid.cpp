// Planetoid (Yang, Cohen and Salakhutdinov, ICML 2016) as tkipf/gcn reads it: ind.NAME.{x, y, tx, ty, allx, ally,
// graph, test.index}. Rows of allx come first; row i of tx belongs to the i-th vertex of test.index. A vertex
// between the smallest and largest test vertex that test.index does not list (Citeseer has some) gets zero
// features and no label.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/formats.hpp>
#include <data/importers/pickle.hpp>
#include <data/options.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr auto planetoid_params = joined(std::array<ParamDecl, 1>{{loops_param}}, fill_params);
constexpr std::array parts{"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};
constexpr std::int64_t validation_vertices = 500;
constexpr std::int64_t most_classes = 1'000'000;

/// "…/ind.NAME" of the folder, of one of its files, or of itself; empty where it is none of these.
fs::path set_of(const fs::path& path) {
    std::error_code none;
    if (fs::is_directory(path))
        for (const auto& item : fs::directory_iterator(path, none))
            if (item.path().filename().string().starts_with("ind.") && item.path().extension() == ".graph")
                return fs::path(item.path()).replace_extension();
    auto name = path.filename().string();
    if (!name.starts_with("ind.")) return {};
    return path.parent_path() / name.substr(0, std::min(name.find('.', 4), name.size()));
}

std::vector<fs::path> inputs(const fs::path& path) {
    auto set = set_of(path);
    if (set.empty())
        throw DataError(fmt::format("{}: expected files ind.NAME.x, ind.NAME.graph …, found none", path.string()));
    std::vector<fs::path> files;
    for (auto part : parts) files.emplace_back(set.string() + "." + part);
    return files;
}

/// A pickle whose outermost value is a T.
template <class T>
struct Unpickled {
    Pickle all;
    T& value;
    T* operator->() const { return &value; }
};

template <class T>
Unpickled<T> unpickle(const fs::path& file, const char* what) {
    auto bytes = read_all(file);
    auto pickle = load_pickle(bytes, file.string());
    if (auto found = std::get_if<T>(&pickle.root->is)) return {std::move(pickle), *found};
    throw DataError(fmt::format("{}: expected {}", file.string(), what));
}

/// Class of each row of a one-hot matrix; −1 where a row is zero.
std::vector<std::int32_t> read_classes(const fs::path& file, std::int64_t rows, std::int32_t& classes) {
    auto array = unpickle<PickleArray>(file, "a NumPy array, one-hot")->array;
    if (!array || array->shape().size() != 2 || (rows >= 0 && array->shape()[0] != rows))
        throw DataError(fmt::format("{}: expected a one-hot matrix of {} rows", file.string(), rows));
    auto hot = array->as<std::int32_t>();
    auto width = array->shape()[1];
    if (width < 1 || width > most_classes)
        throw DataError(
            fmt::format("{}: it has {} classes, allowed are 1 to {}", file.string(), width, most_classes));
    if (classes == 0) classes = static_cast<std::int32_t>(width);
    if (width != classes)
        throw DataError(
            fmt::format("{}: it has {} classes, the files beside it {}", file.string(), width, classes));
    std::vector<std::int32_t> labels;
    for (auto row = hot.begin(); row != hot.end(); row += width) {
        auto one = std::find_if(row, row + width, [](auto h) { return h != 0; });
        labels.push_back(one == row + width ? -1 : static_cast<std::int32_t>(one - row));
    }
    return labels;
}

/// Vertices from `first` on, of `vertices`; as many as `count`.
std::vector<std::int64_t> read_test_index(const fs::path& file, std::int64_t first, std::int64_t vertices,
                                          std::int64_t count) {
    LineReader reader(file);
    std::vector<std::int64_t> index;
    for (std::string_view text; reader.next(text);)
        if (!is_blank(text)) index.push_back(parse_integer(text, first, vertices - 1, reader, "a test vertex"));
    if (static_cast<std::int64_t>(index.size()) != count || count == 0)
        throw DataError(
            fmt::format("{}: it lists {} test vertices, tx has {} rows", file.string(), index.size(), count));
    auto sorted = index;
    std::ranges::sort(sorted);
    if (auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw DataError(fmt::format("{}: it lists vertex {} twice", file.string(), *twice));
    return index;
}

void put_row(RawDataset& data, std::int64_t vertex, const PickleCsr& from, std::int64_t row) {
    for (auto e = from.indptr[usize(row)]; e < from.indptr[usize(row) + 1]; ++e)
        data.features[usize(vertex * data.feature_count + from.indices[usize(e)])] += from.data[usize(e)];
}

EdgeList read_edges(const PickleDict& graph, const fs::path& file, std::int64_t n) {
    EdgeList edges;
    edges.vertices = n;
    edges.file = file.string();
    auto vertex = [&](const PickleValue& value) {
        auto id = std::get_if<std::int64_t>(&value.is);
        if (!id || *id < 0 || *id >= n)
            throw DataError(fmt::format("{}: it has {} as a vertex, allowed are 0 to {}", file.string(),
                                        id ? std::to_string(*id) : "something else than a number", n - 1));
        return static_cast<std::int32_t>(*id);
    };
    for (const auto& [key, value] : graph.items) {
        auto list = std::get_if<PickleList>(&value->is);
        if (!list)
            throw DataError(
                fmt::format("{}: the neighbours of vertex {} are not a list", file.string(), vertex(*key)));
        for (const auto& neighbour : list->items) {
            edges.source.push_back(vertex(*neighbour));
            edges.target.push_back(vertex(*key));
        }
    }
    return edges;
}

/// The standard split; a vertex without a label is in no mask.
std::vector<Split> standard_split(const std::vector<std::int32_t>& labels, std::int64_t train, std::int64_t known,
                                  const std::vector<std::int64_t>& test) {
    std::vector<Split> masks(labels.size(), Split::none);
    for (std::int64_t v = 0; v < std::min(train + validation_vertices, known); ++v)
        masks[usize(v)] = v < train ? Split::train : Split::validation;
    for (auto v : test) masks[usize(v)] = Split::test;
    for (std::size_t v = 0; v < labels.size(); ++v)
        if (labels[v] < 0) masks[v] = Split::none;
    return masks;
}

PickleCsr read_features(const fs::path& file) { return unpickle<PickleCsr>(file, "a SciPy CSR matrix").value; }

RawDataset read_planetoid(const fs::path& path, const Params& p, const MemoryBudget&) {
    auto files = inputs(path);
    auto x = read_features(files[0]), tx = read_features(files[2]), allx = read_features(files[4]);
    if (tx.cols != allx.cols || x.cols != allx.cols || x.rows > allx.rows || allx.cols < 1)
        throw DataError(fmt::format(
            "{}: x, tx and allx are {} × {}, {} × {} and {} × {}; they must have the same columns, and x no "
            "more rows than allx",
            files[4].string(), x.rows, x.cols, tx.rows, tx.cols, allx.rows, allx.cols));
    // The graph names every vertex, also those without neighbours.
    auto graph = unpickle<PickleDict>(files[6], "a dictionary of neighbour lists");
    auto vertices = std::min<std::int64_t>(std::max(std::ssize(graph->items), allx.rows + tx.rows), INT32_MAX);
    auto test = read_test_index(files[7], allx.rows, vertices, tx.rows);
    auto n = std::ranges::max(test) + 1;
    RawDataset data;
    data.name = set_of(path).filename().string().substr(4);
    data.feature_count = allx.cols;
    data.features.assign(array_elements(files[4].string() + ": the features", {n, allx.cols}, sizeof(float)), 0);
    read_classes(files[1], x.rows, data.classes);
    data.labels = read_classes(files[5], allx.rows, data.classes);
    data.labels.resize(usize(n), -1);
    auto test_labels = read_classes(files[3], tx.rows, data.classes);
    for (std::int64_t v = 0; v < allx.rows; ++v) put_row(data, v, allx, v);
    for (std::size_t i = 0; i < test.size(); ++i) {
        put_row(data, test[i], tx, static_cast<std::int64_t>(i));
        data.labels[usize(test[i])] = test_labels[i];
    }
    data.masks = standard_split(data.labels, x.rows, allx.rows, test);
    data.splits = 1;
    data.graph =
        build_graph(read_edges(graph.value, files[6], n), {Listing::completed, loops_policy(p), Repeats::drop});
    return data;
}

}  // namespace

const ImportFormat planetoid_format{
    "planetoid",      "Planetoid's pickles (ind.NAME.x … : one of them, their folder, or ind.NAME)",
    planetoid_params, [](const fs::path& path) { return !set_of(path).empty(); },
    read_planetoid,   inputs};

}  // namespace gnnbench
