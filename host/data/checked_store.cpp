#include <data/checked_store.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using namespace std::chrono_literals;

/// Times of files move in steps of up to 10 ms. What changes within the same step as before shows in no time.
constexpr std::chrono::nanoseconds clock_step = 20ms;
constexpr std::int64_t most_bytes = std::int64_t{64} << 20;

std::chrono::nanoseconds since_epoch(const timespec& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// What the system says of a store's files, hidden ones left out, tiles included: all but the device, whose number differs
/// between hosts that share a file system, and that.
struct Stamp {
    json files = json::array();  ///< [path, inode, size, modified, changed], in the order of paths
    json devices = json::array();
    std::chrono::nanoseconds newest{};

    bool operator==(const Stamp& other) const { return files == other.files && devices == other.devices; }
};

Stamp stamp_of(const fs::path& store) {
    std::vector<fs::path> paths;
    std::error_code none;
    for (fs::recursive_directory_iterator item(store, none), end; item != end; item.increment(none)) {
        if (item->path().filename().string().starts_with('.'))
            item.disable_recursion_pending();
        else if (!item->is_directory(none))
            paths.push_back(item->path());
    }
    std::ranges::sort(paths);
    Stamp stamp;
    for (const fs::path& path : paths) {
        struct stat info{};
        if (::stat(path.c_str(), &info) != 0) continue;  // opening it says why
        stamp.files.push_back({path.lexically_relative(store).string(), info.st_ino, info.st_size,
                               since_epoch(info.st_mtim).count(), since_epoch(info.st_ctim).count()});
        stamp.devices.push_back(info.st_dev);
        stamp.newest = std::max(stamp.newest, since_epoch(info.st_ctim));
    }
    return stamp;
}

/// The file of the user's cache about a store; empty: there is no cache.
fs::path note_about(const fs::path& store) {
    const fs::path cache = user_cache_folder();
    if (cache.empty()) return {};
    std::error_code cause;
    const std::string path = fs::weakly_canonical(fs::absolute(store), cause).string();
    if (cause) return {};
    const XXH128_hash_t h = XXH3_128bits(path.data(), path.size());
    return cache / "checked" / fmt::format("{:016x}{:016x}.json", h.high64, h.low64);
}

/// Null where there is none, or where somebody else wrote it or could have.
json read_note(const fs::path& file) {
    const int descriptor =
        file.empty() ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return {};
    std::string text;
    struct stat info{};
    if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
        (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && info.st_size <= most_bytes) {
        text.resize(usize(info.st_size));
        const ssize_t found = ::read(descriptor, text.data(), text.size());
        text.resize(found < 0 ? 0 : usize(found));
    }
    ::close(descriptor);
    json note = json::parse(text, nullptr, false);
    return note.is_object() ? note : json();
}

/// Another program version may check more.
constexpr int check_version = 1;

bool is_note_of(const json& note, const Stamp& stamp) {
    return note.is_object() && note.value("version", 0) == check_version &&
           note.value("files", json()) == stamp.files;
}

/// What cannot be written is not remembered, and the store is checked again.
void write_note(const fs::path& file, const json& note) {
    if (file.empty()) return;
    std::error_code cause;
    const fs::path folder = file.parent_path();
    fs::create_directories(folder, cause);
    std::string draft = (folder / ".note-XXXXXX").string();
    const int descriptor = ::mkostemp(draft.data(), O_CLOEXEC);  // O_EXCL, 0600
    if (descriptor < 0) return;
    const std::string text = note.dump();
    const bool whole = ::write(descriptor, text.data(), text.size()) == std::ssize(text);
    ::close(descriptor);
    if (!whole || ::rename(draft.c_str(), file.c_str()) != 0) ::unlink(draft.c_str());
}

/// Once the clock of files has moved on, so that a later change shows; if the files still are what was checked.
void remember(const fs::path& store, const Stamp& checked, const FileChecksums& computed) {
    const fs::path note = note_about(store);
    if (note.empty()) return;
    const auto age = std::chrono::system_clock::now().time_since_epoch() - checked.newest;
    if (age >= 0ns && age < clock_step) std::this_thread::sleep_for(clock_step - age);
    if (!(stamp_of(store) == checked)) return;
    json content = {{"version", check_version},
                    {"store", fs::absolute(store).lexically_normal().string()},
                    {"files", checked.files},
                    {"devices", checked.devices}};
    if (!computed.empty()) content["checksums"] = to_json(computed);
    write_note(note, content);
}

Store check_and_remember(const fs::path& folder, const Stamp& stamp, const StoreNotify& progress) {
    Store store = Store::open(folder);
    if (progress) progress(fmt::format("checking dataset {}", store.manifest().name));
    store.check();
    remember(folder, stamp, store.manifest().checksums.empty() ? compute_checksums(folder) : FileChecksums());
    return store;
}

}  // namespace

fs::path user_cache_folder() {
    const auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return fs::path(value ? value : "");
    };
    if (const fs::path cache = set("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "gnnbench";
    if (const fs::path home = set("HOME"); home.is_absolute()) return home / ".cache" / "gnnbench";
    return {};
}

Store open_checked(const fs::path& folder, const StoreNotify& progress) {
    const Stamp stamp = stamp_of(folder);
    const json note = read_note(note_about(folder));
    if (is_note_of(note, stamp) && note.value("devices", json()) == stamp.devices) return Store::open(folder);
    return check_and_remember(folder, stamp, progress);
}

Store check_now(const fs::path& folder, const StoreNotify& progress) {
    return check_and_remember(folder, stamp_of(folder), progress);
}

void remember_written(const fs::path& folder) { remember(folder, stamp_of(folder), {}); }

FileChecksums known_checksums(const Store& store) {
    if (!store.manifest().checksums.empty()) return store.manifest().checksums;
    const fs::path file = note_about(store.path());
    const json note = read_note(file);
    if (!is_note_of(note, stamp_of(store.path())) || !note.contains("checksums")) return {};
    return checksums_from_json(note["checksums"], file.string());
}

}  // namespace gnnbench
