// OGB's raw folders, as CSV and as data.npz; made here by the format's rules.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include <data/import.hpp>
#include <data/importers/listed_ways.hpp>
#include <data/store.hpp>
#include <unit/data_samples.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

using Numbers = std::vector<std::int32_t>;
using Reals = std::vector<float>;

void write_packed(const fs::path& file, const std::string& content) {
    auto a = archive_write_new();
    archive_write_add_filter_gzip(a);
    archive_write_set_format_raw(a);
    REQUIRE(archive_write_open_filename(a, file.c_str()) == ARCHIVE_OK);
    auto entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(a, entry);
    archive_write_data(a, content.data(), content.size());
    archive_entry_free(entry);
    archive_write_free(a);
}

/// Its edges go in one direction each, so that nothing says whether they are directed.
json as_listed() { return {{"directed", true}}; }
json undecided() { return {{"directed", "auto"}}; }

/// A set named arxiv of four vertices and three edges, with one split.
class OgbSample {
public:
    OgbSample() {
        fs::create_directories(root() / "raw");
        raw("num-node-list", "4\n").raw("num-edge-list", "3\n").raw("edge", "0,1\n2,1\n3,0\n");
        raw("node-feat", "0.5,-1\n1e-3,2\n3,4\n-5,6.25\n").raw("node-label", "2\n0\n1\n0\n");
        split("time", "0\n1\n", "2\n", "3\n");
    }
    OgbSample& raw(const std::string& name, const std::string& content) {
        write_packed(root() / "raw" / (name + ".csv.gz"), content);
        return *this;
    }
    OgbSample& split(const std::string& name, const std::string& train, const std::string& valid,
                     const std::string& test) {
        fs::create_directories(root() / "split" / name);
        write_packed(root() / "split" / name / "train.csv.gz", train);
        write_packed(root() / "split" / name / "valid.csv.gz", valid);
        write_packed(root() / "split" / name / "test.csv.gz", test);
        return *this;
    }
    void remove(const std::string& file) const { fs::remove_all(root() / file); }
    fs::path root() const { return folder_ / "arxiv"; }
    RawDataset import(json options = json::object()) const {
        if (!options.contains("directed")) options.update(as_listed());
        return import_file(root(), "", options);
    }
    std::string problem(const json& options = json::object()) const {
        return message_of<DataError>([&] { import(options); });
    }

private:
    TempFolder folder_;
};

}  // namespace

TEST_CASE("OGB as CSV: edges from source to target, features, labels, splits in alphabetical order") {
    OgbSample set;
    CHECK(detect_format(set.root()) == "ogb");
    CHECK(detect_format(set.root() / "raw") == "ogb");
    CHECK(import_inputs(set.root(), "").size() == 8);
    auto d = set.import();
    CHECK(d.name == "arxiv");
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 1, 3, 3, 3});
    CHECK(d.graph.indices == Numbers{3, 0, 2});
    CHECK(d.features == Reals{0.5f, -1, 1e-3f, 2, 3, 4, -5, 6.25f});
    CHECK(d.labels == Numbers{2, 0, 1, 0});
    CHECK(d.classes == 3);
    CHECK(d.masks == std::vector<Split>{Split::train, Split::train, Split::validation, Split::test});
    CHECK(d.synthetic.empty());
    CHECK(import_file(set.root() / "raw", "", as_listed()).masks == d.masks);
    CHECK(set.import({{"directed", false}}).graph.indices == Numbers{1, 3, 0, 2, 1, 0});

    set.split("random", "3\n", "\n", "0\n");
    d = set.import();
    CHECK(d.splits == 2);
    CHECK(d.masks == std::vector<Split>{Split::test, Split::none, Split::none, Split::train, Split::train,
                                        Split::train, Split::validation, Split::test});
    TempFolder stores;
    write_store(stores / "s", d);
    CHECK(Store::open(stores / "s").view(1).split[0] == Split::train);
    CHECK_THAT(message_of<SpecError>([&] { Store::open(stores / "s").view(2); }), says("splits 0 to 1"));

    for (auto file : {"split", "raw/node-feat.csv.gz", "raw/node-label.csv.gz"}) set.remove(file);
    CHECK(set.import().synthetic == std::vector<std::string>{"features", "labels", "masks"});
}

