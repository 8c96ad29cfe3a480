#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/params.hpp>

#include <data/raw_dataset.hpp>

namespace gnnbench {

/// "edge-list", "graphsaint", "linqs", "matrix-market", "metis", "npz", "ogb", "planetoid", "reddit", "triples".
std::vector<std::string> importer_formats();
/// One line: what the format is, and by which names its files are known.
std::string importer_summary(std::string_view format);
/// The options of a format, with their defaults. Throws SpecError on an unknown format.
std::span<const ParamDecl> importer_params(std::string_view format);

/// The format of a file or folder, from its name. Throws DataError if the name does not determine it.
std::string detect_format(const std::filesystem::path& path);

/// Reads `path`. `format` empty: from the name. `options` are importer_params(format), others are SpecErrors.
/// Missing arrays are filled with random values and listed in `synthetic`. Malformed input is a DataError naming
/// file and line, what was found and what is allowed.
RawDataset import_file(const std::filesystem::path& path, const std::string& format,
                       const nlohmann::json& options);

/// The files that import_file would read, the licence beside them included.
std::vector<std::filesystem::path> import_inputs(const std::filesystem::path& path, const std::string& format);

/// The input's name without folders and endings: "amazon0601" of "snap/amazon0601.tsv.zst".
std::string input_name(const std::filesystem::path& path);

}  // namespace gnnbench
