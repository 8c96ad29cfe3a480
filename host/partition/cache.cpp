#include "partition/cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/draft_file.hpp"

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

/// The file: this, the parts of rows, those of columns, the order, the parts of entries, then the XXH3-64 of all before it.
struct Header {
    char magic[8] = {'g', 'n', 'n', 'p', 'a', 'r', 't', '2'};
    std::uint64_t key = 0;  ///< XXH3-64 of the key's text: a renamed file is another's
    double wall_s = 0;
    std::int64_t parts = 0;
    std::int64_t rows = 0, columns = 0, ordered = 0, entries = 0;  ///< lengths of the arrays
};

using Bytes = std::vector<char>;

void append(Bytes& bytes, const void* data, std::size_t size) {
    const auto* begin = static_cast<const char*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
}

std::uint64_t key_digest(const std::string& key) { return XXH3_64bits(key.data(), key.size()); }

Bytes written(const std::string& key, const KeptPartition& kept) {
    const Partition& p = kept.partition;
    Header header;
    header.key = key_digest(key);
    header.wall_s = kept.wall_s;
    header.parts = p.parts;
    header.rows = std::ssize(p.part_of);
    header.columns = std::ssize(p.column_part_of);
    header.ordered = std::ssize(p.order);
    header.entries = std::ssize(p.part_of_entry);
    Bytes bytes;
    append(bytes, &header, sizeof header);
    for (const auto* array : {&p.part_of, &p.column_part_of, &p.order, &p.part_of_entry})
        append(bytes, array->data(), array->size() * sizeof(std::int32_t));
    const std::uint64_t digest = XXH3_64bits(bytes.data(), bytes.size());
    append(bytes, &digest, sizeof digest);
    return bytes;
}

/// Nothing unless the bytes are a whole, undamaged file of that key.
std::optional<KeptPartition> read(const std::string& key, const Bytes& bytes) {
    Header header;
    std::uint64_t digest = 0;
    if (bytes.size() < sizeof header + sizeof digest) return {};
    std::memcpy(&header, bytes.data(), sizeof header);
    std::memcpy(&digest, bytes.data() + bytes.size() - sizeof digest, sizeof digest);
    if (std::memcmp(header.magic, Header().magic, sizeof header.magic) != 0) return {};
    if (digest != XXH3_64bits(bytes.data(), bytes.size() - sizeof digest) || header.key != key_digest(key))
        return {};
    const auto room =
        static_cast<std::int64_t>((bytes.size() - sizeof header - sizeof digest) / sizeof(std::int32_t));
    std::int64_t left = room;
    for (const std::int64_t length : {header.rows, header.columns, header.ordered, header.entries}) {
        if (length < 0 || length > left) return {};
        left -= length;
    }
    if (left != 0) return {};
    KeptPartition kept{
        .partition = {.parts = static_cast<Part>(header.parts), .part_of = {}, .column_part_of = {}},
        .wall_s = header.wall_s};
    const char* at = bytes.data() + sizeof header;
    const auto take = [&](std::vector<std::int32_t>& array, std::int64_t length) {
        array.resize(usize(length));
        if (length > 0) std::memcpy(array.data(), at, usize(length) * sizeof(std::int32_t));
        at += usize(length) * sizeof(std::int32_t);
    };
    take(kept.partition.part_of, header.rows);
    take(kept.partition.column_part_of, header.columns);
    take(kept.partition.order, header.ordered);
    take(kept.partition.part_of_entry, header.entries);
    return kept;
}

bool fits(const Partition& p, const PartitionNeed& need, const GraphSize& graph) {
    try {
        check_partition(p, need, graph);
        return true;
    } catch (const LogicError&) {
        return false;
    }
}

}  // namespace

bool PartitionCache::holds(const std::string& key) const {
    std::error_code ignored;
    return fs::exists(file_of(key), ignored);
}

std::optional<KeptPartition> PartitionCache::find(const std::string& key, const PartitionNeed& need,
                                                  const GraphSize& graph) const {
    const fs::path file = file_of(key);
    std::error_code ignored;
    const auto size = fs::file_size(file, ignored);
    if (ignored || static_cast<std::int64_t>(size) > limit_bytes_) return {};
    std::ifstream in(file, std::ios::binary);
    Bytes bytes(size);
    if (!in.read(bytes.data(), std::ssize(bytes))) return {};
    auto kept = read(key, bytes);
    if (!kept || !fits(kept->partition, need, graph)) {
        fs::remove(file, ignored);
        return {};
    }
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);  // used now
    return kept;
}

void PartitionCache::keep(const std::string& key, const KeptPartition& kept) const {
    const Bytes bytes = written(key, kept);
    if (static_cast<std::int64_t>(bytes.size()) > limit_bytes_) return;
    std::error_code failed;
    fs::create_directories(folder_, failed);
    try {
        DraftFile draft(file_of(key));
        draft.write({bytes.data(), bytes.size()});
        draft.publish();
    } catch (const EnvironmentError&) {  // NOLINT(bugprone-empty-catch): it is made again where it is needed
    }
    make_room();
}

void PartitionCache::make_room() const {
    struct File {
        fs::path path;
        fs::file_time_type used;
        std::int64_t bytes;
    };
    std::vector<File> files;
    std::int64_t total = 0;
    std::error_code ignored;
    const auto now = fs::file_time_type::clock::now();
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
        std::error_code gone;
        const auto bytes = static_cast<std::int64_t>(entry.file_size(gone));
        const auto used = entry.last_write_time(gone);
        if (gone) continue;  // another process removed it
        if (entry.path().extension() != ".partition") {
            if (now - used > std::chrono::hours(1)) fs::remove(entry.path(), gone);  // a draft of a killed process
            continue;
        }
        files.push_back({entry.path(), used, bytes});
        total += bytes;
    }
    std::ranges::sort(files, {}, &File::used);
    for (const File& file : files) {
        if (total <= limit_bytes_) return;
        fs::remove(file.path, ignored);
        total -= file.bytes;
    }
}

}  // namespace gnnbench
