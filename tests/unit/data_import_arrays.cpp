#include <clocale>
#include <fstream>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include <data/catalog.hpp>
#include <data/import.hpp>
#include <data/importers/pickle.hpp>
#include <data/store.hpp>
#include <unit/data_samples.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;
using namespace std::string_literals;
using namespace gnnbench::test::pickled;

namespace {

Pickle load(const std::string& pickle) { return load_pickle(std::as_bytes(std::span(pickle)), "p"); }
std::string refusal(const std::string& pickle) {
    return message_of<DataError>([&] { load(pickle); });
}

}  // namespace

TEST_CASE("a pickle that names anything but data is refused, by name") {
    CHECK_THAT(refusal(start + "cos\nsystem\nU\x04true\x85R."), says("object is os.system, which is refused"));
    CHECK_THAT(refusal(start + "c__builtin__\neval\n."), says("__builtin__.eval"));
    CHECK_THAT(refusal(start + "csubprocess\nPopen\n)\x81."), says("subprocess.Popen"));
    CHECK_THAT(refusal(start + "cnumpy\nload\nU\x01x\x85R."), says("numpy.load"));
    // Admitted names in a place that NumPy does not put them.
    CHECK_THAT(refusal(start + "ccollections\ndefaultdict\ncnumpy\nndarray\n\x85R."), says("not constructed as"));
    CHECK_THAT(refusal(start + "U\x01xU\x01y\x85R."), says("call of an object that is not a type"));
    CHECK_THAT(refusal(start + "icollections\ndefaultdict\n."), says("instruction 0x69"));
}

TEST_CASE("broken pickles are told, never followed") {
    CHECK_THAT(refusal(""), says("incomplete"));
    CHECK_THAT(refusal("(lp0\n."), says("no pickle of protocol 2 or 3"));
    CHECK_THAT(refusal("\x80\x05."), says("protocol 5"));
    CHECK_THAT(refusal(start + "."), says("without its operand"));
    CHECK_THAT(refusal(start + "t."), says("without its mark"));
    CHECK_THAT(refusal(start + "h\x07."), says("never stored"));
    CHECK_THAT(refusal(start + "K\x01" + "K\x02" + "a."), says("not a list"));
    CHECK_THAT(refusal(start + "T\xff\xff\xff\x7f."), says("incomplete"));
}

TEST_CASE("numbers, texts and containers") {
    auto list = load(start + "](K\x07M\x01\x02J\xfe\xff\xff\xff\x8a\x02\x00\x80U\x02hiNe."s);
    const auto& items = std::get<PickleList>(list.root->is).items;
    REQUIRE(items.size() == 6);
    CHECK(std::get<std::int64_t>(items[0]->is) == 7);
    CHECK(std::get<std::int64_t>(items[1]->is) == 0x201);
    CHECK(std::get<std::int64_t>(items[2]->is) == -2);
    CHECK(std::get<std::int64_t>(items[3]->is) == -32768);
    CHECK(std::get<std::string>(items[4]->is) == "hi");
    auto dict =
        load(start + "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x05]q\x01K\x09"s + "aK\x06h\x01u."s);
    const auto& pairs = std::get<PickleDict>(dict.root->is).items;
    REQUIRE(pairs.size() == 2);
    CHECK(pairs[0].second == pairs[1].second);
}

TEST_CASE("NumPy arrays and CSR matrices") {
    auto a = load(start + array({4, -5}) + ".");
    CHECK(std::get<PickleArray>(a.root->is).array->as<std::int64_t>() == std::vector<std::int64_t>{4, -5});
    auto with = [](const std::string& indices) {
        return start + csr(2, 3, array({0, 1, 2}), indices, array({7, 8})) + ".";
    };
    auto m = load(with(array({2, 0})));
    const auto& matrix = std::get<PickleCsr>(m.root->is);
    CHECK(matrix.rows == 2);
    CHECK(matrix.cols == 3);
    CHECK(matrix.indices == std::vector<std::int64_t>{2, 0});
    CHECK(matrix.data == std::vector<float>{7, 8});
    CHECK_THAT(refusal(with(array({3, 0}))), says("column index out of range"));
    CHECK_THAT(refusal(with(array({1}))), says("inconsistent lengths"));
    CHECK_THAT(refusal(with("K\x01")), says("indices that is not an array"));
}