TEST_CASE("OGB: the edges say whether they are listed once, whatever the folder is called") {
    OgbSample set;
    const auto listed = [&](const std::string& edges, const json& options = json::object()) {
        set.raw("num-edge-list", std::to_string(std::ranges::count(edges, '\n')) + "\n").raw("edge", edges);
        std::vector<std::string> said;
        const MemoryBudget room{.progress = [&](const std::string& line) { said.push_back(line); }};
        auto d = import_file(set.root(), "", options, room);
        if (options.empty()) {
            CHECK(said.size() == 1);
            CHECK_THAT(said.at(0), says(d.options["edges"].get<std::string>()));
        }
        return d;
    };
    // both ways, a loop and a repeat among them: as it stands
    auto d = listed("0,1\n1,0\n2,2\n1,0\n");
    CHECK(d.graph.indices == Numbers{1, 0, 2});
    CHECK_THAT(d.options["edges"].get<std::string>(), says("each is there in both directions"));
    // some in one direction only: a directed graph
    d = listed("0,1\n1,0\n2,1\n");
    CHECK(d.graph.indices == Numbers{1, 0, 2});
    CHECK_THAT(d.options["edges"].get<std::string>(), says("others in one"));
    CHECK(listed("3,3\n").graph.indices == Numbers{3});
    // each in one direction: whoever knows says so
    CHECK_THAT(message_of<DataError>([&] { listed("0,1\n1,2\n3,3\n"); }),
               says("set `directed: true` if they are, `directed: false`"));
    CHECK(listed("0,1\n1,2\n3,3\n", {{"directed", true}}).graph.indices == Numbers{0, 1, 3});
    CHECK(listed("0,1\n1,2\n3,3\n", {{"directed", false}}).graph.indices == Numbers{1, 0, 2, 1, 3});
}

TEST_CASE("OGB: products and proteins are known by their split; a self-loop is mirrored to itself") {
    for (const auto& [split, set_name] : {std::pair{"sales_ranking", "products"}, {"species", "proteins"}})
        for (const auto* folder : {"ogbn_products", "ogbn_products_pyg", "anything"}) {
            OgbSample set;
            set.remove("split/time");
            set.split(split, "0\n1\n", "2\n", "3\n")
                .raw("num-edge-list", "4\n")
                .raw("edge", "0,1\n1,2\n2,3\n3,3\n");
            const auto named = set.root().parent_path() / folder;
            fs::rename(set.root(), named);
            const auto d = import_file(named, "", json::object());
            CHECK(d.graph.indices == Numbers{1, 0, 2, 1, 3, 2, 3});
            CHECK_THAT(d.options["edges"].get<std::string>(), says(set_name));
            CHECK(import_file(named, "", as_listed()).graph.indices.size() == 4);
        }
    // … unless the list has both directions itself, or the set other splits besides
    OgbSample set;
    set.split("sales_ranking", "0\n", "2\n", "3\n");
    CHECK_THAT(set.problem(undecided()), says("set `directed: true`"));
    set.remove("split/time");
    CHECK(set.raw("edge", "0,1\n1,0\n2,2\n").import(undecided()).graph.indices == Numbers{1, 0, 2});
}

TEST_CASE("OGB: a name says nothing of the edges") {
    OgbSample set;
    for (const auto* name : {"products", "ogbn_proteins", "ogbn-products"}) {
        const auto named = set.root().parent_path() / name;
        fs::rename(set.root(), named);
        CHECK_THAT(message_of<DataError>([&] { import_file(named, "", json::object()); }),
                   says("nothing says whether they are directed"));
        fs::rename(named, set.root());
    }
}

