#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnnbench/error.hpp>

#include <data/catalog.hpp>
#include <data/checked_store.hpp>
#include <data/expectation.hpp>
#include <data/generate.hpp>
#include <data/import.hpp>
#include <data/import_record.hpp>
#include <data/options.hpp>

#include "core/draft_file.hpp"

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The parts of a dataset mapping.
struct Source {
    enum class Kind { store, path, generate } kind = Kind::store;
    std::string value;   ///< of the key that selects the kind
    std::string format;  ///< of a path; empty: by its name
    std::string name;    ///< empty: derived
    int split = 0;
    json rest;  ///< options or parameters
};

/// Removes a key of type text from the mapping.
std::string take_text(json& mapping, const char* key) {
    if (!mapping.contains(key)) return {};
    auto value = mapping[key];
    if (!value.is_string())
        throw SpecError(fmt::format("dataset: '{}' is {}, allowed is text", key, value.dump()));
    mapping.erase(key);
    return value.get<std::string>();
}

Source split_mapping(json mapping) {
    if (!mapping.is_object())
        throw SpecError(fmt::format("dataset: expected a mapping, found {}", mapping.dump()));
    Source s;
    if (mapping.contains("split")) {
        if (!mapping["split"].is_number_integer() || mapping["split"] < 0)
            throw SpecError(fmt::format("dataset: 'split' is {}, allowed are whole numbers from 0 on",
                                        mapping["split"].dump()));
        s.split = mapping["split"].get<int>();
        mapping.erase("split");
    }
    int kinds = mapping.contains("store") + mapping.contains("path") + mapping.contains("generate");
    if (kinds != 1)
        throw SpecError(fmt::format(
            "dataset: expected one of the keys store, path, generate and expect, found {} of them in {}", kinds,
            mapping.dump()));
    s.kind = mapping.contains("store")  ? Source::Kind::store
             : mapping.contains("path") ? Source::Kind::path
                                        : Source::Kind::generate;
    s.value = take_text(mapping, s.kind == Source::Kind::store  ? "store"
                                 : s.kind == Source::Kind::path ? "path"
                                                                : "generate");
    if (s.kind == Source::Kind::store && !mapping.empty())
        throw SpecError(fmt::format("dataset: unknown key '{}' beside store; only split is allowed there",
                                    mapping.begin().key()));
    if (s.kind == Source::Kind::path) s.format = take_text(mapping, "format");
    s.name = take_text(mapping, "name");
    s.rest = std::move(mapping);
    return s;
}

