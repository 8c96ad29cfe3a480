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
#include <data/options.hpp>

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

/// Options and the input files' sizes and modification times: a change of either makes another store.
json import_identity(const Source& s, const json& options) {
    json files = json::array();
    for (const auto& file : import_inputs(s.value, s.format)) {
        std::error_code cause;
        auto size = fs::file_size(file, cause);
        if (cause) throw DataError(fmt::format("cannot read {}: {}", file.string(), cause.message()));
        files.push_back(
            {fs::weakly_canonical(file).string(), size, fs::last_write_time(file).time_since_epoch().count()});
    }
    json identity = {{"format", s.format}, {"options", options}, {"files", files}, {"importers", 1}};
    const std::string version = importer_version(s.format.empty() ? detect_format(s.value) : s.format);
    if (!version.empty()) identity["importer"] = version;
    return identity;
}

/// Name and store folder for a path or generator, with its options checked.
std::pair<std::string, std::string> name_and_folder(const Source& s) {
    std::string name = s.name;
    json identity;
    if (s.kind == Source::Kind::generate) {
        if (name.empty()) name = generated_name(s.value, s.rest);
        identity = generator_identity(s.value, s.rest);
    } else {
        if (!fs::exists(s.value)) throw DataError(fmt::format("dataset: there is no file {}", s.value));
        auto format = s.format.empty() ? detect_format(s.value) : s.format;
        auto declared = importer_params(format);
        auto params = resolve_params(declared, s.rest, fmt::format("options of {} ({})", s.value, format));
        auto other = beyond_defaults(declared, params);
        if (name.empty()) name = input_name(s.value) + (other.empty() ? "" : "-" + short_digest(other, 6));
        identity = import_identity(s, identity_json(declared, params));
    }
    identity["format_version"] = Manifest::format_version;
    identity["name"] = name;
    return {name, fmt::format("{}-{}", as_folder_name(name), short_digest(identity, 10))};
}

ResolvedDataset resolve(const Source& s, const Catalog& catalog) {
    if (s.kind == Source::Kind::store) {
        auto folder = catalog.find(s.value);
        auto manifest = read_manifest(folder / "manifest.json");
        return {.name = manifest.name, .digest = manifest.digest, .store = folder, .split = s.split};
    }
    auto [name, folder] = name_and_folder(s);
    ResolvedDataset found{.name = name, .digest = {}, .store = catalog.folder() / folder, .split = s.split};
    if (fs::exists(found.store / "manifest.json"))
        found.digest = read_manifest(found.store / "manifest.json").digest;
    return found;
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
    return resolve(split_mapping(source), catalog);
}

ResolvedDataset ensure_dataset(const json& source, const Catalog& catalog,
                               const std::function<void(const std::string&)>& progress,
                               std::optional<std::uint64_t> memory_bytes) {
    if (is_expected(source)) return resolve_expected(source);
    auto s = split_mapping(source);
    auto found = resolve(s, catalog);
    if (found.digest.empty()) {
        if (progress && !fs::exists(catalog.folder()))
            progress(fmt::format("creating the folder {} for datasets", catalog.folder().string()));
        make_folder(catalog.folder());
        StoreLock lock(found.store, progress);
        found = resolve(s, catalog);
        if (found.digest.empty()) {
            remove_leftovers(found.store);
            if (progress)
                progress(fmt::format("{} dataset {}",
                                     s.kind == Source::Kind::generate ? "generating" : "importing", found.name));
            MemoryBudget room{.folder = catalog.folder(), .progress = progress};
            if (memory_bytes) room.memory_bytes = *memory_bytes;
            auto data = make(s, room);
            data.name = found.name;
            found.digest = write_store(found.store, data).digest;
            remember_written(found.store);
        }
    }
    const auto splits = open_checked(found.store, progress).manifest().splits;
    if (found.split >= splits)
        throw SpecError(fmt::format("dataset {} has splits 0 to {}; split {} was asked for", found.name,
                                    splits - 1, found.split));
    return found;
}

}  // namespace gnnbench
