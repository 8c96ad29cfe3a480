// Sets of several files: GraphSAINT's, Reddit's, OGB's; every one made here by its format's rules.
#include <algorithm>
#include <cmath>

#include <gnnbench/error.hpp>

#include <data/import.hpp>
#include <data/store.hpp>
#include <unit/data_samples.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;
using Floats = std::vector<float>;
using Masks = std::vector<Split>;

RawDataset imported(const fs::path& path, const json& options = json::object()) {
    return import_file(path, "", options);
}
std::string problem_of(const fs::path& path, const json& options = json::object()) {
    return message_of<DataError>([&] { imported(path, options); });
}

/// Four vertices: row 0 lists 1 and 2, row 1 lists 0, row 2 lists 0; vertex 3 is alone.
NpzSample saint_graph() { return scipy_csr(4, {0, 2, 3, 4, 4}, {1, 2, 0, 0}); }
/// Of them, 0 and 1 are train vertices.
NpzSample saint_train_graph() { return scipy_csr(4, {0, 1, 2, 2, 2}, {1, 0}); }

void write_saint(const TempFolder& folder) {
    saint_graph().write(folder / "adj_full.npz");
    saint_train_graph().write(folder / "adj_train.npz");
    write_npy<double>(folder / "feats.npy", std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
    folder.write("class_map.json", R"({"0": 1, "2": 3, "1": 2, "3": 1})");
    folder.write("role.json", R"({"tr": [0, 1], "va": [3], "te": [2]})");
}

}  // namespace

TEST_CASE("GraphSAINT: rows are what vertices aggregate from, classes count from the smallest") {
    TempFolder folder;
    write_saint(folder);
    CHECK(detect_format(folder.path()) == "graphsaint");
    CHECK(detect_format(folder / "adj_full.npz") == "graphsaint");
    CHECK(import_inputs(folder.path(), "").size() == 5);
    const auto d = imported(folder.path());
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 2, 3, 4, 4});
    CHECK(d.graph.indices == Ids{1, 2, 0, 0});
    CHECK(d.graph.weights.empty());
    CHECK(d.features == Floats{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(d.labels == Ids{0, 1, 2, 0});
    CHECK(d.classes == 3);
    CHECK(d.masks == Masks{Split::train, Split::train, Split::test, Split::validation});
    CHECK(d.synthetic.empty());
    // Entry (0, 1) without (1, 0): 0 aggregates from 1, and reversed 1 from 0.
    scipy_csr(4, {0, 1, 1, 1, 1}, {1}).write(folder / "adj_full.npz");
    scipy_csr(4, {0, 1, 1, 1, 1}, {1}).write(folder / "adj_train.npz");
    CHECK(imported(folder.path()).graph.indptr == std::vector<std::int64_t>{0, 1, 1, 1, 1});
    CHECK(imported(folder.path(), {{"reverse", true}}).graph.indptr == std::vector<std::int64_t>{0, 0, 1, 1, 1});
    CHECK(imported(folder.path(), {{"directed", false}}).graph.indices == Ids{1, 0});
}

TEST_CASE("GraphSAINT: lists of 0 and 1 are any number of labels for each vertex") {
    TempFolder folder;
    write_saint(folder);
    folder.write("class_map.json", R"({"0": [1, 0, 1], "1": [0, 0, 0], "2": [0, 1.0, 0], "3": [1, 1, 1]})");
    const auto d = imported(folder.path());
    CHECK(d.classes == 3);
    CHECK(d.labels.empty());
    CHECK(d.label_matrix == std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1});
    TempFolder stores;
    const auto manifest = write_store(stores / "s", d);
    CHECK(manifest.multi_label);
    CHECK(manifest.digest.size() == 32);
    const auto problem = [&](const std::string& map) {
        folder.write("class_map.json", map);
        return problem_of(folder.path());
    };
    CHECK_THAT(problem(R"({"0": [1, 0], "1": [0, 2], "2": [0, 1], "3": [1, 1]})"),
               says("key '1': it has 2 for class 1, allowed are 0 and 1"));
    CHECK_THAT(problem(R"({"0": [1, 0], "1": [0], "2": [0, 1], "3": [1, 1]})"),
               says("key '1': it has a list of 1, the vertex before a list of 2"));
    CHECK_THAT(problem(R"({"0": [1], "1": [0], "2": [0], "3": [1]})"), says("a label matrix of 1 classes"));
    CHECK_THAT(problem(R"({"0": [1, 0], "1": 1, "2": [0, 1], "3": [1, 1]})"), says("key '1': it has one number"));
}

