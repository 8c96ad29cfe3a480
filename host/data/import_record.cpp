#include <data/import_record.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string digest_of(const fs::path& file) {
    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
    XXH3_128bits_reset(state.get());
    std::ifstream in(file, std::ios::binary);
    std::vector<char> buffer(std::size_t{1} << 20);
    while (in.read(buffer.data(), std::ssize(buffer)) || in.gcount() > 0)
        XXH3_128bits_update(state.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
    if (!in.eof()) throw DataError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
    const XXH128_hash_t h = XXH3_128bits_digest(state.get());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

/// Whether `equal` holds for the files of both, one by one.
template <class Equal>
bool each(const ImportRecord& a, const ImportRecord& b, Equal equal) {
    return a.how == b.how && std::ranges::equal(a.files, b.files, equal);
}

}  // namespace

ImportRecord import_record(std::string how, const std::vector<fs::path>& files) {
    ImportRecord record{.how = std::move(how), .files = {}};
    for (const fs::path& file : files) {
        std::error_code cause;
        const auto bytes = fs::file_size(file, cause);
        if (cause) throw DataError(fmt::format("cannot read {}: {}", file.string(), cause.message()));
        record.files.push_back({.path = fs::weakly_canonical(file).string(),
                                .bytes = bytes,
                                .modified_ns = fs::last_write_time(file).time_since_epoch().count()});
    }
    return record;
}

void read_contents(ImportRecord& record) {
    for (ImportRecord::File& file : record.files)
        if (file.digest.empty()) file.digest = digest_of(file.path);
}

bool is_untouched(const ImportRecord& stored, const ImportRecord& now) {
    return each(stored, now, [](const auto& a, const auto& b) {
        return a.path == b.path && a.bytes == b.bytes && a.modified_ns == b.modified_ns;
    });
}

bool is_same(const ImportRecord& stored, const ImportRecord& now) {
    return each(stored, now, [](const auto& a, const auto& b) {
        return a.bytes == b.bytes && !a.digest.empty() && a.digest == b.digest;
    });
}

json to_json(const ImportRecord& record) {
    json files = json::array();
    for (const ImportRecord::File& f : record.files)
        files.push_back(
            {{"path", f.path}, {"bytes", f.bytes}, {"modified_ns", f.modified_ns}, {"digest", f.digest}});
    return {{"how", record.how}, {"files", std::move(files)}};
}

std::optional<ImportRecord> import_record_from_json(const json& j) try {
    ImportRecord record{.how = j.at("how"), .files = {}};
    for (const json& f : j.at("files"))
        record.files.push_back({.path = f.at("path"),
                                .bytes = f.at("bytes"),
                                .modified_ns = f.at("modified_ns"),
                                .digest = f.at("digest")});
    return record;
} catch (const json::exception&) {
    return std::nullopt;
}

}  // namespace gnnbench