TEST_CASE("a pickle's values may be nested without end, or in themselves") {
    // A million lists, each in the next: to take them apart one inside the other would need a stack of a million
    // frames.
    const std::string closed(1'000'000, 'a');
    CHECK(std::holds_alternative<PickleList>(load(start + std::string(1'000'001, ']') + closed + ".").root->is));
    const Pickle tuples = load(start + ")" + std::string(1'000'000, '\x85') + ".");
    CHECK(std::get<PickleTuple>(tuples.root->is).items.size() == 1);
    const Pickle itself = load(start + "]q\x01h\x01" + "a."s);
    CHECK(std::get<PickleList>(itself.root->is).items[0] == itself.root);
}

TEST_CASE("a pickle that builds from one state again and again is refused") {
    std::string program = start + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"s +
                          "b\x87R" + "(K\x01K\x02\x85" + int_dtype + "\x89U\x08" + std::string(8, '\0') + "tq\x05";
    for (int i = 0; i < 100; ++i) program += "bh\x05";
    CHECK_THAT(refusal(program + "b."), says("more than 64 arrays"));
}

TEST_CASE("sizes in a CSR matrix are checked before they size anything") {
    const std::string most = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s;  // 2⁶³ − 1
    const auto of_shape = [](const std::string& rows, const std::string& cols) {
        return start + "cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape" + rows + cols + "\x86U\x06indptr" +
               array({0}) + "U\x07indices" + array({}) + "U\x04" + "data" + array({}) + "ub.";
    };
    CHECK_THAT(refusal(of_shape(most, "K\x01")), says("at most 2147483647 rows"));
    CHECK_THAT(refusal(of_shape("K\x00"s, most)), says("at most 2147483647 rows"));
}

namespace {

/// Planetoid's files of a ring of four vertices, with two features; of allx as `shape` says.
void write_ring(const TempFolder& folder, const std::string& cols) {
    const auto wide = [&](char rows, const std::string& indptr, const std::string& indices,
                          const std::string& data) {
        return start + "cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK"s + rows + cols + "\x86U\x06indptr" +
               indptr + "U\x07indices" + indices + "U\x04" + "data" + data + "ub.";
    };
    folder.write("ind.ring.x", wide(1, array({0, 1}), array({0}), array({1})));
    folder.write("ind.ring.y", start + matrix(1, 2, {0, 1}) + ".");
    folder.write("ind.ring.tx", wide(2, array({0, 1, 2}), array({0, 1}), array({1, 1})));
    folder.write("ind.ring.ty", start + matrix(2, 2, {1, 0, 0, 1}) + ".");
    folder.write("ind.ring.allx", wide(2, array({0, 1, 2}), array({0, 1}), array({1, 1})));
    folder.write("ind.ring.ally", start + matrix(2, 2, {0, 1, 1, 0}) + ".");
    folder.write("ind.ring.graph", start + "}(K\x00](K\x01K\x03"s + "eK\x01](K\x00K\x02"s + "eK\x02](K\x01K\x03"s +
                                       "eK\x03](K\x02K\x00"s + "eu.");
    folder.write("ind.ring.test.index", "3\n2\n");
}

}  // namespace

TEST_CASE("Planetoid: a number of features that wraps, or that no memory holds, is refused") {
    const TempFolder folder;
    write_ring(folder, "K\x02");
    CHECK(import_file(folder / "ind.ring", "planetoid", json::object()).feature_count == 2);
    // Four vertices of 2⁶² features: the product is 0 in 64 bits.
    write_ring(folder, "\x8a\x08"s + std::string(7, '\0') + "\x40");
    CHECK_THAT(message_of<DataError>([&] { import_file(folder / "ind.ring", "planetoid", json::object()); }),
               says("2 × 4611686018427387904") || says("1 × 4611686018427387904"));
    write_ring(folder, "J\xff\xff\xff\x7f");  // 2³¹ − 1: 32 GiB
    if (machine_memory_bytes() < std::uint64_t{32} << 30)
        CHECK_THAT(
            message_of<EnvironmentError>([&] { import_file(folder / "ind.ring", "planetoid", json::object()); }),
            says("needs 32.0 GiB"));
}

