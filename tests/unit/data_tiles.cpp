#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <gnnbench/error.hpp>

#include <contract/graphs.hpp>
#include <data/store.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

/// A directed graph with weights, as a dataset.
RawDataset weighted_dataset() {
    const auto g = graphs::directed_random(40, 200, true);
    RawDataset d = tiny_dataset();
    d.graph = {.indptr = g.indptr, .indices = g.indices, .weights = g.weights, .listed_edges = 200};
    d.features.assign(80, 1);
    d.labels.assign(40, 1);
    d.masks.assign(40, Split::train);
    return d;
}

void same(const TiledRows& found, const TileArrays& wanted) {
    const TiledRows w = wanted.view();
    CHECK(found.tile_rows == w.tile_rows);
    CHECK(found.tile_columns == w.tile_columns);
    CHECK(found.down == w.down);
    CHECK(found.across == w.across);
    const auto equal = [](const auto& a, const auto& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    CHECK(equal(found.starts, w.starts));
    CHECK(equal(found.row_starts, w.row_starts));
    CHECK(equal(found.indices, w.indices));
    CHECK(equal(found.weights, w.weights));
}

}  // namespace

TEST_CASE("a matrix in tiles, by hand") {
    // rows {1, 2}, {0}, {0, 1, 2} in 2 × 2 tiles of two rows and two columns
    const std::vector<std::int64_t> indptr{0, 2, 3, 6};
    const std::vector<std::int32_t> indices{1, 2, 0, 0, 1, 2};
    const std::vector<float> weights{1, 2, 3, 4, 5, 6};
    const TileArrays t = cut_tiles({indptr, indices, weights}, 2, 2);
    CHECK(t.tile_rows == 2);
    CHECK(t.tile_columns == 2);
    CHECK(t.starts == std::vector<std::int64_t>{0, 2, 3, 5, 6});
    CHECK(t.row_starts == std::vector<std::int32_t>{0, 1, 2, 0, 1, 1, 0, 2, 2, 0, 1, 1});
    CHECK(t.indices == std::vector<std::int32_t>{1, 0, 2, 0, 1, 2});
    CHECK(t.weights == std::vector<float>{1, 3, 2, 4, 5, 6});
    CHECK(t.view().row(2, 0).begin == 3);
    CHECK(t.view().row(2, 0).end == 5);
    CHECK(t.view().row(1, 1).begin == t.view().row(1, 1).end);
}

TEST_CASE("tiles whose row pointers no machine holds are refused before they are made") {
    const std::vector<std::int64_t> no_entries(10'000'001);
    CHECK_THAT(message_of<EnvironmentError>([&] { cut_tiles({no_entries, {}, {}}, 4096, 4096); }),
               says("row pointers of 4096 × 4096 tiles"));
}

TEST_CASE("a store in tiles has the same content, and its entries and those of its transpose in tiles") {
    TempFolder folder;
    const Manifest whole = write_store(folder / "s", weighted_dataset());
    CHECK(whole.tiles.empty());
    CHECK(Store::open(folder / "s").view().graph.tiles.empty());
    const Manifest tiled = tile_store(folder / "s", 3, 5);
    CHECK(tiled.tiles == std::vector<std::int64_t>{3, 5});
    CHECK(tiled.digest == whole.digest);
    const Store store = Store::open(folder / "s");
    CHECK(store.manifest() == tiled);
    store.check();
    const GraphView graph = store.view().graph;
    same(graph.tiles, cut_tiles(graph.rows(), 3, 5));
    same(graph.transpose_tiles, cut_tiles(graph.transpose, 3, 5));

    CHECK(tile_store(folder / "s", 100, 100).tiles == std::vector<std::int64_t>{40, 40});  // as many as vertices
    CHECK_FALSE(fs::exists(folder / "s/tiles-3x5"));
    CHECK(tile_store(folder / "s", 1, 1) == whole);
    CHECK_FALSE(fs::exists(folder / "s/tiles-40x40"));
    CHECK(Store::open(folder / "s").view().graph.tiles.empty());
}

TEST_CASE("a symmetric store's tiles serve both directions") {
    TempFolder folder;
    auto data = tiny_dataset();
    data.graph.indptr = {0, 1, 3, 4, 4};
    data.graph.indices = {1, 0, 2, 1};
    write_store(folder / "s", data);
    tile_store(folder / "s", 2, 2);
    const Store store = Store::open(folder / "s");
    CHECK(store.view().graph.transpose_tiles.empty());
    CHECK(store.view().graph.column_tiles().down == 2);
}

