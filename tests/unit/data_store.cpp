#include <algorithm>
#include <csignal>
#include <functional>
#include <limits>

#include <sys/resource.h>

#include <gnnbench/error.hpp>
#include <gnnbench/training/adjacency.hpp>

#include <data/content.hpp>
#include <data/describe.hpp>
#include <data/store.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

std::string refusal(const std::function<void(RawDataset&)>& spoil) {
    TempFolder folder;
    auto data = tiny_dataset();
    spoil(data);
    auto message = message_of<DataError>([&] { write_store(folder / "s", data); });
    CHECK(fs::is_empty(folder.path()));
    return message;
}

template <class T>
void overwrite(const fs::path& file, std::vector<T> values, std::vector<std::int64_t> shape) {
    write_npy<T>(file, values, std::move(shape));
}

/// Bytes of mapped files that this process has in memory.
std::int64_t bytes_of_files() {
    std::ifstream status("/proc/self/status");
    const std::string name = "RssFile:";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return 1024 * std::stoll(line.substr(name.size()));
    return -1;
}

}  // namespace

TEST_CASE("a dataset that cannot be is not written") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK_THAT(refusal([](RawDataset& d) { d.features[5] = nan; }), says("feature 1 of vertex 2 is nan"));
    CHECK_THAT(refusal([](RawDataset& d) { d.labels[1] = 2; }),
               says("label of vertex 1 is 2, allowed are 0 to 1"));
    CHECK_THAT(refusal([](RawDataset& d) { d.labels[1] = -2; }), says("label of vertex 1 is -2"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.indices[2] = 4; }),
               says("vertex 2 has a neighbour 4, allowed are 0 to 3"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.indices = {0, 1, 0}; }),
               says("row of vertex 2 lists 0 after 1"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.indices = {0, 1, 1}; }),
               says("row of vertex 2 lists 1 after 1"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.indptr = {0, 1, 0, 3, 3}; }), says("must not decrease"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.indptr = {0, 0, 1, 2, 2}; }), says("expected 0 to 3"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.weights = {1, nan, 1}; }), says("weight of entry 1 is nan"));
    CHECK_THAT(refusal([](RawDataset& d) { d.graph.weights = {1, 1}; }),
               says("weights has 2 elements, expected 3"));
    CHECK_THAT(refusal([](RawDataset& d) { d.features.pop_back(); }), says("features has 7 elements, expected 8"));
    CHECK_THAT(refusal([](RawDataset& d) { d.masks[3] = Split::train; }),
               says("vertex 3 is in a mask of split 0 but has no"));
    CHECK_THAT(refusal([](RawDataset& d) { d.masks[2] = Split{7}; }), says("mask of vertex 2 in split 0 is 7"));
    const auto several = [](RawDataset& d) { d.labels.clear(), d.label_matrix = {0, 1, 1, 1, 0, 0, 1, 0}; };
    CHECK_THAT(refusal([&](RawDataset& d) { several(d), d.label_matrix[5] = 2; }),
               says("the label matrix has 2 for vertex 2 and class 1, allowed are 0 and 1"));
    CHECK_THAT(refusal([&](RawDataset& d) { several(d), d.label_matrix.pop_back(); }),
               says("the label matrix has 7 elements, expected 8"));
    CHECK_THAT(refusal([&](RawDataset& d) { several(d), d.labels = {0, 1, 1, 0}; }),
               says("labels has 4 elements, expected 0"));
}

