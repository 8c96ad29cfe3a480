// Imports that sort their edges on disk write the store that they write from memory.
#include <fstream>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/random.hpp>

#include <data/external_sort.hpp>
#include <data/import.hpp>
#include <data/importers/id_set.hpp>
#include <data/external_graph.hpp>
#include <data/store.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

std::string content_of_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> files_of(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& item : fs::directory_iterator(folder)) names.push_back(item.path().filename().string());
    std::ranges::sort(names);
    return names;
}

/// Both stores have the same files with the same bytes.
void check_same(const fs::path& held, const fs::path& outside) {
    REQUIRE(files_of(held) == files_of(outside));
    for (const auto& name : files_of(held)) {
        INFO(name);
        CHECK((content_of_file(held / name) == content_of_file(outside / name)));
    }
}

MemoryBudget room_of(std::uint64_t bytes, const fs::path& folder) {
    return {.memory_bytes = bytes, .folder = folder};
}

/// Imports twice, with all memory and with little, and compares the stores.
void check_import(const fs::path& path, const json& options, std::uint64_t little_bytes) {
    INFO(path.filename().string() << " " << options.dump());
    const TempFolder stores;
    const auto held = import_file(path, "", options);
    REQUIRE(!held.outside);
    write_store(stores / "held", held);
    const auto outside = import_file(path, "", options, room_of(little_bytes, stores.path()));
    REQUIRE(outside.outside);
    const auto manifest = write_store(stores / "outside", outside);
    check_same(stores / "held", stores / "outside");
    Store::open(stores / "outside").check();
    CHECK(manifest.edges > 0);
    CHECK(files_of(stores.path()) == std::vector<std::string>{"held", "outside"});
}

/// Lines "u v weight" over `ids`, with repeats, loops and mirrors; some are listed often.
std::string random_lines(std::int64_t edges, bool weighted, const std::function<std::string(std::uint32_t)>& id,
                         std::uint32_t vertices, const char* between = " ") {
    RandomStream draw(7, Draw::graph);
    std::string text;
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto u = static_cast<std::uint32_t>(draw.below(vertices));
        auto v = static_cast<std::uint32_t>(draw.below(e % 3 == 0 ? 5 : vertices));
        if (e % 50 == 0) v = u;
        text += id(u) + between + id(v);
        // Sums of these depend on their order.
        if (weighted)
            text += between + fmt::format("{}", static_cast<double>(draw.below(1000)) * 1e-3 + 1e4 * (e % 2));
        text += '\n';
    }
    return text;
}

std::string plain_id(std::uint32_t v) { return std::to_string(v); }

struct Pair {
    std::int32_t row, col;
    std::int32_t place;
};

}  // namespace

TEST_CASE("an external sort is a stable sort, in any number of runs and passes") {
    const TempFolder folder;
    for (const std::size_t records : {0u, 1u, 2u, 299u, 300u, 301u, 20000u})
        for (const SortSizes sizes : {SortSizes{300, 7, 2}, SortSizes{300, 64, 4}, SortSizes{5000, 100, 1000},
                                      SortSizes{1, 1, 3}, SortSizes{100000, 10, 2}}) {
            if (records > 1000 && sizes.run_records == 1) continue;
            RandomStream draw(3, Draw::graph);
            ExternalSort<Pair> sort(folder.path(), sizes);
            std::vector<Pair> expected;
            for (std::size_t i = 0; i < records; ++i) {
                const auto row =
                    static_cast<std::int32_t>(draw.below(2) == 0 ? draw.below(40) : INT32_MAX - draw.below(9));
                expected.push_back({row, static_cast<std::int32_t>(draw.below(50)), static_cast<std::int32_t>(i)});
                sort.add(expected.back());
            }
            std::ranges::stable_sort(expected, {}, [](const Pair& p) { return std::pair(p.row, p.col); });
            std::vector<Pair> found;
            sort.merge(sizes, [&](const Pair& p) { found.push_back(p); });
            INFO(records << " records, runs of " << sizes.run_records);
            REQUIRE(found.size() == expected.size());
            CHECK(std::ranges::equal(found, expected, [](const Pair& a, const Pair& b) {
                return a.row == b.row && a.col == b.col && a.place == b.place;
            }));
            if (records == 20000 && sizes.run_records == 300) CHECK(sort.passes() >= 2);
        }
    CHECK(files_of(folder.path()).empty());
}