TEST_CASE("tiles that are not a store's own are found") {
    TempFolder folder;
    write_store(folder / "s", weighted_dataset());
    tile_store(folder / "s", 3, 2);
    const fs::path tiles = folder / "s/tiles-3x2";
    const auto open = [&] { return message_of<DataError>([&] { Store::open(folder / "s"); }); };
    const auto check = [&] { return message_of<DataError>([&] { Store::open(folder / "s").check(); }); };
    const auto changed = [&]<class T>(const char* file, std::size_t at, T value) {
        std::vector<T> values;
        std::vector<std::int64_t> shape;
        {
            const MappedArray<T> array(tiles / file);
            values.assign(array.values().begin(), array.values().end());
            shape = array.shape();
        }
        const T before = std::exchange(values[at], value);
        write_npy<T>(tiles / file, values, shape);
        const std::string message = check();
        values[at] = before;
        write_npy<T>(tiles / file, values, shape);
        Store::open(folder / "s").check();
        return message;
    };
    CHECK_THAT(changed("indices.npy", 7, std::int32_t{-5}), says("its tiles are not those of its rows"));
    CHECK_THAT(changed("weights.npy", 3, 0.123F), says("its tiles are not those of its rows"));
    CHECK_THAT(changed("row_starts.npy", 1, std::int32_t{1 << 30}), says("its tiles are not those of its rows"));
    CHECK_THAT(changed("starts.npy", 2, std::int64_t{-9}), says("its tiles are not those of its rows"));
    CHECK_THAT(changed("transpose_indices.npy", 0, std::int32_t{39}), says("its tiles are not those of its rows"));
    CHECK_THAT(changed("starts.npy", 6, std::int64_t{7}), says("starts.npy: it must run from 0 to"));

    // of another graph
    auto other = weighted_dataset();
    std::swap(other.graph.weights[0], other.graph.weights[1]);
    write_store(folder / "other", other);
    tile_store(folder / "other", 3, 2);
    fs::remove_all(tiles);
    fs::copy(folder / "other/tiles-3x2", tiles);
    CHECK_THAT(check(), says("its tiles are not those of its rows"));
    // half of them
    fs::remove(tiles / "transpose_row_starts.npy");
    CHECK_THAT(open(), says("cannot read"));
    fs::remove_all(tiles);
    CHECK_THAT(open(), says("cannot read"));
    // other tiles than the manifest states
    write_store(folder / "s", weighted_dataset());
    auto manifest = to_json(tile_store(folder / "s", 3, 2));
    fs::rename(tiles, folder / "s/tiles-4x2");
    manifest["tiles"] = {4, 2};
    folder.write("s/manifest.json", manifest.dump());
    CHECK_THAT(open(), says("starts.npy: its shape is (7), that of the store's tiles is (9)"));
    for (const auto& wrong :
         {nlohmann::json{3}, nlohmann::json{0, 2}, nlohmann::json{3, 5000}, nlohmann::json{3, -1}}) {
        manifest["tiles"] = wrong;
        folder.write("s/manifest.json", manifest.dump());
        CHECK_THAT(open(), says("cannot be tiles: two numbers from 1 to 4096"));
    }
}

TEST_CASE("tiles that may not be are refused, and the store stays as it was") {
    TempFolder folder;
    const Manifest whole = write_store(folder / "s", weighted_dataset());
    for (const auto& [down, across] : {std::pair{0, 1}, {1, -3}, {4097, 1}})
        CHECK_THAT(message_of<SpecError>([&, d = down, a = across] { tile_store(folder / "s", d, a); }),
                   says("there may be 1 to 4096 tiles down and across"));
    const int other = ::open((folder / "s").c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(::flock(other, LOCK_EX) == 0);
    CHECK_THAT(message_of<EnvironmentError>([&] { tile_store(folder / "s", 2, 2); }),
               says("another process is changing"));
    ::close(other);
    CHECK(Store::open(folder / "s").manifest() == whole);
    fs::create_directory(folder / "s/.making-tiles");  // of a process that was killed
    CHECK(tile_store(folder / "s", 2, 2).tiles.size() == 2);
    CHECK_FALSE(fs::exists(folder / "s/.making-tiles"));
}
