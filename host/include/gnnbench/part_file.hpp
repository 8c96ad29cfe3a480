#pragma once
#include <filesystem>
#include <string>

#include <gnnbench/partition.hpp>

/// Partitions in files, as other programs write them.

namespace gnnbench {

/// Whole numbers, separated by blanks and line ends, one for each vertex: its part, counted from `first`. So write
/// METIS and hMETIS (one a line) and PaToH (several). Throws DataError, with file and line, where there are more or
/// fewer numbers than vertices, or a part that was not asked for.
Partition read_part_file(const std::filesystem::path& file, Part parts, std::int64_t vertices, Part first = 0);

/// One number for each part, its vertices, which are consecutive in the dataset's order, as Graph-VB's permuted graphs
/// have them. Throws DataError where there are not `parts` of them, or their sum is not that of the graph's vertices.
Partition read_size_file(const std::filesystem::path& file, Part parts, std::int64_t vertices);

/// XXH3 of a file's bytes, 16 hex digits; "unreadable" where it cannot be read.
std::string file_digest(const std::filesystem::path& file);

}  // namespace gnnbench