TEST_CASE("edge lists sorted on disk give the same store") {
    const TempFolder folder;
    const auto plain = folder.write("plain.txt", random_lines(6000, false, plain_id, 300));
    const auto weighted = folder.write("weighted.txt", random_lines(6000, true, plain_id, 300));
    const auto far = folder.write(
        "far.txt", random_lines(6000, false, [](auto v) { return std::to_string(v * 1234567890123ull); }, 300));
    for (const bool directed : {true, false})
        for (const char* loops : {"keep", "drop"})
            for (const char* repeats : {"drop", "sum"}) {
                const json options = {
                    {"directed", directed}, {"loops", loops}, {"repeats", repeats}, {"features", 5}};
                check_import(plain, options, 20000);
                json third = options;
                third["weights"] = "third";
                check_import(weighted, third, 20000);
            }
    // Every edge is listed from both ends, with the same weight or another.
    for (const char* back : {"1", "2", "-1"}) {
        std::string text;
        for (int i = 0; i < 1500; ++i)
            text += fmt::format("{} {} {}\n{} {} {}\n", i % 50, i / 50 + 50, 1, i / 50 + 50, i % 50,
                                i % 7 ? "1" : back);
        check_import(folder.write("both.txt", text), {{"weights", "third"}, {"features", 3}}, 20000);
    }
    check_import(plain, {{"ids", "keep"}, {"vertices", 400}, {"reverse", true}}, 20000);
    check_import(far, {{"features", 3}}, 20000);
    check_import(far, {{"train_fraction", 0.0}, {"classes", 3}},
                 20000);  // then one vertex is in train nevertheless
    for (const char* loops : {"keep", "drop"})
        check_import(plain, {{"labels", "degrees"}, {"classes", 7}, {"loops", loops}, {"features", 3}}, 20000);
}

TEST_CASE("Matrix Market and triples sorted on disk give the same store") {
    const TempFolder folder;
    const auto from_1 = [](std::uint32_t v) { return std::to_string(v + 1); };
    for (const bool weighted : {false, true})
        for (const char* symmetry : {"general", "symmetric"}) {
            const auto file = folder.write(fmt::format("{}.mtx", symmetry),
                                           fmt::format("%%MatrixMarket matrix coordinate {} {}\n300 300 5000\n",
                                                       weighted ? "real" : "pattern", symmetry) +
                                               random_lines(5000, weighted, from_1, 300));
            for (const char* repeats : {"drop", "sum"})
                check_import(file, {{"repeats", repeats}, {"features", 3}}, 20000);
            if (weighted)
                check_import(file, {{"weights", "ignore"}, {"directed", false}, {"reverse", true}}, 20000);
            const auto labels = folder.write(
                "t.triples",
                random_lines(5000, weighted, [](auto v) { return "protein " + std::to_string(v); }, 40, "\t"));
            check_import(labels, {{"features", 3}}, 20000);
            check_import(labels, {{"directed", false}, {"repeats", "sum"}, {"reverse", true}}, 20000);
        }
    // Values that nobody wants may be what no weight is: the reader on all threads gives up, the other starts again.
    const auto odd = folder.write("odd.mtx", "%%MatrixMarket matrix coordinate real general\n300 300 5001\n" +
                                                 random_lines(5000, true, from_1, 300) + "1 2 nan\n");
    check_import(odd, {{"weights", "ignore"}}, 20000);
}