std::string as_folder_name(std::string name) {
    for (auto& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
    if (name.starts_with('.')) name.front() = '-';
    return name;
}

/// How a file is imported: everything but its bytes that makes another dataset.
struct ImportSetting {
    std::string name, format, version;  ///< version: of the importer
    json options;
};

ImportSetting import_setting(const Source& s) {
    if (!fs::exists(s.value)) throw DataError(fmt::format("dataset: there is no file {}", s.value));
    ImportSetting i{.name = s.name, .format = s.format, .version = {}, .options = {}};
    if (i.format.empty()) i.format = detect_format(s.value);
    const auto declared = importer_params(i.format);
    const auto params = resolve_params(declared, s.rest, fmt::format("options of {} ({})", s.value, i.format));
    const json other = beyond_defaults(declared, params);
    if (i.name.empty()) i.name = input_name(s.value) + (other.empty() ? "" : "-" + short_digest(other, 6));
    i.options = identity_json(declared, params);
    i.version = importer_version(i.format);
    return i;
}

/// The folder of `name` for this identity.
std::string folder_of(const std::string& name, json identity) {
    identity["format_version"] = Manifest::format_version;
    identity["name"] = name;
    return fmt::format("{}-{}", as_folder_name(name), short_digest(identity, 10));
}

/// Where builds before 2026-11-29 put it: by path, size and time of its files.
std::string folder_by_time(const Source& s, const ImportSetting& i, const ImportRecord& record) {
    json files = json::array();
    for (const ImportRecord::File& f : record.files) files.push_back({f.path, f.bytes, f.modified_ns});
    json identity = {{"format", s.format}, {"options", i.options}, {"files", files}, {"importers", 1}};
    if (!i.version.empty()) identity["importer"] = i.version;
    return folder_of(i.name, std::move(identity));
}

std::string folder_by_content(const ImportSetting& i, const ImportRecord& record) {
    json files = json::array();
    for (const ImportRecord::File& f : record.files) files.push_back({f.bytes, f.digest});
    return folder_of(i.name, {{"how", record.how}, {"files", files}});
}

struct NamedStore {
    fs::path path;
    Manifest manifest;
};

/// The stores of this name whose folders begin with it.
std::vector<NamedStore> stores_named(const Catalog& catalog, const std::string& name) {
    std::vector<NamedStore> found;
    for (const auto& entry : catalog.list(as_folder_name(name) + "-"))
        if (entry.problem.empty() && entry.manifest.name == name)
            found.push_back({catalog.folder() / entry.folder, entry.manifest});
    return found;
}

/// The store that was made of the same bytes in the same way; empty: there is none, and the record has their digests. The
/// bytes are read only where times or paths say that they may be others.
fs::path imported_store(const Catalog& catalog, const std::string& name, ImportRecord& now) {
    const auto stores = stores_named(catalog, name);
    const auto first = [&](auto fits) {
        for (const NamedStore& store : stores)
            if (const auto stored = import_record_from_json(store.manifest.imported); stored && fits(*stored, now))
                return store.path;
        return fs::path();
    };
    if (fs::path store = first(is_untouched); !store.empty()) return store;
    read_contents(now);
    return first(is_same);
}

ResolvedDataset in_store(const std::string& name, const fs::path& store, int split) {
    ResolvedDataset found{.name = name, .digest = {}, .store = store, .split = split};
    if (fs::exists(store / "manifest.json")) found.digest = read_manifest(store / "manifest.json").digest;
    return found;
}

/// `record`: of an import, what it would be made of; empty before the first call.
ResolvedDataset resolve(const Source& s, const Catalog& catalog, ImportRecord& record) {
    if (s.kind == Source::Kind::store) {
        auto folder = catalog.find(s.value);
        auto manifest = read_manifest(folder / "manifest.json");
        return {.name = manifest.name, .digest = manifest.digest, .store = folder, .split = s.split};
    }
    if (s.kind == Source::Kind::generate) {
        const std::string name = s.name.empty() ? generated_name(s.value, s.rest) : s.name;
        return in_store(name, catalog.folder() / folder_of(name, generator_identity(s.value, s.rest)), s.split);
    }
    const ImportSetting i = import_setting(s);
    if (record.files.empty())
        record = import_record(
            short_digest({{"format", i.format}, {"options", i.options}, {"importer", i.version}}, 32),
            import_inputs(s.value, s.format));
    fs::path store = catalog.folder() / folder_by_time(s, i, record);
    if (!fs::exists(store / "manifest.json")) store = imported_store(catalog, i.name, record);
    if (store.empty()) store = catalog.folder() / folder_by_content(i, record);
    return in_store(i.name, store, s.split);
}

/// The store of an older build that holds what `made` holds, but not of which bytes it was made; now it does. Empty: there
/// is none, or it cannot be written.
fs::path adopted(const Catalog& catalog, const std::string& name, const fs::path& made) {
    const Manifest own = read_manifest(made / "manifest.json");
    for (NamedStore& other : stores_named(catalog, name)) {
        if (other.path == made || !other.manifest.imported.is_null() || other.manifest.digest != own.digest ||
            other.manifest.options != own.options)
            continue;
        try {
            other.manifest.imported = own.imported;
            DraftFile draft(other.path / "manifest.json");
            draft.write(to_json(other.manifest).dump(2) + "\n");
            draft.publish();
            return other.path;
        } catch (const EnvironmentError&) {  // NOLINT(bugprone-empty-catch): then both stay
        }
    }
    return {};
}

/// A lock held while a store is created; the kernel releases it when the process ends, however it ends.
class StoreLock {
public:
    StoreLock(const fs::path& store, const std::function<void(const std::string&)>& progress) {
        path_ = store.parent_path() / fmt::format(".{}.lock", store.filename().string());
        // Its holder has removed it: the locked file may no longer exist, and others may hold its successor.
        do {
            if (descriptor_ >= 0) ::close(descriptor_);
            descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
            if (descriptor_ < 0)
                throw EnvironmentError(fmt::format("cannot write {}: {}; name another folder with --data-dir",
                                                   path_.string(), std::strerror(errno)));
            if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) continue;
            if (progress)
                progress(
                    fmt::format("waiting for another process that is creating {}", store.filename().string()));
            while (::flock(descriptor_, LOCK_EX) != 0)
                if (errno != EINTR)
                    throw EnvironmentError(
                        fmt::format("cannot lock {}: {}", path_.string(), std::strerror(errno)));
        } while (!has_its_name());
    }
    StoreLock(const StoreLock&) = delete;
    StoreLock& operator=(const StoreLock&) = delete;
    ~StoreLock() {
        if (descriptor_ < 0) return;
        ::unlink(path_.c_str());
        ::close(descriptor_);
    }

private:
    bool has_its_name() const {
        struct stat held{}, named{};
        return ::fstat(descriptor_, &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
               held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    }

    fs::path path_;
    int descriptor_ = -1;
};

/// Left-overs of processes that were killed while they created this store; only the lock's holder may call this.
void remove_leftovers(const fs::path& store) {
    std::error_code none;
    auto prefix = fmt::format(".making-{}-", store.filename().string());
    for (const auto& item : fs::directory_iterator(store.parent_path(), none))
        if (item.path().filename().string().starts_with(prefix)) fs::remove_all(item.path(), none);
}

RawDataset make(const Source& s, const MemoryBudget& room) {
    return s.kind == Source::Kind::generate ? generate(s.value, s.rest)
                                            : import_file(s.value, s.format, s.rest, room);
}

}  // namespace