TEST_CASE("a store of a label matrix comes back as it was written, and says what is wrong with another") {
    TempFolder folder;
    auto data = tiny_dataset();
    const auto one_label = write_store(folder / "one", data);
    data.labels.clear();
    data.label_matrix = {0, 1, 1, 1, 0, 0, 1, 0};
    data.masks[3] = Split::train;  // vertex 2 has no label, vertex 3 one: all may be in masks
    const auto written = write_store(folder / "s", data);
    CHECK(written.multi_label);
    CHECK_FALSE(one_label.multi_label);
    auto store = Store::open(folder / "s");
    store.check();
    CHECK(store.manifest() == written);
    const auto view = store.view();
    CHECK(view.multi_label());
    CHECK(view.labels.empty());
    CHECK(std::ranges::equal(view.label_matrix, data.label_matrix));
    CHECK_FALSE(fs::exists(folder / "s/labels.npy"));

    overwrite<std::uint8_t>(folder / "s/label_matrix.npy", {0, 1, 1, 1, 0, 0, 0, 1}, {4, 2});
    CHECK_THAT(message_of<DataError>([&] { Store::open(folder / "s").check(); }), says("it was changed after"));
    overwrite<std::uint8_t>(folder / "s/label_matrix.npy", {0, 1, 1, 1, 0, 0, 3, 0}, {4, 2});
    CHECK_THAT(message_of<DataError>([&] { Store::open(folder / "s").check(); }),
               says("the label matrix has 3 for vertex 3 and class 0"));
    overwrite<std::uint8_t>(folder / "s/label_matrix.npy", {0, 1, 1, 1, 0, 0, 1, 0}, {2, 4});
    CHECK_THAT(message_of<DataError>([&] { Store::open(folder / "s"); }),
               says("label_matrix.npy: its shape is (2, 4), the manifest states (4, 2)"));
}

TEST_CASE("a store whose manifest is older than label matrices has one label for each vertex") {
    TempFolder folder;
    const auto written = write_store(folder / "s", tiny_dataset());
    auto manifest = to_json(written);
    manifest.erase("multi_label");
    folder.write("s/manifest.json", manifest.dump());
    CHECK(Store::open(folder / "s").manifest() == written);
}

TEST_CASE("a store comes back as it was written") {
    TempFolder folder;
    auto data = tiny_dataset();
    data.graph.weights = {1, 2, 0.5};
    data.synthetic = {"labels"};
    data.options = {{"seed", 3}};
    auto written = write_store(folder / "sub/s", data);
    auto store = Store::open(folder / "sub/s");
    store.check();
    CHECK(store.manifest() == written);
    CHECK(written.edges == 3);
    CHECK(written.weighted);
    CHECK_FALSE(written.symmetric_pattern);
    CHECK(written.digest.size() == 32);
    auto view = store.view();
    CHECK(view.graph.vertices() == 4);
    CHECK(view.graph.indices[2] == 1);
    CHECK(view.graph.weights[2] == 0.5f);
    CHECK(view.features[7] == 7);
    CHECK(view.labels[3] == -1);
    CHECK(view.split[1] == Split::validation);
    CHECK_THAT(message_of<SpecError>([&] { store.view(1); }), says("dataset tiny has splits 0 to 0; split 1"));
}

TEST_CASE("a directed graph is stored with its transpose, a weighted one with its sums") {
    TempFolder folder;
    auto data = tiny_dataset();  // rows: {}, {0}, {0, 1}, {}
    data.graph.weights = {1, 2, 0.5};
    write_store(folder / "s", data);
    const auto store = Store::open(folder / "s");
    const GraphView graph = store.view().graph;
    const auto list = [](const auto& values) { return std::vector(values.begin(), values.end()); };
    CHECK(list(graph.transpose.indptr) == std::vector<std::int64_t>{0, 2, 3, 3, 3});
    CHECK(list(graph.transpose.indices) == std::vector<std::int32_t>{1, 2, 2});
    CHECK(list(graph.transpose.weights) == std::vector<float>{1, 2, 0.5});
    CHECK(list(graph.row_sums) == std::vector<double>{0, 1, 2.5, 0});
    CHECK(list(graph.column_sums) == std::vector<double>{3, 0.5, 0, 0});
    CHECK(graph.self_loops == 0);

    const auto check = [&] { return message_of<DataError>([&] { Store::open(folder / "s").check(); }); };
    overwrite<std::int32_t>(folder / "s/transpose_indices.npy", {1, 2, 3}, {3});
    CHECK_THAT(check(), says("its transpose or its sums of weights are not those of its rows"));
    overwrite<std::int32_t>(folder / "s/transpose_indices.npy", {1, 2, 2}, {3});
    overwrite<double>(folder / "s/column_sums.npy", {3, 0, 0, 0}, {4});
    CHECK_THAT(check(), says("its transpose or its sums of weights are not those of its rows"));
    overwrite<std::int64_t>(folder / "s/transpose_indptr.npy", {0, 2, 3, 3, 4}, {5});
    CHECK_THAT(check(), says("transpose_indptr.npy: row pointers must run from 0 to 3"));
    fs::remove(folder / "s/transpose_indptr.npy");
    CHECK_THAT(check(), says("cannot read"));
}

