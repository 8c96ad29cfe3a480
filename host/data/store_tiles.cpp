#include <data/store_tiles.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/checked_store.hpp>
#include <data/file.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr const char* transpose_prefix = "transpose_";
constexpr const char* tiles_prefix = "tiles-";

bool allowed(std::int64_t tiles) { return tiles >= 1 && tiles <= most_tiles; }

fs::path tiles_folder(const fs::path& store, const Manifest& m) { return store / tiles_folder_name(m); }

void write_tiles(const fs::path& folder, const std::string& prefix, const TileArrays& t) {
    const auto file = [&](const char* name) { return folder / (prefix + name); };
    write_npy<std::int64_t>(file("starts.npy"), t.starts, {t.down * t.across + 1});
    write_npy<std::int32_t>(file("row_starts.npy"), t.row_starts, {t.down * t.across, t.tile_rows + 1});
    write_npy<std::int32_t>(file("indices.npy"), t.indices, {std::ssize(t.indices)});
    if (!t.weights.empty()) write_npy<float>(file("weights.npy"), t.weights, {std::ssize(t.weights)});
}

/// Adds the checksums of files in a folder of the store, if the store has checksums.
void add_checksums(Manifest& m, const std::string& folder, FileChecksums of_folder) {
    if (m.checksums.empty()) return;
    for (auto& [name, blocks] : of_folder.blocks) m.checksums.blocks[folder + "/" + name] = std::move(blocks);
}

/// The only process that changes a store's tiles, while it lives.
class StoreOwner {
public:
    explicit StoreOwner(const fs::path& store)
        : descriptor_(::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            const int cause = errno;
            if (descriptor_ >= 0) ::close(descriptor_);
            throw EnvironmentError(cause == EWOULDBLOCK
                                       ? fmt::format("another process is changing {}", store.string())
                                       : fmt::format("cannot lock {}: {}", store.string(), std::strerror(cause)));
        }
    }
    StoreOwner(const StoreOwner&) = delete;
    StoreOwner& operator=(const StoreOwner&) = delete;
    ~StoreOwner() { ::close(descriptor_); }

private:
    int descriptor_;
};

/// rename(2), which replaces a file, with an error that says what failed.
void rename_to(const fs::path& from, const fs::path& to) {
    std::error_code cause;
    fs::rename(from, to, cause);
    if (cause)
        throw EnvironmentError(
            fmt::format("cannot rename {} to {}: {}", from.string(), to.string(), cause.message()));
}

void replace_manifest(const fs::path& store, const Manifest& m) {
    const fs::path made = store / "manifest.json.new";
    OutputFile out(made);
    out.write(to_json(m).dump(2) + "\n");
    out.close();
    rename_to(made, store / "manifest.json");
}

}  // namespace

std::string tiles_folder_name(const Manifest& m) {
    return m.tiles.empty() ? "" : fmt::format("{}{}x{}", tiles_prefix, m.tiles.at(0), m.tiles.at(1));
}

MappedTiles::MappedTiles(const fs::path& folder, const std::string& prefix, const Manifest& m)
    : shape_(tile_shape(m.vertices, m.tiles[0], m.tiles[1])) {
    const std::int64_t tiles = shape_.down * shape_.across;
    const auto map = [&]<class T>(MappedArray<T>& array, const char* name,
                                  const std::vector<std::int64_t>& shape) {
        const fs::path file = folder / (prefix + name);
        array = MappedArray<T>(file);
        if (array.shape() != shape)
            throw DataError(
                fmt::format("{}: its shape is ({}), that of the store's tiles is ({}); run `gnnbench dataset "
                            "shard` again",
                            file.string(), fmt::join(array.shape(), ", "), fmt::join(shape, ", ")));
    };
    map(starts_, "starts.npy", {tiles + 1});
    map(row_starts_, "row_starts.npy", {tiles, shape_.tile_rows + 1});
    map(indices_, "indices.npy", {m.edges});
    if (m.weighted) map(weights_, "weights.npy", {m.edges});
    if (starts_.values().front() != 0 || starts_.values().back() != m.edges)
        throw DataError(
            fmt::format("{}: it must run from 0 to {}, the number of entries; run `gnnbench dataset shard` "
                        "again",
                        (folder / (prefix + "starts.npy")).string(), m.edges));
}

TiledRows MappedTiles::view() const {
    TiledRows t = shape_;
    t.starts = starts_.values();
    t.row_starts = row_starts_.values();
    t.indices = indices_.values();
    t.weights = weights_.values();
    return t;
}

bool MappedTiles::are_of(const CompressedRows& rows) const {
    const TiledRows t = view();
    if (t.empty()) return true;
    const TileArrays made = cut_tiles(rows, t.down, t.across);
    return std::ranges::equal(t.starts, made.starts) && std::ranges::equal(t.row_starts, made.row_starts) &&
           std::ranges::equal(t.indices, made.indices) && std::ranges::equal(t.weights, made.weights);
}

StoreTiles StoreTiles::open(const fs::path& store, const Manifest& m) {
    if (m.tiles.empty()) return {};
    if (m.tiles.size() != 2 || !std::ranges::all_of(m.tiles, allowed))
        throw DataError(fmt::format("{}: {} cannot be tiles: two numbers from 1 to {}",
                                    (store / "manifest.json").string(), m.tiles, most_tiles));
    const fs::path folder = tiles_folder(store, m);
    StoreTiles t;
    t.rows = MappedTiles(folder, "", m);
    if (m.transpose) t.transpose = MappedTiles(folder, transpose_prefix, m);
    return t;
}

Manifest tile_store(const fs::path& path, std::int64_t down, std::int64_t across) {
    if (!allowed(down) || !allowed(across))
        throw SpecError(
            fmt::format("there may be 1 to {} tiles down and across; found {} × {}", most_tiles, down, across));
    const StoreOwner owner(path);
    const Store store = open_checked(path);
    const Manifest& before = store.manifest();
    const TiledRows shape = tile_shape(before.vertices, down, across);
    Manifest m = before;
    m.tiles.clear();
    if (shape.down * shape.across > 1) m.tiles = {shape.down, shape.across};
    if (m.tiles == before.tiles) return m;
    std::erase_if(m.checksums.blocks, [](const auto& file) { return file.first.starts_with(tiles_prefix); });

    std::error_code ignored;
    if (!m.tiles.empty()) {
        const fs::path folder = tiles_folder(path, m), made = path / ".making-tiles";
        fs::remove_all(made, ignored);
        fs::remove_all(folder, ignored);
        try {
            make_folder(made);
            const GraphView graph = store.view().graph;
            write_tiles(made, "", cut_tiles(graph.rows(), shape.down, shape.across));
            if (before.transpose)
                write_tiles(made, transpose_prefix, cut_tiles(graph.transpose, shape.down, shape.across));
            add_checksums(m, folder.filename().string(), compute_checksums(made));
            rename_to(made, folder);
        } catch (...) {
            fs::remove_all(made, ignored);
            throw;
        }
    }
    replace_manifest(path, m);
    if (!before.tiles.empty()) fs::remove_all(tiles_folder(path, before), ignored);
    return m;
}

}  // namespace gnnbench