namespace {

/// There is no store, and nothing to make.
ResolvedDataset resolve_expected(const json& source) {
    ExpectedDataset d = expected_dataset(source);
    return {.name = std::move(d.name), .digest = std::move(d.digest), .store = {}, .split = 0};
}

}  // namespace

ResolvedDataset resolve_dataset(const json& source, const Catalog& catalog) {
    if (is_expected(source)) return resolve_expected(source);
    ImportRecord record;
    return resolve(split_mapping(source), catalog, record);
}

ResolvedDataset ensure_dataset(const json& source, const Catalog& catalog,
                               const std::function<void(const std::string&)>& progress,
                               std::optional<std::uint64_t> memory_bytes) {
    if (is_expected(source)) return resolve_expected(source);
    auto s = split_mapping(source);
    ImportRecord record;
    auto found = resolve(s, catalog, record);
    found.was_there = !found.digest.empty();
    if (!found.was_there) {
        if (progress && !fs::exists(catalog.folder()))
            progress(fmt::format("creating the folder {} for datasets", catalog.folder().string()));
        make_folder(catalog.folder());
        StoreLock lock(found.store, progress);
        found = resolve(s, catalog, record);
        if (found.digest.empty()) {
            remove_leftovers(found.store);
            if (progress)
                progress(fmt::format("{} dataset {}",
                                     s.kind == Source::Kind::generate ? "generating" : "importing", found.name));
            MemoryBudget room{.folder = catalog.folder(), .progress = progress};
            if (memory_bytes) room.memory_bytes = *memory_bytes;
            auto data = make(s, room);
            data.name = found.name;
            if (s.kind == Source::Kind::path) data.imported = to_json(record);
            found.digest = write_store(found.store, data).digest;
            if (const fs::path before = adopted(catalog, found.name, found.store); !before.empty()) {
                std::error_code none;
                fs::remove_all(found.store, none);
                found.store = before;
                found.was_there = true;
            } else {
                remember_written(found.store);
            }
        }
    }
    const auto splits = open_checked(found.store, progress).manifest().splits;
    if (found.split >= splits)
        throw SpecError(fmt::format("dataset {} has splits 0 to {}; split {} was asked for", found.name,
                                    splits - 1, found.split));
    return found;
}

}  // namespace gnnbench