TEST_CASE("GraphSAINT: what its JSON files may not say") {
    TempFolder folder;
    write_saint(folder);
    const auto map = [&](const std::string& text) {
        folder.write("class_map.json", text);
        return problem_of(folder.path());
    };
    CHECK_THAT(map(""), says("class_map.json: it is not JSON, or ends too early"));
    CHECK_THAT(map(R"({"0": 1, "1": 2)"), says("ends too early"));
    CHECK_THAT(map(R"({"0": NaN})"), says("it is not JSON"));
    CHECK_THAT(map("[1, 2]"), says("expected an object of numbers or lists of numbers, found a list"));
    CHECK_THAT(map(R"({"0": {"0": 1}})"), says("key '0': expected an object of numbers or lists of numbers"));
    CHECK_THAT(map(R"({"0": [[1]]})"), says("key '0': expected an object"));
    CHECK_THAT(map(R"({"0": "1"})"), says("found the text '1'"));
    CHECK_THAT(map(R"({"0": 1, "1": 2, "3": 1})"), says("it has no label for vertex 2"));
    CHECK_THAT(map(R"({"0": 1, "1": 2, "0": 1, "3": 1})"), says("key '0': it is there twice"));
    CHECK_THAT(map(R"({"4": 1})"), says("key '4': expected a vertex, allowed are 0 to 3"));
    CHECK_THAT(map(R"({"v": 1})"), says("key 'v': expected a vertex"));
    CHECK_THAT(map(R"({"0": 1, "1": 2, "2": 1.5, "3": 1})"),
               says("key '2': it has the class 1.5, allowed are 0 to 999999"));
    CHECK_THAT(map(R"({"0": 1, "1": 2, "2": -1, "3": 1})"), says("it has the class -1, allowed"));
    CHECK_THAT(map(R"({"0": 1, "1": 2, "2": 1000001, "3": 1})"), says("the class 1000001, allowed"));
    CHECK_THAT(map("{\"" + std::string(100, '1') + "\": 1}"), says("found the key"));
    write_saint(folder);
    const auto roles = [&](const std::string& text) {
        folder.write("role.json", text);
        return problem_of(folder.path());
    };
    CHECK_THAT(roles(R"({"tr": [0, 1], "va": [3]})"), says("expected the keys tr, va and te, found only tr, va"));
    CHECK_THAT(roles(R"({"tr": [0], "tr": [1], "va": [3], "te": [2]})"), says("key 'tr': expected the keys"));
    CHECK_THAT(roles(R"({"train": [0]})"), says("key 'train': expected the keys tr, va and te"));
    CHECK_THAT(roles(R"({"tr": [0, 0], "va": [], "te": []})"),
               says("vertex 0 is listed twice for the train mask"));
    CHECK_THAT(roles(R"({"tr": [0, 1], "va": [1], "te": []})"),
               says("vertex 1 is in the train and the validation mask"));
    CHECK_THAT(roles(R"({"tr": [4], "va": [], "te": []})"), says("it lists vertex 4, allowed are 0 to 3"));
    CHECK_THAT(roles(R"({"tr": [1e300], "va": [], "te": []})"), says("allowed are 0 to 3"));
}

