// Files of datasets, damaged.
#include <fstream>

#include <data/import.hpp>
#include <data/npy.hpp>
#include <data/store.hpp>
#include <unit/data_samples.hpp>
#include <unit/data_support.hpp>

#include "fuzz/both_ways.hpp"
#include "fuzz/damage.hpp"

using namespace gnnbench;
using namespace gnnbench::test;
using namespace gnnbench::test::pickled;

namespace {

/// Little is made up where a file has no features, so that a graph that became larger costs little.
const nlohmann::json frugal = {{"features", 1}, {"classes", 2}};

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Attacks one file of a dataset whose others are whole.
void attack_file(const TempFolder& folder, const std::string& name, const std::function<void()>& read) {
    const std::string whole = content_of(folder / name);
    attack(name, whole, [&](const std::string& bytes) {
        folder.write(name, bytes);
        read();
    });
    folder.write(name, whole);
}

void attack_text(const std::string& name, const std::string& text, const nlohmann::json& options = frugal) {
    const TempFolder folder;
    folder.write(name, text);
    attack_file(folder, name, [&] { import_file(folder / name, "", options); });
}

}  // namespace

TEST_CASE("damaged graphs as text") {
    attack_text("edges.txt", "# from to\n0 1\n1 2\n2 0\n10 2\n");
    attack_text("weighted.txt", "0 1 2.5\n1 2 1e-3\n2 0 7\n",
                {{"weights", "third"}, {"features", 1}, {"classes", 2}});
    attack_text("kept.txt", "0,1\n1,2\n4,3\n",
                {{"ids", "keep"}, {"vertices", 5}, {"features", 1}, {"classes", 2}});
    attack_text("graph.mtx",
                "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 3\n2 1 0.5\n3 1 2\n4 4 1\n");
    attack_text("graph.triples", "# c\na\tb\t0.5\nb\tc\t2\n");
    attack_text("metis.graph", "% c\n4 3 1\n2 7 3 1\n1 7\n1 1 4 2\n3 2\n");
}

TEST_CASE("damaged inputs give one store, or one error, in memory and sorted on disk") {
    const TempFolder folder, stores;
    const auto attack_both = [&](const std::string& name, const std::string& text, const std::string& format,
                                 const fs::path& input, nlohmann::json options = nlohmann::json::object()) {
        options.update(frugal);
        folder.write(name, text);
        CHECK(import_both_ways(input, format, options, 4000, stores.path()));
        attack(
            name, text,
            [&](const std::string& bytes) {
                folder.write(name, bytes);
                import_both_ways(input, format, options, 4000, stores.path());
            },
            fuzz_rounds() / 5);
        folder.write(name, text);
    };
    // Enough edges for four runs of 64 records, which are merged two at a time.
    std::string pairs, weighted, labels, rows, weights;
    for (int e = 0; e < 250; ++e) {
        const int u = e * e % 31, v = e % 7;
        pairs += fmt::format("{} {}\n", u, v);
        weighted += fmt::format("{} {} {}\n", u + 1, v + 1, e % 2 ? 1e4 : e * 1e-3);
        if (e < 200) labels += fmt::format("p{}\tq{}\t{}\n", u % 5, v % 3, e % 2 ? 1e4 : e * 1e-3);
        rows += fmt::format("{},{}\n", u, v);
        weights += fmt::format("{}\n", e % 2 ? 1e4 : e * 1e-3);
    }
    attack_both("edges.txt", pairs, "edge-list", folder / "edges.txt");
    attack_both("graph.mtx", "%%MatrixMarket matrix coordinate real general\n31 31 250\n" + weighted,
                "matrix-market", folder / "graph.mtx", {{"repeats", "sum"}});
    attack_both("graph.triples", labels, "triples", folder / "graph.triples",
                {{"directed", false}, {"repeats", "sum"}});
    fs::create_directories(folder / "set/raw");
    folder.write("set/raw/num-node-list.csv", "31\n");
    folder.write("set/raw/num-edge-list.csv", "250\n");
    folder.write("set/raw/edge-feat.csv", weights);
    attack_both("set/raw/edge.csv", rows, "ogb", folder / "set", {{"weights", "edge-feat"}});
}

TEST_CASE("damaged citation sets as text") {
    const TempFolder folder;
    folder.write("set.content", "p1 0 1 1 A\np2 1 0 0 B\np3 0 0 1 A\n");
    folder.write("set.cites", "p1 p2\np3 p1\n");
    for (const char* name : {"set.content", "set.cites"})
        attack_file(folder, name, [&] { import_file(folder / "set.cites", "", nlohmann::json::object()); });
}

TEST_CASE("damaged pickles of Planetoid") {
    // Four vertices in a ring: 0 trains, 0 and 1 are in allx, 2 and 3 are tested.
    const TempFolder folder;
    const std::string end = ".";
    folder.write("ind.ring.x", start + csr(1, 2, array({0, 1}), array({0}), array({1})) + end);
    folder.write("ind.ring.y", start + matrix(1, 2, {0, 1}) + end);
    folder.write("ind.ring.tx", start + csr(2, 2, array({0, 1, 2}), array({0, 1}), array({1, 1})) + end);
    folder.write("ind.ring.ty", start + matrix(2, 2, {1, 0, 0, 1}) + end);
    folder.write("ind.ring.allx", start + csr(2, 2, array({0, 1, 2}), array({0, 1}), array({1, 1})) + end);
    folder.write("ind.ring.ally", start + matrix(2, 2, {0, 1, 1, 0}) + end);
    // {0: [1, 3], 1: [0, 2], 2: [1, 3], 3: [2, 0]}
    folder.write("ind.ring.graph",
                 start + "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00](K\x01K\x03"s +
                     "eK\x01](K\x00K\x02"s + "eK\x02](K\x01K\x03"s + "eK\x03](K\x02K\x00"s + "eu.");
    folder.write("ind.ring.test.index", "3\n2\n");
    for (const char* part : {"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"})
        attack_file(folder, std::string("ind.ring.") + part,
                    [&] { import_file(folder / "ind.ring", "planetoid", nlohmann::json::object()); });
}

