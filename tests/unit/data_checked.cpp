// Who reads a store, reads a checked one: what is remembered of a check, where, and what is told although nothing looks
// changed.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>

#include <gnnbench/error.hpp>

#include <data/checked_store.hpp>
#include <data/store.hpp>
#include <data/store_tiles.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

/// A variable of the environment as long as it lives; null: unset.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    Environment(const Environment&) = delete;
    ~Environment() { set(before_ ? before_->c_str() : nullptr); }

private:
    void set(const char* value) const {
        if (value)
            ::setenv(name_, value, 1);
        else
            ::unsetenv(name_);
    }
    const char* name_;
    std::optional<std::string> before_;
};

/// A store in a folder of its own, and a cache of its own.
class CheckedSample {
public:
    CheckedSample() { write_store(store(), tiny_dataset()); }
    fs::path store() const { return folder_ / "s"; }
    fs::path cache() const { return folder_ / "cache"; }
    fs::path file(const std::string& name) const { return store() / name; }

    /// Whether opening it checked it.
    bool checks(std::optional<fs::path> path = {}) const {
        std::vector<std::string> said;
        open_checked(path.value_or(store()), [&](const std::string& line) { said.push_back(line); });
        return std::ranges::count(said, "checking dataset tiny") > 0;
    }
    std::string problem() const {
        return message_of<DataError>([&] { open_checked(store()); });
    }
    /// As `touch -r` allows.
    void flip_byte(const std::string& name, std::int64_t at, char by = 1) const {
        const auto modified = fs::last_write_time(file(name));
        std::fstream io(file(name), std::ios::in | std::ios::out | std::ios::binary);
        io.seekg(at);
        const char byte = static_cast<char>(io.get());
        io.seekp(at);
        io.put(static_cast<char>(byte ^ by));
        io.close();
        fs::last_write_time(file(name), modified);
    }
    json manifest() const { return json::parse(std::ifstream(file("manifest.json"))); }
    void write_manifest(const json& m) const { folder_.write("s/manifest.json", m.dump()); }
    json manifest_without_checksums() const {
        json m = manifest();
        m.erase("checksums");
        return m;
    }
    fs::path note() const { return fs::directory_iterator(cache() / "gnnbench/checked")->path(); }

private:
    TempFolder folder_;
    Environment cache_{"XDG_CACHE_HOME", (folder_ / "cache").c_str()};
};

constexpr std::int64_t head = 128;  // of an .npy file

}  // namespace

TEST_CASE("a store is checked once, as long as its files are the same") {
    const CheckedSample s;
    CHECK(s.checks());
    CHECK_FALSE(s.checks());
    fs::copy(s.store(), s.store().parent_path() / "copy", fs::copy_options::recursive);
    CHECK(s.checks(s.store().parent_path() / "copy"));
    fs::last_write_time(s.file("labels.npy"), fs::file_time_type::clock::now());
    CHECK(s.checks());
    CHECK_FALSE(s.checks());
    check_now(s.store());
    CHECK_FALSE(s.checks());
}

TEST_CASE("a store does not say of itself that it was checked") {
    const CheckedSample s;
    s.flip_byte("indices.npy", head, 0x40);  // neighbour 0 becomes 64
    std::string stamp;
    for (const auto& item : fs::directory_iterator(s.store()))
        stamp += item.path().filename().string() + " " + std::to_string(item.file_size()) + "\n";
    std::ofstream(s.file(".checked")) << stamp;
    CHECK_THAT(s.problem(), says("vertex 1 has a neighbour 64, allowed are 0 to 3"));
    CHECK_THAT(message_of<DataError>([&] { tile_store(s.store(), 2, 2); }), says("a neighbour 64"));
}

TEST_CASE("a byte that changed under an unchanged time of modification is told") {
    for (const auto* name : {"indptr.npy", "indices.npy", "transpose_indices.npy", "features.npy", "labels.npy",
                             "masks.npy", "transpose_indptr.npy"}) {
        const CheckedSample s;
        CHECK(s.checks());
        CHECK_FALSE(s.checks());
        const auto before = fs::last_write_time(s.file(name));
        s.flip_byte(name, head + 2);
        CHECK(fs::last_write_time(s.file(name)) == before);
        INFO(name);
        CHECK_THAT(s.problem(), says(s.store().string()));
    }
}