TEST_CASE("a store from before transposes were stored has none") {
    TempFolder folder;
    auto manifest = to_json(write_store(folder / "s", tiny_dataset()));
    CHECK(manifest.at("transpose") == true);
    manifest.erase("transpose");
    folder.write("s/manifest.json", manifest.dump());
    const auto store = Store::open(folder / "s");
    store.check();
    CHECK(store.view().graph.transpose.indptr.empty());
    CHECK(store.view().graph.columns().indptr.empty());
}

TEST_CASE("a view knows whether its graph equals its transpose") {
    TempFolder folder;
    auto data = tiny_dataset();
    data.graph.indptr = {0, 1, 3, 4, 4};
    data.graph.indices = {1, 0, 2, 1};
    const auto symmetric = [&](std::vector<float> weights) {
        data.graph.weights = std::move(weights);
        write_store(folder / "s", data);
        return Store::open(folder / "s").view().graph.symmetric;
    };
    CHECK(symmetric({}));
    CHECK(symmetric({2, 2, 3, 3}));
    CHECK_FALSE(symmetric({2, 2, 3, 4}));
    data.graph.indices = {1, 0, 2, 0};
    CHECK_FALSE(symmetric({}));
}

TEST_CASE("a damaged store says what is wrong") {
    TempFolder folder;
    auto path = folder / "s";
    write_store(path, tiny_dataset());
    auto open = [&] { return message_of<DataError>([&] { Store::open(path); }); };
    auto check = [&] { return message_of<DataError>([&] { Store::open(path).check(); }); };

    CHECK_THAT(message_of<DataError>([&] { Store::open(folder / "other"); }), says("there is no dataset at"));
    overwrite<float>(path / "features.npy", {0, 1, 2, 3, 4, 5, 6, 8}, {4, 2});
    CHECK_THAT(check(), says("was changed after it was created"));
    overwrite<float>(path / "features.npy", {0, 1, 2, 3, 4, 5, 6, std::numeric_limits<float>::infinity()}, {4, 2});
    CHECK_THAT(check(), says("feature 1 of vertex 3 is inf"));
    overwrite<float>(path / "features.npy", {0, 1, 2, 3, 4, 5}, {3, 2});
    CHECK_THAT(open(), says("its shape is (3, 2), the manifest states (4, 2)"));
    overwrite<double>(path / "features.npy", {0, 1, 2, 3, 4, 5, 6, 7}, {4, 2});
    CHECK_THAT(open(), says("features.npy: expected elements of type '<f4', found '<f8'"));
    fs::remove(path / "features.npy");
    CHECK_THAT(open(), says("cannot read"));
    folder.write("s/manifest.json", "{\"format\": \"gnnbench-dataset\", \"version\": 99}");
    CHECK_THAT(open(), says("its format version is 99, this program reads 1"));
    folder.write("s/manifest.json", "{\"format\": \"gnnbench-dataset\", \"version\": 1}");
    CHECK_THAT(open(), says("\"name\" is missing"));
    folder.write("s/manifest.json", "{");
    CHECK_THAT(open(), says("it is not JSON"));
}