TEST_CASE("npz: an array that holds nothing bounds no loop") {
    TempFolder folder;
    const auto npy = [&](const char* name, const std::string& descr, const std::string& shape,
                         const std::string& data) {
        std::string text = "{'descr': '" + descr + "', 'fortran_order': True, 'shape': " + shape + ", }";
        text.append(63 - (10 + text.size()) % 64, ' ');
        return std::pair<std::string, fs::path>(
            name,
            folder.write(std::string(name) + ".npy", "\x93NUMPY\x01"s + '\0' + static_cast<char>(text.size() + 1) +
                                                         '\0' + text + "\n" + data));
    };
    const auto refused = [&](const std::string& shape) {
        write_npz(folder / "t.npz", {npy("node_features", "<f4", shape, ""), npy("node_labels", "<i4", "(0,)", ""),
                                     npy("edges", "<i4", "(0, 2)", "")});
        return message_of<DataError>([&] { import_file(folder / "t.npz", "", json::object()); });
    };
    CHECK_THAT(refused("(1000000000000000, 0)"), says("which holds nothing"));
    CHECK_THAT(refused("(4611686018427387904, 4, 0)"), says("too large"));
    CHECK_THAT(refused("(5, 0)"), says("at least one feature"));
}

namespace {

/// A locale for as long as it lives.
class InLocale {
public:
    explicit InLocale(const char* name) : before_(std::setlocale(LC_ALL, nullptr)) {
        std::setlocale(LC_ALL, name);
    }
    InLocale(const InLocale&) = delete;
    ~InLocale() { std::setlocale(LC_ALL, before_.c_str()); }

private:
    std::string before_;
};

/// Names a member of a .npz by as many bytes of UTF-8, as NumPy does: with the bit of the format that says so.
void rename_to_utf8(const fs::path& file, const std::string& ascii, const std::string& utf8) {
    const auto bytes = read_all(file);
    std::string zip(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (auto at = zip.find(ascii); at != zip.npos; at = zip.find(ascii, at + 1)) {
        const bool local = zip.compare(at - 30, 4, "PK\x03\x04") == 0;
        zip[at - (local ? 30 - 7 : 46 - 9)] |= 0x08;
        zip.replace(at, ascii.size(), utf8);
    }
    std::ofstream(file, std::ios::binary) << zip;
}

}  // namespace

TEST_CASE("npz: arrays that nobody asked for are passed over, whatever their names and the locale") {
    TempFolder folder;
    const auto file = folder / "t.npz";
    NpzSample()
        .array<std::int64_t>("adj_shape", {3, 3}, {2})
        .array<std::int32_t>("adj_indptr", {0, 1, 2, 2}, {4})
        .array<std::int32_t>("adj_indices", {1, 2}, {2})
        .array<float>("adj_data", {1, 1}, {2})
        .content("groesse", npy_content("|O", "(3,)", "a pickle"))
        .write(file);
    rename_to_utf8(file, "groesse",
                   "gr\xc3\xb6\xc3\x9f"
                   "e");
    for (const char* name : {"C", "C.UTF-8"}) {
        const InLocale locale(name);
        const auto d = import_file(file, "", json::object());
        CHECK(d.graph.vertices() == 3);
        CHECK(d.graph.indices == std::vector<std::int32_t>{1, 0, 2, 1});
    }
}

TEST_CASE("npz: labels in a matrix are any number of labels for each vertex") {
    TempFolder folder;
    auto path = [&](const char* name) { return folder / (std::string(name) + ".npy"); };
    write_npy<float>(path("features"), std::vector<float>{1, 2, 3}, {3, 1});
    write_npy<std::int64_t>(path("edges"), std::vector<std::int64_t>{0, 1, 2, 1}, {2, 2});
    const auto import = [&](const std::vector<std::int64_t>& labels, std::vector<std::int64_t> shape) {
        write_npy<std::int64_t>(path("labels"), labels, std::move(shape));
        write_npz(
            folder / "t.npz",
            {{"edges", path("edges")}, {"node_features", path("features")}, {"node_labels", path("labels")}});
        return import_file(folder / "t.npz", "", json::object());
    };
    const auto refused = [&](const std::vector<std::int64_t>& labels, std::vector<std::int64_t> shape) {
        return message_of<DataError>([&] { import(labels, std::move(shape)); });
    };
    const auto d = import({1, 1, 0, 0, 0, 1}, {3, 2});
    CHECK(d.labels.empty());
    CHECK(d.classes == 2);
    CHECK(d.label_matrix == std::vector<std::uint8_t>{1, 1, 0, 0, 0, 1});
    CHECK(d.synthetic == std::vector<std::string>{"masks"});
    CHECK(std::ranges::count(d.masks, Split::none) == 0);
    CHECK_THAT(refused({1, 1, 0, 2, 0, 1}, {3, 2}),
               says("'node_labels' has 2 for vertex 1 and class 1, allowed are 0 and 1"));
    CHECK_THAT(refused({1, 1, 0}, {3, 1}),
               says("label matrix of 1 classes, allowed are 2 to 1000000; one label a vertex has the shape (3)"));
}

TEST_CASE("npz: an experiment chooses any of ten splits") {
    const TempFolder folder;
    std::vector<std::uint8_t> train(30), validation(30), test(30);  // split s trains vertex s % 3
    for (std::size_t s = 0; s < 10; ++s) {
        train[s * 3 + s % 3] = 1;
        validation[s * 3 + (s + 1) % 3] = 1;
        test[s * 3 + (s + 2) % 3] = 1;
    }
    NpzSample()
        .array<float>("node_features", {1, 2, 3}, {3, 1})
        .array<std::int64_t>("node_labels", {0, 1, 0}, {3})
        .array<std::int64_t>("edges", {0, 1, 2, 1}, {2, 2})
        .array("train_masks", train, {10, 3})
        .array("val_masks", validation, {10, 3})
        .array("test_masks", test, {10, 3})
        .write(folder / "ten.npz");
    const Catalog catalog((folder / "stores").string());
    for (int s = 0; s < 10; ++s) {
        const auto found = ensure_dataset({{"path", (folder / "ten.npz").string()}, {"split", s}}, catalog);
        CHECK(found.split == s);
        const auto store = Store::open(found.store);
        const auto view = store.view(found.split);
        CHECK(std::ranges::find(view.split, Split::train) - view.split.begin() == s % 3);
    }
    CHECK_THAT(message_of<SpecError>(
                   [&] { ensure_dataset({{"path", (folder / "ten.npz").string()}, {"split", 10}}, catalog); }),
               says("has splits 0 to 9; split 10 was asked for"));
}

TEST_CASE("npz: missing arrays, wrong shapes, wrong vertices") {
    TempFolder folder;
    auto path = [&](const char* name) { return folder / (std::string(name) + ".npy"); };
    write_npy<float>(path("features"), std::vector<float>{1, 2, 3}, {3, 1});
    write_npy<std::int64_t>(path("labels"), std::vector<std::int64_t>{0, 1, 0}, {3});
    write_npy<std::int64_t>(path("edges"), std::vector<std::int64_t>{0, 1, 2, 1}, {2, 2});
    write_npy<std::int64_t>(path("bad"), std::vector<std::int64_t>{0, 1, 3, 1}, {2, 2});
    write_npy<std::uint8_t>(path("none"), std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0}, {2, 3});
    write_npy<std::uint8_t>(path("some"), std::vector<std::uint8_t>{1, 0, 0, 1, 0, 0}, {2, 3});
    auto import = [&](const std::vector<std::pair<std::string, fs::path>>& members) {
        write_npz(folder / "t.npz", members);
        return import_file(folder / "t.npz", "", json::object());
    };
    auto refused = [&](auto members) { return message_of<DataError>([&] { import(members); }); };
    using Members = std::vector<std::pair<std::string, fs::path>>;
    CHECK_THAT(refused(Members{{"x", path("edges")}}), says("found neither"));
    CHECK_THAT(refused(Members{{"edges", path("edges")}}), says("array 'node_features' is missing; it has edges"));
    Members all{{"edges", path("edges")}, {"node_features", path("features")}, {"node_labels", path("labels")}};
    auto bad = all;
    bad[0].second = path("bad");
    CHECK_THAT(refused(bad), says("edge 1 has vertex 3, allowed are 0 to 2"));
    bad = all;
    bad[2].second = path("edges");
    CHECK_THAT(refused(bad), says("array 'node_labels' has shape (2, 2), expected (3, -1)"));
    bad = all;
    for (auto name : {"train_masks", "val_masks", "test_masks"}) bad.emplace_back(name, path("some"));
    CHECK_THAT(refused(bad), says("vertex 0 is in two masks of split 0"));

    auto d = import(all);
    CHECK(d.graph.indices == std::vector<std::int32_t>{1, 0, 2, 1});
    CHECK(d.synthetic == std::vector<std::string>{"masks"});
    all.insert(all.end(),
               {{"train_masks", path("some")}, {"val_masks", path("none")}, {"test_masks", path("none")}});
    CHECK_THAT(refused(all), says("vertex 0 is in two masks of split 1"));
    folder.write("t.npz", "no zip");
    CHECK_THAT(message_of<DataError>([&] { import_file(folder / "t.npz", "", json::object()); }), says("t.npz"));
}