TEST_CASE("without a home nothing is remembered, and a note of somebody else is none") {
    const CheckedSample s;
    {
        const Environment cache("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
        CHECK(user_cache_folder().empty());
        CHECK(s.checks());
        CHECK(s.checks());
    }
    {
        const Environment cache("XDG_CACHE_HOME", nullptr), home("HOME", "/home/somebody");
        CHECK(user_cache_folder() == "/home/somebody/.cache/gnnbench");
    }
    {
        const Environment cache("XDG_CACHE_HOME", "/proc/none");
        CHECK(s.checks());
        CHECK(s.checks());
    }
    CHECK(s.checks());
    CHECK((fs::status(s.note()).permissions() & fs::perms::others_all) == fs::perms::none);
    CHECK_FALSE(s.checks());
    fs::permissions(s.note(), fs::perms::others_write, fs::perm_options::add);
    CHECK(s.checks());
    std::ofstream(s.note()) << "{";
    CHECK(s.checks());
    CHECK_FALSE(s.checks());
}

TEST_CASE("flags in a manifest are those of the rows") {
    const CheckedSample s;
    const auto with = [&](const json& changed) {
        const json before = s.manifest();
        json m = before;
        m.update(changed);
        s.write_manifest(m);
        const std::string found = s.problem();
        s.write_manifest(before);
        return found;
    };
    const json symmetric = {{"symmetric_pattern", true}, {"symmetric_weights", true}};
    CHECK_THAT(with(symmetric), says("one of vertices") && says("symmetric_weights") && says("was changed after"));
    // By somebody who makes the digest, too.
    const auto forged = [&](auto&& change) {
        Manifest m = manifest_from_json(s.manifest(), "m");
        change(m);
        m.digest = dataset_digest(m);
        return to_json(m);
    };
    const auto symmetric_flags = [](Manifest& m) { m.symmetric_pattern = m.symmetric_weights = true; };
    CHECK_THAT(with(forged(symmetric_flags)), says("\"symmetric_pattern\" is true, its rows say false"));
    CHECK_THAT(with(forged([](Manifest& m) { m.self_loops = 1; })), says("\"self_loops\" is 1, its rows say 0"));
    CHECK_THAT(with({{"self_loops", -5}}), says("\"self_loops\" is -5, allowed are 0 to 3"));
    CHECK_THAT(with({{"self_loops", 2.5}}), says("\"self_loops\" cannot be 2.5"));
    CHECK_THAT(with({{"self_loops", true}}), says("\"self_loops\" cannot be true"));
    CHECK_THAT(with({{"vertices", 0}}), says("\"vertices\" is 0, allowed are 1 to"));
    CHECK_THAT(with({{"splits", 5000000000}}), says("\"splits\" cannot be 5000000000"));
    CHECK_THAT(with({{"symmetric_pattern", 1}}), says("\"symmetric_pattern\" cannot be 1"));
    CHECK_THAT(with({{"listed_edges", -1}}), says("\"listed_edges\" is -1, allowed is 0 or more"));
    CHECK_THAT(with({{"synthetic", {"grph"}}}), says("\"synthetic\" has 'grph', allowed are graph, features"));
    CHECK_THAT(with({{"synthetic", {"labels", "labels"}}}), says("once each"));
    CHECK_THAT(with({{"synthetic", {"labels"}}}), says("was changed after the dataset was created"));
    CHECK_THAT(with(forged([](Manifest& m) { m.options = {{"generate", "dcsbm"}}; })),
               says("\"synthetic\" is [], without the graph"));
    s.checks();
    CHECK_FALSE(s.checks());
}

TEST_CASE("the digest covers what arithmetic and tables read, and nothing else") {
    const CheckedSample s;
    const Manifest m = read_manifest(s.file("manifest.json"));
    const auto digest_with = [&](auto change) {
        Manifest other = m;
        change(other);
        return dataset_digest(other);
    };
    CHECK(m.digest == dataset_digest(m));
    CHECK(m.digest != m.content);
    CHECK(digest_with([](Manifest& o) { o.symmetric_weights = true; }) != m.digest);
    CHECK(digest_with([](Manifest& o) { o.self_loops = 1; }) != m.digest);
    CHECK(digest_with([](Manifest& o) { o.synthetic = {"graph"}; }) != m.digest);
    CHECK(digest_with([](Manifest& o) { o.classes = 9; }) != m.digest);
    CHECK(digest_with([](Manifest& o) { o.content = std::string(32, '0'); }) != m.digest);
    CHECK(digest_with([](Manifest& o) {
              o.name = o.source = "elsewhere";
              o.transpose = false;
              o.tiles = {2, 2};
              o.checksums = {};
          }) == m.digest);
}

TEST_CASE("a store without checksums is checked whole, and its checksums are kept in the user's cache") {
    const CheckedSample s;
    const std::string digest = read_manifest(s.file("manifest.json")).digest;
    const FileChecksums written = read_manifest(s.file("manifest.json")).checksums;
    CHECK(written.blocks.contains("features.npy"));
    s.write_manifest(s.manifest_without_checksums());
    const Store store = Store::open(s.store());
    CHECK(store.manifest().digest == digest);
    CHECK(store.manifest().checksums.empty());
    CHECK(known_checksums(store).empty());
    CHECK(s.checks());
    CHECK_FALSE(s.checks());
    CHECK(known_checksums(store) == written);
    s.flip_byte("features.npy", head);
    CHECK(known_checksums(store).empty());
    CHECK_THAT(s.problem(), says("features.npy") || says("its content has the digest"));
}

TEST_CASE("a block that is not what was written is told by whose share it is") {
    TempFolder folder;
    RawDataset data = tiny_dataset();
    data.feature_count = 1'000'000;  // 16 MB: four blocks, of which the last is short
    data.features.assign(4'000'000, 0.5f);
    const Manifest m = write_store(folder / "s", data);
    CHECK(m.checksums.blocks.at("features.npy").size() == 4);
    CHECK(checksums_from_json(to_json(m.checksums), "m") == m.checksums);
    check_blocks(folder / "s", m.checksums, {}, 2);
    const auto flip = [&](std::int64_t at) {
        std::fstream io(folder / "s/features.npy", std::ios::in | std::ios::out | std::ios::binary);
        io.seekp(at);
        io.put('\x7f');
    };
    flip(2 * FileChecksums::block_bytes + 5);
    for (const int threads : {1, 3}) {
        CHECK_THAT(message_of<DataError>([&] { check_blocks(folder / "s", m.checksums, {}, threads); }),
                   says("features.npy: bytes 8388608 to 12582911 are not those that were written"));
        int found = 0;
        for (int i = 0; i < 3; ++i) try {
                check_blocks(folder / "s", m.checksums, {.index = i, .count = 3}, threads);
            } catch (const DataError&) {
                ++found;
            }
        CHECK(found == 1);
    }
    fs::resize_file(folder / "s/features.npy", 1000);
    CHECK_THAT(message_of<DataError>([&] { check_blocks(folder / "s", m.checksums, {}, 1); }), says("bytes 0 to"));
    fs::remove(folder / "s/features.npy");
    CHECK_THAT(message_of<DataError>([&] { check_blocks(folder / "s", m.checksums, {}, 1); }),
               says("cannot read"));

    json j = to_json(m.checksums);
    j["files"]["../x.npy"] = "";
    CHECK_THAT(message_of<DataError>([&] { checksums_from_json(j, "m"); }), says("a file outside the store"));
    j = to_json(m.checksums);
    j["files"]["labels.npy"] = "0123";
    CHECK_THAT(message_of<DataError>([&] { checksums_from_json(j, "m"); }),
               says("labels.npy are not 16 hexadecimal"));
    j["block_bytes"] = 7;
    CHECK_THAT(message_of<DataError>([&] { checksums_from_json(j, "m"); }), says("are of blocks of 7 bytes"));
}

TEST_CASE("tiles have checksums, too") {
    const CheckedSample s;
    const Manifest before = read_manifest(s.file("manifest.json")), tiled = tile_store(s.store(), 2, 2);
    CHECK(tiled.digest == before.digest);
    CHECK(tiled.checksums.blocks.contains("tiles-2x2/indices.npy"));
    CHECK(s.checks());
    s.flip_byte("tiles-2x2/indices.npy", head);
    CHECK_THAT(message_of<DataError>([&] { check_blocks(s.store(), tiled.checksums, {}, 1); }),
               says("tiles-2x2/indices.npy: bytes 0 to"));
    CHECK_THAT(s.problem(), says("its tiles are not those of its rows"));
    s.flip_byte("tiles-2x2/indices.npy", head);
    CHECK(tile_store(s.store(), 1, 1).checksums == before.checksums);
    // a file that is used, and of which the manifest says nothing
    json m = s.manifest();
    m["checksums"]["files"].erase("labels.npy");
    s.write_manifest(m);
    CHECK_THAT(s.problem(), says("its manifest has no checksums of labels.npy"));
}