TEST_CASE("a disk that fills up leaves nothing behind, and the old store as it was") {
    TempFolder folder;
    auto before = write_store(folder / "s", tiny_dataset());
    auto data = tiny_dataset();
    data.feature_count = 20000;
    data.features.assign(80000, 1);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{}, small{100000, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    std::string message;
    try {
        write_store(folder / "s", data);
    } catch (const EnvironmentError& e) {
        message = e.what();
    }
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_THAT(message, says("features.npy: File too large"));
    CHECK(Store::open(folder / "s").manifest() == before);
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    CHECK_THAT(message_of<EnvironmentError>([&] { write_store("/proc/store", tiny_dataset()); }), says("/proc/"));
}

TEST_CASE("a store replaces the one before it") {
    TempFolder folder;
    write_store(folder / "s", tiny_dataset());
    auto data = tiny_dataset();
    data.name = "second";
    write_store(folder / "s", data);
    CHECK(Store::open(folder / "s").manifest().name == "second");
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("the digest is of the content and nothing else") {
    TempFolder folder;
    auto data = tiny_dataset();
    auto digest = write_store(folder / "a", data).digest;
    data.name = "another name";
    data.source = "elsewhere";
    CHECK(write_store(folder / "b", data).digest == digest);
    data.labels[3] = 0;
    CHECK(write_store(folder / "c", data).digest != digest);
}

TEST_CASE("symmetry is measured, of pattern and of weights") {
    std::vector<std::int64_t> indptr{0, 2, 4, 5};
    std::vector<std::int32_t> indices{1, 2, 0, 1, 0};  // 0-1, 0-2, loop at 1
    std::vector<float> weights{5, 6, 5, 1, 6};
    auto symmetry = measure_symmetry({indptr, indices, weights});
    CHECK(symmetry.pattern);
    CHECK(symmetry.weights);
    CHECK(count_self_loops({indptr, indices, weights}) == 1);
    weights[4] = 7;
    symmetry = measure_symmetry({indptr, indices, weights});
    CHECK(symmetry.pattern);
    CHECK_FALSE(symmetry.weights);
    indices[4] = 1;  // 2 lists 1 instead of 0
    CHECK_FALSE(measure_symmetry({indptr, indices, {}}).pattern);
}

TEST_CASE("a store is described by its degrees, components, splits and classes") {
    TempFolder folder;
    write_store(folder / "s", tiny_dataset());
    auto j = describe(Store::open(folder / "s"));
    CHECK(j["vertices"] == 4);
    CHECK(j["components"] == 2);
    CHECK(j["largest_component"] == 3);
    CHECK(j["degrees"]["maximum"] == 2);
    CHECK(j["degrees"]["zero_rows"] == 2);     // vertices 0 and 3 aggregate from nobody
    CHECK(j["degrees"]["zero_columns"] == 2);  // nobody aggregates from 2 and 3
    CHECK(j["class_sizes"] == nlohmann::json({1, 2}));
    CHECK(j["split_sizes"][0]["none"] == 1);
}

TEST_CASE("scales of columns all over a graph in files leave its row pointers on disk") {
    constexpr std::int64_t n = 3'000'000, apart = 500;  // one column and more on each page of row pointers
    RawDataset d = tiny_dataset();
    d.graph = {};
    for (std::int64_t v = 0; v < n; ++v) {
        if (v % 3 == 1) d.graph.indices.push_back(0);
        d.graph.indptr.push_back(std::ssize(d.graph.indices));
    }
    d.graph.listed_edges = std::ssize(d.graph.indices);
    d.feature_count = 1;
    d.features.assign(n, 0);
    d.labels.assign(n, 0);
    d.masks.assign(n, Split::train);
    TempFolder folder;
    write_store(folder / "s", d);
    const Store store = Store::open(folder / "s");
    const DatasetView view = store.view();
    const ModelSpec model{.widths = {}, .normalisation = Normalisation::mean};
    const Adjacency in_files(view.graph, model), in_memory(d.graph.view(), model);
    PositionSet columns(n);
    for (std::int64_t v = 0; v < n; v += apart) columns.insert(v);
    columns.count();
    const std::int64_t before = bytes_of_files();
    const FewScales found = in_files.scales(Direction::backward, columns);
    const std::int64_t kept = bytes_of_files() - before;
    CHECK(kept < 10'000'000);  // of 24
    CHECK(found.values == in_memory.scales(Direction::backward, columns).values);
    CHECK(found.of(apart) == (apart % 3 == 1 ? 0.5 : 1));
    CHECK(found.of(2 * apart) == (2 * apart % 3 == 1 ? 0.5 : 1));
}