TEST_CASE("GraphSAINT: what its arrays may not say") {
    TempFolder folder;
    const auto with_graph = [&](const NpzSample& npz) {
        write_saint(folder);
        npz.write(folder / "adj_full.npz");
        return problem_of(folder.path());
    };
    CHECK_THAT(with_graph(scipy_csr(4, {0, 2, 3, 4, 4}, {1, 4, 0, 0})),
               says("'indices' has 4 at position 1, allowed are 0 to 3"));
    CHECK_THAT(with_graph(scipy_csr(4, {0, 2, 1, 4, 4}, {1, 2, 0, 0})), says("'indptr' must rise from 0 to 4"));
    CHECK_THAT(with_graph(scipy_csr(4, {0, 2, 4}, {1, 2, 0, 0})),
               says("array 'indptr' has shape (3), expected (5) where -1 is any"));
    CHECK_THAT(with_graph(saint_graph().without("format")), says("array 'format' is missing; it has"));
    CHECK_THAT(with_graph(saint_graph().text("format", "bsr")), says("SciPy's format 'bsr' is not read"));
    CHECK_THAT(with_graph(saint_graph().array<std::int64_t>("shape", {4, 5}, {2})),
               says("is 4 × 5, expected a square"));
    CHECK_THAT(with_graph(saint_graph().array<std::int64_t>("shape", {-4, 4}, {2})), says("'shape' is (-4, 4)"));
    CHECK_THAT(with_graph(saint_graph().array<std::int64_t>("shape", {1LL << 40, 1LL << 40}, {2})),
               says("'shape' is (1099511627776, 1099511627776)"));
    CHECK_THAT(with_graph(saint_graph().array<std::int64_t>("indices", {1, 1LL << 32, 0, 0}, {4})),
               says("value 4294967296 does not fit"));
    CHECK_THAT(with_graph(saint_graph().array<float>("data", {1, 1, 1}, {3})), says("array 'data' has shape (3)"));
    CHECK_THAT(with_graph(saint_graph().content("data", npy_content(">f4", "(4,)", std::string(16, '\0')))),
               says("expected a little-endian type"));
    CHECK_THAT(with_graph(saint_graph().content("data", npy_content("|O", "(4,)", std::string(32, '\0')))),
               says("(data): expected a NumPy .npy file, found element type '|O'"));
    const auto with_features = [&](const std::string& npy) {
        write_saint(folder);
        folder.write("feats.npy", npy);
        return problem_of(folder.path());
    };
    CHECK_THAT(with_features(""), says("feats.npy: expected a NumPy .npy file"));
    CHECK_THAT(with_features(npy_content("<f4", "(4, 2)", std::string(31, '\0'))),
               says("there are only 31 bytes"));
    CHECK_THAT(with_features(npy_content("<f4", "(3, 2)", std::string(24, '\0'))), says("expected 4 rows"));
    CHECK_THAT(with_features(npy_content("<f4", "(4,)", std::string(16, '\0'))), says("has the shape (4)"));
    CHECK_THAT(with_features(npy_content("<c8", "(4, 1)", std::string(32, '\0'))), says("expected numbers"));
    fs::remove(folder / "feats.npy");
    CHECK_THAT(problem_of(folder.path()), says("GraphSAINT's format needs feats.npy"));
}

TEST_CASE("GraphSAINT: wide indices that fit, columns first, stored zeros, and features that are not finite") {
    TempFolder folder;
    write_saint(folder);
    saint_graph()
        .array<std::int64_t>("indices", {1, 2, 0, 0}, {4})
        .array<double>("data", {1, 1, 1, 0}, {4})
        .write(folder / "adj_full.npz");
    folder.write("feats.npy", npy_content("<f4", "(4, 2)", bytes_of<float>({1, 3, 5, 7, 2, 4, 6, 8}), true));
    auto d = imported(folder.path());
    CHECK(d.features == Floats{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(d.graph.indices == Ids{1, 2, 0});
    CHECK(d.graph.listed_edges == 3);
    write_npy<double>(folder / "feats.npy", std::vector<double>{1, 2, 3, 4, 5, NAN, 7, 8}, {4, 2});
    CHECK_THAT(message_of<DataError>([&] { write_store(folder / "s", imported(folder.path())); }),
               says("feature 1 of vertex 2 is nan; features must be finite"));
}

TEST_CASE("GraphSAINT: adj_train is checked if it is there") {
    TempFolder folder;
    const auto with_train = [&](const NpzSample& npz) {
        write_saint(folder);
        npz.write(folder / "adj_train.npz");
        return problem_of(folder.path());
    };
    CHECK_THAT(with_train(scipy_csr(4, {0, 1, 1, 2, 2}, {1, 0})),
               says("edge 0 → 2, but 2 is not among role.json's train vertices"));
    CHECK_THAT(with_train(scipy_csr(3, {0, 1, 2, 2}, {1, 0})),
               says("adj_train.npz: it is of 3 vertices, adj_full.npz of 4"));
    CHECK_THAT(with_train(scipy_csr(4, {0, 3, 6, 6, 6}, {1, 1, 1, 0, 0, 0})),
               says("it has 6 edges, more than the 4"));
    fs::remove(folder / "adj_train.npz");
    CHECK(imported(folder.path()).graph.vertices() == 4);
}

TEST_CASE("SciPy's other layouts: compressed columns and coordinates") {
    TempFolder folder;
    write_saint(folder);
    scipy_csr(4, {0, 1, 1, 1, 1}, {1}).write(folder / "adj_train.npz");
    // Column 1 has rows 0 and 3, column 2 has row 0.
    scipy_csr(4, {0, 0, 2, 3, 3}, {0, 3, 0}).text("format", "csc").write(folder / "adj_full.npz");
    auto d = imported(folder.path());
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 2, 2, 2, 3});
    CHECK(d.graph.indices == Ids{1, 2, 1});
    scipy_csr(4, {0, 0, 2, 3, 3}, {0, 3, 0})
        .content("format", npy_content("|S5", "()", std::string("csc\0\0", 5)))
        .write(folder / "adj_full.npz");
    CHECK(imported(folder.path()).graph.indices == Ids{1, 2, 1});
    NpzSample()
        .array<std::int32_t>("row", {0, 3, 0}, {3})
        .array<std::int32_t>("col", {2, 1, 1}, {3})
        .array<std::int64_t>("shape", {4, 4}, {2})
        .array<std::uint8_t>("data", {1, 1, 1}, {3})
        .content("format", npy_content("<U3", "()", std::string("c\0\0\0o\0\0\0o\0\0\0", 12)))
        .write(folder / "adj_full.npz");
    d = imported(folder.path());
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 2, 2, 2, 3});
    CHECK(d.graph.indices == Ids{1, 2, 1});
}

