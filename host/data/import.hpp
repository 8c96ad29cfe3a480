#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/params.hpp>

#include <data/memory_budget.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// "edge-list", "graphsaint", "linqs", "matrix-market", "metis", "npz", "ogb", "planetoid", "reddit", "triples",
/// and those that plugins read.
std::vector<std::string> importer_formats();
/// A format with what help says of it.
struct ImportForm {
    std::string name, summary;
    std::span<const ParamDecl> params;
};
/// All of them but those of plugins that cannot be opened.
std::vector<ImportForm> import_forms();

/// One line: what the format is, and by which names its files are known.
std::string importer_summary(std::string_view format);
/// The options of a format, with their defaults. Throws SpecError on an unknown format.
std::span<const ParamDecl> importer_params(std::string_view format);

/// Version of the format's reader, built in or a plugin's; may be empty. Another may read the same file differently.
std::string importer_version(std::string_view format);

/// The format of a file or folder, from its name; a plugin's, where it recognises it. Throws DataError if the name does not determine it.
std::string detect_format(const std::filesystem::path& path);

/// Reads `path`. `format` empty: from the name. `options` are importer_params(format), others are SpecErrors.
/// Missing arrays are filled with random values and listed in `synthetic`. Malformed input is a DataError naming
/// file and line, what was found and what is allowed; an input that does not fit into the room's memory, and of whose
/// format it can't be sorted on disk, an EnvironmentError.
RawDataset import_file(const std::filesystem::path& path, const std::string& format, const nlohmann::json& options,
                       const MemoryBudget& room = {});

/// The files that import_file would read, the licence beside them included.
std::vector<std::filesystem::path> import_inputs(const std::filesystem::path& path, const std::string& format);

/// The input's name without folders and endings: "amazon0601" of "snap/amazon0601.tsv.zst".
std::string input_name(const std::filesystem::path& path);

}  // namespace gnnbench
