#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace gnnbench {

/// Which columns of an edge list are read.
enum class WeightColumn {
    none,     ///< two columns only
    ignored,  ///< further columns are skipped
    third,
};

struct EdgeLineRules {
    WeightColumn weights = WeightColumn::none;
    std::int64_t skip_lines = 0;
    bool keep_lines = false;  ///< the line of each edge
};

/// Edges by the ids of the file.
struct ListedIds {
    std::vector<std::int64_t> source, target;
    std::vector<float> weight;       ///< with WeightColumn::third
    std::vector<std::int64_t> line;  ///< with keep_lines
};

/// The lines "u v" or "u v weight" of a file, compressed or not, on all threads; blank lines and those that begin with #
/// or % are none. Throws DataError that names the first line that is something else.
ListedIds read_edge_lines(const std::filesystem::path& path, const EdgeLineRules& rules);

}  // namespace gnnbench