TEST_CASE("OGB as CSV sorted on disk gives the same store: features, labels, masks and weights of the set") {
    const TempFolder folder;
    const auto root = folder / "set";
    fs::create_directories(root / "raw");
    fs::create_directories(root / "split/time");
    RandomStream draw(5, Draw::graph);
    std::string edges, weights, features, labels, train, valid;
    for (int e = 0; e < 4000; ++e) {
        edges += fmt::format("{},{}\n", draw.below(200), draw.below(200));
        weights += fmt::format("{}\n", static_cast<double>(draw.below(1000)) * 1e-3 + 1e4 * (e % 2));
    }
    for (int v = 0; v < 200; ++v) {
        features += fmt::format("{},{},0.5\n", v * 0.25, -v);
        labels += v % 7 == 0 ? "nan\n" : fmt::format("{}\n", v % 4);
        if (v % 7 != 0) (v % 2 == 0 ? train : valid) += fmt::format("{}\n", v);
    }
    const auto write = [&](const std::string& name, const std::string& text) {
        folder.write("set/" + name, text);
    };
    write("raw/num-node-list.csv", "200\n");
    write("raw/num-edge-list.csv", "4000\n");
    write("raw/edge.csv", edges);
    write("raw/edge-feat.csv", weights);
    write("raw/node-feat.csv", features);
    write("raw/node-label.csv", labels);
    write("split/time/train.csv", train);
    write("split/time/valid.csv", valid);
    write("split/time/test.csv", "");
    check_import(root, json::object(), 20000);
    check_import(root, {{"weights", "edge-feat"}, {"repeats", "sum"}, {"reverse", true}}, 20000);
    fs::remove_all(root / "split");  // masks are drawn of the labelled
    check_import(root, {{"directed", "false"}}, 20000);
    fs::remove(root / "raw/node-feat.csv");
    fs::remove(root / "raw/node-label.csv");
    check_import(root, {{"weights", "edge-feat"}, {"features", 7}}, 20000);
    write("raw/edge-feat.csv", weights + "1\n");
    CHECK_THAT(message_of<DataError>([&] { import_file(root, "", {{"weights", "edge-feat"}}); }),
               says("states 4000 rows, and here is another"));
    write("raw/node-feat.csv", features + "nan,0,0\n");
    CHECK_THAT(
        message_of<DataError>([&] { import_file(root, "", json::object(), room_of(20000, folder.path())); }),
        says("states 200 rows, and here is another"));
}

TEST_CASE("graphs without edges, and with one vertex, are written from outside") {
    const TempFolder folder;
    for (const bool weighted : {false, true})
        for (const Listing listing : {Listing::directed, Listing::undirected}) {
            const EdgePolicy policy{.listing = listing};
            RawDataset d = tiny_dataset();
            EdgeList none{.vertices = 4, .source = {}, .target = {}, .weight = {}, .line = {}, .file = "none"};
            d.graph = build_graph(none, policy);
            write_store(folder / "held", d);
            d.outside = std::make_shared<OutsideParts>();
            d.outside->graph =
                ExternalGraph::make("none", policy, weighted, false, room_of(1000, folder.path()), 1000);
            d.outside->graph->end(4, 2);
            write_store(folder / "outside", d);
            check_same(folder / "held", folder / "outside");
        }
}

TEST_CASE("an edge listed again is named by both lines, from outside too") {
    const TempFolder folder;
    std::string text;
    for (int i = 0; i < 3000; ++i) text += fmt::format("{} {}\n", i % 60, 100 + i / 60);
    const auto again = folder.write("again.txt", text + "# comment\n7 120\n");
    for (const bool directed : {true, false}) {
        const json options = {{"repeats", "error"}, {"directed", directed}};
        const auto message = message_of<DataError>([&] { import_file(again, "", options); });
        CHECK_THAT(message, says("again.txt:3002: edge 7 → 80") && says("first on line 1208"));
        const auto data = import_file(again, "", options, room_of(20000, folder.path()));
        REQUIRE(data.outside);
        CHECK(message_of<DataError>([&] { write_store(folder / "s", data); }) == message);
        CHECK(files_of(folder.path()) == std::vector<std::string>{"again.txt"});
    }
    const auto weights = folder.write("w.txt", "0 1 3e38\n0 1 3e38\n");
    const auto refused = [&](const MemoryBudget& room) {
        return message_of<DataError>([&] {
            write_store(folder / "s", import_file(weights, "", {{"weights", "third"}, {"repeats", "sum"}}, room));
        });
    };
    CHECK_THAT(refused({}), says("the weight of entry 0 is inf"));
    CHECK(refused(room_of(40, folder.path())) == refused({}));
}

