#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <data/file_checksums.hpp>

namespace gnnbench {

/// The description of a store's arrays in its manifest.json.
struct Manifest {
    static constexpr int format_version = 1;

    std::string name;
    std::int64_t vertices = 0;
    std::int64_t edges = 0;  ///< stored entries; an undirected edge is two
    std::int64_t features = 0;
    std::int32_t classes = 0;
    bool multi_label = false;  ///< a vertex may have several labels: a label matrix instead of labels
    std::int32_t splits = 0;
    bool weighted = false;
    bool symmetric_pattern = false;        ///< entry (v, u) is stored wherever (u, v) is
    bool symmetric_weights = false;        ///< … with the same weight
    bool transpose = false;                ///< the transpose is stored too; stores before 2026-11-23 have none
    std::vector<std::int64_t> tiles = {};  ///< down and across; empty: its entries are stored in rows alone
    std::int64_t self_loops = 0;           ///< stored ones
    std::int64_t listed_edges = 0;         ///< lines or entries of the input
    std::int64_t loops_dropped = 0;        ///< listed, not stored
    std::int64_t repeats_merged = 0;       ///< listed again, not stored again
    std::vector<std::string> synthetic;    ///< which of "graph", "features", "labels", "masks" are synthetic
    std::string content;                   ///< 32 hex digits: XXH3-128 of all arrays
    std::string digest;                    ///< of the dataset: dataset_digest
    FileChecksums checksums = {};          ///< of the files' blocks; stores before 2026-11-26 have none
    std::string source;                    ///< where it came from, in words
    std::string licence;                   ///< "unknown" if not given
    nlohmann::json options;                ///< import options or generator parameters, all of them
    nlohmann::json imported = {};          ///< ImportRecord's; null: generated, or a store before 2026-11-29
    nlohmann::json report;  ///< a generator's: wanted beside reached (to_json(ShapeReport)); null: none

    bool operator==(const Manifest&) const = default;
};

/// 32 hex digits: XXH3-128 of the arrays' digest and of all keys that arithmetic or a table reads. What says where the data
/// came from is no part of it, nor is how the store holds it (transpose, tiles, checksums).
std::string dataset_digest(const Manifest& manifest);

nlohmann::json to_json(const Manifest& manifest);
/// Throws DataError naming `file` if a field is missing, of the wrong type or impossible, if the keys are not those of the
/// digest, or the format is newer. Of a store before 2026-11-26, whose digest was the arrays' alone, it computes the digest.
Manifest manifest_from_json(const nlohmann::json& j, const std::string& file);
Manifest read_manifest(const std::filesystem::path& file);

}  // namespace gnnbench
