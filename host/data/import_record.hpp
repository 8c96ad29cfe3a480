#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// What a dataset was imported from, and how. The same bytes imported in the same way are the same dataset, wherever their
/// files lie and however old they are.
struct ImportRecord {
    struct File {
        std::string path;  ///< absolute
        std::uint64_t bytes = 0;
        std::int64_t modified_ns = 0;  ///< of the file system's clock
        std::string digest{};          ///< 32 hex digits: XXH3-128 of the content; empty: not read yet
    };
    std::string how;          ///< digest of format, importer and options
    std::vector<File> files;  ///< in the order in which the importer lists them
};

/// Sizes and times of the files; their contents are not read. Throws DataError naming a file that cannot be read.
ImportRecord import_record(std::string how, const std::vector<std::filesystem::path>& files);
/// Reads the contents of files that have no digest yet.
void read_contents(ImportRecord& record);

/// Neither path, size nor time of a file is another: nothing has to be read to know that they are the same.
bool is_untouched(const ImportRecord& stored, const ImportRecord& now);
/// By their contents, which must have been read.
bool is_same(const ImportRecord& stored, const ImportRecord& now);

nlohmann::json to_json(const ImportRecord& record);
/// Empty where there is none: a generated dataset, a store of an older build, or something else under its key.
std::optional<ImportRecord> import_record_from_json(const nlohmann::json& j);

}  // namespace gnnbench