TEST_CASE("what does not fit, and cannot go outside, is refused with its size, what is allowed and what to do") {
    const TempFolder folder;
    const auto refused = [&](const fs::path& file, std::uint64_t bytes, const json& options = json::object()) {
        return message_of<EnvironmentError>(
            [&] { import_file(file, "", options, room_of(bytes, folder.path())); });
    };
    const auto mtx = folder.write("claims.mtx",
                                  "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 "
                                  "2\n1 2\n2 1\n");
    CHECK_THAT(refused(mtx, 1 << 30),
               says("the rows of the graph (2000000000 vertices, of which its edges touch 4 at most) "
                    "needs 547.6 GiB of memory, this import may take 1.0 GiB") &&
                   says("--memory"));
    const auto one = folder.write("one.txt", "0 2000000000\n");
    CHECK_THAT(refused(one, 1 << 30, {{"ids", "keep"}}), says("2000000001 vertices"));
    CHECK(import_file(one, "", json::object(), room_of(1 << 20, folder.path())).graph.vertices() == 2);
    // Every id is another: their table alone is too large.
    std::string sparse, labels;
    for (int i = 0; i < 3000; ++i) {
        sparse += fmt::format("{} 0\n", i * 1000000007ll);
        labels += fmt::format("label{} x\n", i);
    }
    CHECK_THAT(refused(folder.write("sparse.txt", sparse), 20000),
               says("the table of its ids needs more than a third"));
    CHECK_THAT(refused(folder.write("l.abc", labels), 20000),
               says("l.abc: the table of its 1025 labels, together with its edges, needs"));
    const auto metis = folder.write("m.graph", "2 1\n2\n1\n");
    CHECK_THAT(refused(metis, 50), says("METIS' format with 0 listed neighbours and 2 vertices needs"));
    const auto stated =
        folder.write("s.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 900000000\n1 2\n");
    CHECK_THAT(message_of<DataError>([&] { import_file(stated, "", json::object()); }),
               says("it states 900000000 entries, its") && says("bytes can have"));
    const auto long_line = folder.write("long.txt", "0 1\n0 " + std::string(30000, ' ') + "1\n1 0\n");
    CHECK(import_file(long_line, "", json::object()).graph.vertices() == 2);
    CHECK_THAT(
        message_of<DataError>([&] { import_file(long_line, "", json::object(), room_of(40, folder.path())); }),
        says("a line of more than 4096 bytes"));
}

TEST_CASE("a set of ids numbers them in ascending order, as bits and as a list") {
    RandomStream draw(11, Draw::graph);
    for (const std::int64_t step : {1, 3, 1000003}) {
        std::vector<std::int64_t> all, batch;
        IdSet ids(40000);
        for (int b = 0; b < 20; ++b) {
            batch.clear();
            // Later batches have larger ids, so that bits become a list on the way.
            for (int i = 0; i < 500; ++i)
                batch.push_back(static_cast<std::int64_t>(draw.below(3000)) * (b < 5 ? 1 : step));
            REQUIRE(ids.insert(batch));
            all.insert(all.end(), batch.begin(), batch.end());
        }
        REQUIRE(ids.count());
        std::ranges::sort(all);
        all.erase(std::ranges::unique(all).begin(), all.end());
        REQUIRE(ids.size() == std::ssize(all));
        for (std::size_t i = 0; i < all.size(); ++i) CHECK(ids.rank(all[i]) == static_cast<std::int64_t>(i));
    }
    IdSet small(800);
    std::vector<std::int64_t> far;
    for (std::int64_t i = 0; i < 101; ++i) far.push_back(i << 40);
    CHECK_FALSE((small.insert(far) && small.count()));
}

TEST_CASE("sizes of memory are numbers with a unit") {
    CHECK(parse_memory("2G", "--memory") == std::uint64_t{2} << 30);
    CHECK(parse_memory("1.5GiB", "--memory") == std::uint64_t{3} << 29);
    CHECK(parse_memory("64MB", "--memory") == std::uint64_t{64} << 20);
    CHECK(parse_memory("12345", "--memory") == 12345);
    for (const char* wrong : {"", "G", "-1G", "2 G", "2Q", "1e30", "nan", "2GX"})
        CHECK_THAT(message_of<SpecError>([&] { parse_memory(wrong, "--memory"); }),
                   says("--memory is '") && says("expected bytes as 2G"));
    CHECK(available_memory_bytes() > 0);
    CHECK(MemoryBudget::default_memory() < available_memory_bytes());
}