TEST_CASE("damaged .npz") {
    const TempFolder folder;
    const auto npy = [&](const char* name) { return folder / (std::string(name) + ".npy"); };
    write_npy<float>(npy("features"), std::vector<float>{1, 2, 3}, {3, 1});
    write_npy<std::int64_t>(npy("labels"), std::vector<std::int64_t>{0, 1, 0}, {3});
    write_npy<std::int64_t>(npy("edges"), std::vector<std::int64_t>{0, 1, 2, 1}, {2, 2});
    write_npz(folder / "t.npz",
              {{"edges", npy("edges")}, {"node_features", npy("features")}, {"node_labels", npy("labels")}});
    attack_file(folder, "t.npz", [&] { import_file(folder / "t.npz", "", nlohmann::json::object()); });
    // Its members, too: the checksums of an archive find most damage.
    for (const char* name : {"features", "labels", "edges"})
        attack_file(folder, std::string(name) + ".npy", [&] {
            write_npz(
                folder / "t.npz",
                {{"edges", npy("edges")}, {"node_features", npy("features")}, {"node_labels", npy("labels")}});
            import_file(folder / "t.npz", "", nlohmann::json::object());
        });
}

TEST_CASE("damaged sets of several files") {
    const TempFolder saint;
    scipy_csr(4, {0, 2, 3, 4, 4}, {1, 2, 0, 0}).write(saint / "adj_full.npz");
    scipy_csr(4, {0, 1, 2, 2, 2}, {1, 0}).write(saint / "adj_train.npz");
    write_npy<float>(saint / "feats.npy", std::vector<float>{1, 2, 3, 4}, {4, 1});
    saint.write("class_map.json", R"({"0": [1, 0], "1": [0, 1], "2": [1, 1], "3": [0, 0]})");
    saint.write("role.json", R"({"tr": [0, 1], "va": [3], "te": [2]})");
    for (const char* name : {"adj_full.npz", "adj_train.npz", "feats.npy", "class_map.json", "role.json"})
        attack_file(saint, name, [&] { import_file(saint.path(), "graphsaint", nlohmann::json::object()); });

    const TempFolder ogb;
    fs::create_directories(ogb / "raw");
    fs::create_directories(ogb / "split/time");
    const std::vector<std::pair<std::string, std::string>> files = {
        {"raw/num-node-list.csv", "4\n"},         {"raw/num-edge-list.csv", "3\n"},
        {"raw/edge.csv", "0,1\n2,1\n3,0\n"},      {"raw/node-feat.csv", "1,2\n3,4\n5,6\n7,8\n"},
        {"raw/node-label.csv", "2\n0\nnan\n0\n"}, {"split/time/train.csv", "0\n"},
        {"split/time/valid.csv", "1\n"},          {"split/time/test.csv", "3\n"}};
    for (const auto& [name, content] : files) ogb.write(name, content);
    auto as_listed = frugal, mirrored = frugal;
    as_listed["directed"] = true;
    mirrored["directed"] = false;
    for (const auto& [name, content] : files) {
        attack_file(ogb, name, [&] { import_file(ogb.path(), "ogb", as_listed); });
        attack_file(ogb, name, [&] { import_file(ogb.path(), "ogb", mirrored); });
    }
    NpzSample()
        .array<std::int64_t>("edge_index", {0, 2, 3, 1, 1, 0}, {2, 3})
        .array<std::int64_t>("num_nodes_list", {4}, {1})
        .array<std::int64_t>("num_edges_list", {3}, {1})
        .array<float>("node_feat", {1, 2, 3, 4}, {4, 1})
        .write(ogb / "raw/data.npz");
    attack_file(ogb, "raw/data.npz", [&] { import_file(ogb.path(), "ogb", as_listed); });

    const TempFolder reddit;
    scipy_csr(3, {0, 1, 2, 3}, {1, 2, 0}).write(reddit / "reddit_graph.npz");
    NpzSample()
        .array<float>("feature", {1, 2, 3}, {3, 1})
        .array<std::int64_t>("label", {0, 1, 0}, {3})
        .array<std::int32_t>("node_types", {1, 2, 3}, {3})
        .write(reddit / "reddit_data.npz");
    for (const char* name : {"reddit_graph.npz", "reddit_data.npz"})
        attack_file(reddit, name, [&] { import_file(reddit.path(), "reddit", nlohmann::json::object()); });
}

TEST_CASE("damaged stores") {
    const TempFolder folder;
    write_store(folder / "store", tiny_dataset());
    for (const char* name :
         {"manifest.json", "indptr.npy", "indices.npy", "features.npy", "labels.npy", "masks.npy"})
        attack_file(folder, std::string("store/") + name, [&] { Store::open(folder / "store").check(); });
}