TEST_CASE("ways of a list: whole, or a sample of its pairs that its order does not change") {
    const auto ways = [](std::size_t most, auto fill) {
        ListedWays listed(most);
        fill(listed);
        return listed.ways();
    };
    const auto path = [](ListedWays& l) {
        for (int v = 0; v < 5000; ++v) l.add(v, v + 1);
    };
    const auto both = [&](ListedWays& l) {
        path(l);
        for (int v = 4999; v >= 0; --v) l.add(v + 1, v), l.add(v, v);
    };
    const auto mixed = [&](ListedWays& l) {
        path(l);
        for (int v = 0; v < 2500; ++v) l.add(v + 1, v);
    };
    for (const std::size_t most : {64, 100'000}) {
        CHECK(ways(most, path) == Ways::once);
        CHECK(ways(most, both) == Ways::both);
        CHECK(ways(most, mixed) == Ways::mixed);
        CHECK(ways(most, [](ListedWays& l) { l.add(7, 7); }) == Ways::none);
    }
}

TEST_CASE("OGB: unknown labels, several labels, an edge feature as weight") {
    OgbSample set;
    set.raw("node-label", "2.0\nnan\n1\n\"\"\n").split("time", "0\n", "2\n", "");
    auto d = set.import();
    CHECK(d.labels == Numbers{2, -1, 1, -1});
    TempFolder stores;
    write_store(stores / "s", d);
    set.split("time", "0\n1\n", "2\n", "");
    CHECK_THAT(message_of<DataError>([&] { write_store(stores / "s", set.import()); }),
               says("vertex 1 is in a mask of split 0 but has no label"));
    set.raw("node-label", "1,0\n0,0\n1,1\n0,1\n");
    d = set.import();
    CHECK(d.label_matrix == std::vector<std::uint8_t>{1, 0, 0, 0, 1, 1, 0, 1});
    CHECK(d.classes == 2);
    set.raw("node-label", "1,0\n0,nan\n1,1\n0,1\n");
    CHECK_THAT(set.problem(), says("has nan for vertex 1 and class 1, allowed are 0 and 1"));
    set.raw("node-label", "0\n1\n0\n1\n").raw("edge-feat", "2\n0.5\n-1\n");
    CHECK(set.import().graph.weights.empty());
    CHECK(set.import({{"weights", "edge-feat"}}).graph.weights == Reals{-1, 2, 0.5f});
    set.raw("edge-feat", "2,1\n0.5,1\n-1,1\n");
    CHECK_THAT(set.problem({{"weights", "edge-feat"}}), says("edge-feat.csv.gz:1: expected 1 values, found more"));
}

TEST_CASE("OGB: counts, ranges and numbers that do not hold name file and line") {
    const auto with = [](const std::string& name, const std::string& content) {
        return OgbSample().raw(name, content).problem();
    };
    CHECK_THAT(with("num-node-list", ""), says("num-node-list.csv.gz: expected a number, found an empty file"));
    CHECK_THAT(with("num-node-list", "4\n4\n"), says("num-node-list.csv.gz:2: it is of more than one graph"));
    CHECK_THAT(with("num-node-list", "3000000000\n"), says("allowed are whole numbers 0 to 2147483647"));
    CHECK_THAT(with("num-node-list", "0\n"), says("num-node-list states no vertices"));
    CHECK_THAT(with("num-node-list", "3\n"),
               says("edge.csv.gz:3: a source vertex is '3', allowed are whole numbers 0 to 2"));
    CHECK_THAT(with("num-node-list", "5\n"),
               says("node-feat.csv.gz: num-node-list states 5 rows, it ends after 4"));
    CHECK_THAT(with("num-edge-list", "2\n"),
               says("edge.csv.gz:3: num-edge-list states 2 rows, and here is another"));
    CHECK_THAT(with("num-edge-list", "4\n"), says("edge.csv.gz: num-edge-list states 4 rows, it ends after 3"));
    CHECK_THAT(with("edge", ""), says("states 3 rows, it ends after 0"));
    CHECK_THAT(with("edge", "0,1\n2\n3,0\n"), says("edge.csv.gz:2: expected 2 values, found 1 in '2'"));
    CHECK_THAT(with("edge", "0,1\n2,1,0\n3,0\n"), says("edge.csv.gz:2: expected 2 values, found more"));
    CHECK_THAT(with("edge", "0,1\n2,-1\n3,0\n"), says("a target vertex is '-1'"));
    CHECK_THAT(with("node-feat", "1,2\n3\n5,6\n7,8\n"), says("node-feat.csv.gz:2: expected 2 values, found 1"));
    CHECK_THAT(with("node-feat", "1,2\n3,nan\n5,6\n7,8\n"),
               says("node-feat.csv.gz:2: a feature is 'nan', allowed are finite"));
    CHECK_THAT(with("node-feat", "1,2\n3,1e39\n5,6\n7,8\n"), says("a feature is '1e39'"));
    CHECK_THAT(with("node-feat", "1,2\n3,\n5,6\n7,8\n"), says("a feature is ''"));
    CHECK_THAT(with("node-feat", std::string(1'000'001, ',') + "\n"),
               says("node-feat.csv.gz:1: a row of more than 1000000 values"));
    CHECK_THAT(with("node-label", "2\n0\n1.5\n0\n"), says("has the class 1.5 for vertex 2"));
    CHECK_THAT(with("node-label", "2\n0\n1000000\n0\n"), says("allowed are 0 to 999999"));
    CHECK_THAT(with("node-label", "2\n0\nx\n0\n"), says("node-label.csv.gz:3: a label is 'x'"));
    OgbSample without;
    without.remove("raw/edge.csv.gz");
    CHECK_THAT(without.problem(), says("OGB's format needs edge.csv.gz"));
    CHECK(OgbSample().raw("node-feat", "1,2\n3,1e-60\n5,6\n7,8\n").import().features[3] == 0);
}

TEST_CASE("OGB: splits that do not hold") {
    const auto with = [](const std::string& train, const std::string& valid) {
        return OgbSample().split("time", train, valid, "3\n").problem();
    };
    CHECK_THAT(with("0\n4\n", "2\n"), says("train.csv.gz:2: a vertex is '4', allowed are whole numbers 0 to 3"));
    CHECK_THAT(with("0\n0\n", "2\n"), says("train.csv.gz:2: vertex 0 is listed twice for the train mask"));
    CHECK_THAT(with("0\n", "2\n0\n"), says("valid.csv.gz:2: vertex 0 is in the train and the validation mask"));
    CHECK_THAT(with("", "2\n"), says("train.csv.gz: it lists no vertex"));
    OgbSample set;
    set.remove("split/time/test.csv.gz");
    std::ofstream(set.root() / "split/time/split_dict.pt") << "x";
    CHECK_THAT(set.problem(), says("a split needs test.csv.gz") && says("split_dict.pt is PyTorch's"));
}

TEST_CASE("OGB: a truncated archive, sets of several types, no set at all") {
    OgbSample set;
    std::string features;
    for (int i = 0; i < 4000; ++i) features += std::to_string(i * 7919 % 10007) + ",";
    set.raw("node-feat", features + "1\n" + features + "2\n" + features + "3\n" + features + "4\n");
    CHECK(set.import().feature_count == 4001);
    const auto file = set.root() / "raw/node-feat.csv.gz";
    fs::resize_file(file, fs::file_size(file) / 2);
    CHECK_THAT(set.problem(), says("node-feat.csv.gz") && (says("damaged or incomplete") || says("truncated")));
    write_packed(set.root() / "raw/triplet-type-list.csv.gz", "author,writes,paper\n");
    CHECK_THAT(set.problem(), says("vertices and edges of several types"));
    TempFolder empty;
    CHECK_THAT(message_of<DataError>([&] { import_file(empty.path(), "ogb", json::object()); }),
               says("OGB's format needs raw/num-node-list.csv.gz"));
    CHECK_THAT(message_of<DataError>([&] { import_file(empty.path(), "", json::object()); }),
               says("does not determine its format"));
}

namespace {

/// The graph of OgbSample in papers100M's layout.
NpzSample papers() {
    return NpzSample()
        .array<std::int64_t>("edge_index", {0, 2, 3, 1, 1, 0}, {2, 3})
        .array<std::int64_t>("num_nodes_list", {4}, {1})
        .array<std::int64_t>("num_edges_list", {3}, {1})
        .array<float>("node_feat", {0.5f, -1, 1e-3f, 2, 3, 4, -5, 6.25f}, {4, 2})
        .array<std::int64_t>("node_year", {2001, 2002, 2003, 2004}, {4, 1});
}

}  // namespace

TEST_CASE("OGB as data.npz, as of papers100M") {
    OgbSample csv;
    const auto as_csv = csv.import();
    OgbSample set;
    for (auto name : {"num-node-list", "num-edge-list", "edge", "node-feat", "node-label"})
        set.remove(std::string("raw/") + name + ".csv.gz");
    papers().write(set.root() / "raw/data.npz");
    NpzSample().array<float>("node_label", {2, 0, 1, 0}, {4, 1}).write(set.root() / "raw/node-label.npz");
    CHECK(detect_format(set.root()) == "ogb");
    const auto d = set.import();
    CHECK(d.graph.indptr == as_csv.graph.indptr);
    CHECK(d.graph.indices == as_csv.graph.indices);
    CHECK(d.features == as_csv.features);
    CHECK(d.labels == as_csv.labels);
    CHECK(d.masks == as_csv.masks);
    NpzSample().array<float>("node_label", {2, NAN, 1, 0}, {4, 1}).write(set.root() / "raw/node-label.npz");
    CHECK(set.import().labels == Numbers{2, -1, 1, 0});
    papers().array<float>("edge_feat", {1, 2, 3}, {3, 1}).write(set.root() / "raw/data.npz");
    CHECK(set.import({{"weights", "edge-feat"}}).graph.weights == Reals{3, 1, 2});
    // Columns first: the transpose of [3 × 2] as NumPy saves it.
    papers()
        .content("edge_index", npy_content("<i4", "(2, 3)", bytes_of<std::int32_t>({0, 1, 2, 1, 3, 0}), true))
        .write(set.root() / "raw/data.npz");
    CHECK(set.import().graph.indices == as_csv.graph.indices);
    CHECK_THAT(set.problem(undecided()), says("set `directed: true`"));
    // What the archive states, which a framework's exporter knows.
    papers().array<std::int64_t>("add_inverse_edge", {0}, {1}).write(set.root() / "raw/data.npz");
    CHECK(set.import(undecided()).graph.indices == as_csv.graph.indices);
    papers().array<std::int64_t>("add_inverse_edge", {1}, {1}).write(set.root() / "raw/data.npz");
    CHECK(set.import(undecided()).graph.indices.size() == 6);

    const auto with = [&](const NpzSample& npz) {
        npz.write(set.root() / "raw/data.npz");
        return set.problem();
    };
    CHECK_THAT(with(papers().without("edge_index")), says("array 'edge_index' is missing; it has num_nodes_list"));
    CHECK_THAT(with(papers().array<std::int64_t>("num_edges_list", {4}, {1})),
               says("array 'edge_index' has shape (2, 3), expected (2, 4)"));
    CHECK_THAT(with(papers().array<std::int64_t>("num_nodes_list", {3}, {1})),
               says("edge 2 has vertex 3, allowed are 0 to 2"));
    CHECK_THAT(with(papers().array<std::int64_t>("num_nodes_list", {2, 2}, {2})),
               says("'num_nodes_list' is of 2 graphs"));
    CHECK_THAT(with(papers().array<std::int64_t>("num_nodes_list", {1LL << 40}, {1})),
               says("allowed are 0 to 2147483647"));
    CHECK_THAT(with(papers().array<std::int64_t>("edge_index", {0, 2, 3, 1, 1, -1}, {2, 3})),
               says("edge 2 has vertex -1"));
    CHECK_THAT(with(papers().array<std::int64_t>("edge_index", {0, 2, 1LL << 33, 1, 1, 0}, {2, 3})),
               says("does not fit"));
    CHECK_THAT(with(papers().array<float>("node_feat", {1, 2}, {2, 1})),
               says("'node_feat' has shape (2, 1), expected (4, -1)"));
}

TEST_CASE("archives: bombs, tricks in paths, arrays that are there twice, cut ones") {
    OgbSample set;
    const auto file = set.root() / "raw/data.npz";
    // 64 MiB behind a header of four numbers: refused when the fifth number arrives, not when all are unpacked.
    papers()
        .content("edge_index", npy_content("<i4", "(2, 2)", std::string(std::size_t{64} << 20, '\0')))
        .write(file);
    CHECK_THAT(set.problem(), says("(edge_index): its header states") && says("but there are more"));
    papers().content("edge_index", npy_content("<i4", "(2, 4611686018427387904)", "")).write(file);
    CHECK_THAT(set.problem(), says("too large") || says("damaged"));
    papers().content("edge_index", npy_content("<i8", "(2, 1000000000000)", "1234")).write(file);
    CHECK_THAT(set.problem(), says("but there are only 4 bytes"));
    papers().content("edge_index", "no array at all").write(file);
    CHECK_THAT(set.problem(), says("(edge_index): expected a NumPy .npy file"));
    papers().content("edge_index", "").write(file);
    CHECK_THAT(set.problem(), says("(edge_index): expected a NumPy .npy file"));
    std::string long_header = npy_content("<i4", "(2, 2)", "");
    long_header[6] = '\x02';  // version 2 has a length of four bytes, of which these are the first
    long_header[10] = long_header[11] = '\x7f';
    papers().content("edge_index", long_header).write(file);
    CHECK_THAT(set.problem(), says("expected a NumPy .npy file, found a header"));

    TempFolder source;
    write_npy<std::int32_t>(source / "a.npy", std::vector<std::int32_t>{1}, {1});
    write_npz(
        file,
        {{"../../evil", source / "a.npy"}, {"/tmp/evil", source / "a.npy"}, {"edge_index", source / "a.npy"}});
    CHECK_THAT(set.problem(), says("array 'num_nodes_list' is missing; it has ../../evil, /tmp/evil, edge_index"));
    CHECK_FALSE(fs::exists(set.root() / "raw/../../evil.npy"));
    CHECK_FALSE(fs::exists(set.root() / "evil.npy"));
    write_npz(file, {{"num_nodes_list", source / "a.npy"}, {"num_nodes_list", source / "a.npy"}});
    CHECK_THAT(set.problem(), says("(num_nodes_list): it is there twice"));
    papers().write(file);
    for (auto size = fs::file_size(file) - 1; size > 30; size = size * 3 / 4) {
        fs::resize_file(file, size);
        CHECK_THROWS_AS(set.import(), DataError);
    }
    fs::resize_file(file, 0);
    CHECK_THROWS_AS(set.import(), DataError);
}

TEST_CASE("a licence is what the option says, or else the first line of the folder's") {
    OgbSample set;
    CHECK(set.import().licence == "unknown");
    std::ofstream(set.root() / "LICENSE.txt") << "\n# ODC-BY 1.0\nfurther lines\n";
    CHECK(set.import().licence == "ODC-BY 1.0");
    CHECK(import_inputs(set.root(), "").size() == 9);
    CHECK(set.import({{"licence", "CC0"}}).licence == "CC0");
    std::ofstream(set.root() / "LICENSE.txt") << "";
    CHECK(set.import().licence == "unknown");
}
