// Real files: every one must come out with the counts that the README beside them states.
#include <algorithm>

#include <gnnbench/error.hpp>

#include <data/import.hpp>
#include <data/importers/pickle.hpp>
#include <data/describe.hpp>
#include <data/store.hpp>
#include <data/text_input.hpp>
#include <gnnbench/random.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

struct Expected {
    const char* file;
    std::int64_t vertices, listed, edges, features;
    int classes, splits;
    std::int64_t loops = 0;
};

constexpr Expected expected[] = {
    {"planetoid-cora", 2708, 10858, 10556, 1433, 7, 1},
    {"cora-linqs", 2708, 5429, 10556, 1433, 7, 1},
    {"shchur-npz/cora.npz", 2708, 5429, 10556, 1433, 7, 1},
    {"heterophilous-npz/tolokers.npz", 11758, 519000, 1038000, 10, 2, 10},
    {"heterophilous-npz/minesweeper.npz", 10000, 39402, 78804, 7, 2, 10},
    {"heterophilous-npz/squirrel.npz", 5201, 198353, 396706, 2089, 5, 10},
    {"snap/amazon0601.tsv.zst", 403394, 3387388, 3387388, 4, 3, 1},
    {"snap/soc-Epinions1.edges.csv.zst", 75879, 508837, 508837, 4, 3, 1},
    {"snap/wiki-Vote.txt", 7115, 103689, 103689, 4, 3, 1},
    {"snap/p2p-Gnutella04.edges.csv", 10876, 39994, 39994, 4, 3, 1},
    {"snap/email-Eu-core.edges.csv", 1005, 25571, 25571, 4, 3, 1, 642},
    {"metis/astro-ph.graph", 16706, 121251, 242502, 4, 3, 1},
    {"metis/polblogs.graph", 1490, 16715, 33430, 4, 3, 1},
    {"metis/4elt.graph", 15606, 45878, 91756, 4, 3, 1},
    {"metis/airfoil1.graph", 4253, 12289, 24578, 4, 3, 1},
    {"metis/PGPgiantcompo.graph", 10680, 24316, 48632, 4, 3, 1},
    {"metis/karate.graph", 34, 78, 156, 4, 3, 1},
    {"metis/lesmis.graph", 77, 254, 508, 4, 3, 1},
};

RawDataset import_shared(const fs::path& file) { return import_file(file, "", {{"features", 4}, {"classes", 3}}); }

Store stored(const TempFolder& folder, const fs::path& file) {
    write_store(folder / "s", import_shared(file));
    return Store::open(folder / "s");
}

}  // namespace

TEST_CASE("every real dataset imports with its stated counts") {
    auto shared = shared_data();
    if (shared.empty()) return;
    for (const auto& e : expected) {
        INFO(e.file);
        TempFolder folder;
        auto store = stored(folder, shared / e.file);
        store.check();
        const auto& m = store.manifest();
        CHECK(m.vertices == e.vertices);
        CHECK(m.listed_edges == e.listed);
        CHECK(m.edges == e.edges);
        CHECK(m.features == e.features);
        CHECK(m.classes == e.classes);
        CHECK(m.splits == e.splits);
        CHECK(m.self_loops == e.loops);
    }
}

TEST_CASE("Cora: repeats, components, the standard split, and three sources that agree") {
    auto shared = shared_data();
    if (shared.empty()) return;
    TempFolder folder;
    auto planetoid = describe(stored(folder, shared / "planetoid-cora"));
    CHECK(planetoid["repeats_merged"] == 302);
    CHECK(planetoid["components"] == 78);
    CHECK(planetoid["split_sizes"][0] ==
          json({{"train", 140}, {"validation", 500}, {"test", 1000}, {"none", 1068}}));
    CHECK(planetoid["synthetic"].empty());
    // tkipf/gcn's train labels: 20 of each class.
    auto store = Store::open(folder / "s");
    auto view = store.view();
    std::vector<int> train(7);
    for (std::size_t v = 0; v < 140; ++v) ++train[static_cast<std::size_t>(view.labels[v])];
    CHECK(train == std::vector<int>(7, 20));

    auto linqs = import_shared(shared / "cora-linqs"), npz = import_shared(shared / "shchur-npz/cora.npz");
    CHECK(linqs.graph.indices == npz.graph.indices);
    CHECK(linqs.features == npz.features);
    CHECK(linqs.labels == npz.labels);
    auto degrees = [](std::span<const std::int64_t> indptr) {
        std::vector<std::int64_t> d;
        for (std::size_t v = 1; v < indptr.size(); ++v) d.push_back(indptr[v] - indptr[v - 1]);
        std::ranges::sort(d);
        return d;
    };
    CHECK(degrees(view.graph.indptr) == degrees(linqs.graph.indptr));
    CHECK(std::ranges::count(view.features, 1.0f) == std::ranges::count(linqs.features, 1.0f));
}

TEST_CASE("lesmis' weights, astro-ph's empty rows, the ten splits of tolokers") {
    auto shared = shared_data();
    if (shared.empty()) return;
    auto lesmis = import_shared(shared / "metis/lesmis.graph");
    // Line of vertex 1: "2 1 3 8 4 10 5 1 …": neighbour 3 with weight 8, 4 with 10.
    CHECK(lesmis.graph.indices[1] == 2);
    CHECK(lesmis.graph.weights[1] == 8);
    CHECK(lesmis.graph.weights[2] == 10);
    TempFolder folder;
    CHECK(describe(stored(folder, shared / "metis/astro-ph.graph"))["degrees"]["zero_rows"] == 660);
    CHECK(describe(stored(folder, shared / "metis/polblogs.graph"))["degrees"]["zero_rows"] == 266);
    auto tolokers = describe(stored(folder, shared / "heterophilous-npz/tolokers.npz"));
    for (const auto& split : tolokers["split_sizes"]) {
        CHECK(split["train"] == 5879);  // half, a quarter, a quarter
        CHECK(split["none"] == 0);
    }
}

TEST_CASE("whatever a damaged pickle says, the answer is a DataError or data") {
    auto shared = shared_data();
    if (shared.empty()) return;
    auto good = read_all(shared / "planetoid-cora/ind.cora.x");
    for (std::size_t length = 0; length < good.size(); length += length < 1000 ? 1 : 997)
        CHECK_THROWS_AS(load_pickle(std::span(good).first(length), "cut"), DataError);
    RandomStream random(7, Draw::sample);
    for (int i = 0; i < 2000; ++i) {
        auto bad = good;
        // The first 800 bytes hold the structure; what follows is mostly one array's elements.
        for (int k = 0; k < 3; ++k) bad[random.below(800)] = static_cast<std::byte>(random.below(256));
        try {
            load_pickle(bad, "changed");
        } catch (const DataError&) {
        }
    }
}