namespace {

NpzSample reddit_graph() {
    return NpzSample()
        .array<std::int32_t>("row", {0, 1, 1, 2}, {4})
        .array<std::int32_t>("col", {1, 0, 2, 1}, {4})
        .array<std::int64_t>("shape", {3, 3}, {2})
        .array<float>("data", {1, 1, 1, 1}, {4})
        .text("format", "coo");
}
NpzSample reddit_set() {
    return NpzSample()
        .array<float>("feature", {1, 2, 3, 4, 5, 6}, {3, 2})
        .array<std::int64_t>("label", {0, 40, 2}, {3})
        .array<std::int32_t>("node_types", {1, 3, 2}, {3})
        .array<std::int64_t>("node_ids", {7, 8, 9}, {3});
}

}  // namespace

TEST_CASE("Reddit: the pair of archives") {
    TempFolder folder;
    reddit_graph().write(folder / "reddit_graph.npz");
    CHECK_THAT(problem_of(folder / "reddit_graph.npz"), says("there is no reddit_data.npz"));
    reddit_set().write(folder / "reddit_data.npz");
    for (const auto& path : {folder.path(), folder / "reddit_graph.npz", folder / "reddit_data.npz"}) {
        CHECK(detect_format(path) == "reddit");
        const auto d = imported(path);
        CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 1, 3, 4});
        CHECK(d.graph.indices == Ids{1, 0, 2, 1});
        CHECK(d.graph.weights.empty());
        CHECK(d.feature_count == 2);
        CHECK(d.labels == Ids{0, 40, 2});
        CHECK(d.classes == 41);
        CHECK(d.masks == Masks{Split::train, Split::test, Split::validation});
        CHECK(d.synthetic.empty());
    }
    scipy_csr(3, {0, 1, 2, 3}, {0, 1, 2}).write(folder / "reddit_self_loop_graph.npz");
    CHECK(imported(folder / "reddit_self_loop_graph.npz").graph.indices == Ids{0, 1, 2});
    const auto with = [&](const NpzSample& npz) {
        npz.write(folder / "reddit_data.npz");
        return problem_of(folder.path());
    };
    CHECK_THAT(with(reddit_set().without("label")), says("array 'label' is missing; it has feature"));
    CHECK_THAT(with(reddit_set().array<std::int64_t>("label", {0, 1}, {2})),
               says("'label' has shape (2), expected (3)"));
    CHECK_THAT(with(reddit_set().array<std::int64_t>("label", {0, -2, 1}, {3})),
               says("has the class -2 for vertex 1"));
    CHECK_THAT(with(reddit_set().array<std::int32_t>("node_types", {1, 4, 2}, {3})),
               says("'node_types' has 4 for vertex 1, allowed are 1 (train)"));
    CHECK_THAT(with(reddit_set().array<float>("feature", {1, 2}, {2, 1})),
               says("'feature' has shape (2, 1), expected (3, -1)"));
    CHECK_THAT(with(reddit_set().array<float>("feature", {}, {3, 0})), says("'feature' has no columns"));
    reddit_graph().array<std::int32_t>("row", {0, 1, 3, 2}, {4}).write(folder / "reddit_graph.npz");
    CHECK_THAT(with(reddit_set()), says("'row' has 3 at position 2, allowed are 0 to 2"));
    reddit_graph().array<std::int32_t>("col", {0, 1, 2}, {3}).write(folder / "reddit_graph.npz");
    CHECK_THAT(with(reddit_set()), says("array 'col' has shape (3), expected (4)"));
}
