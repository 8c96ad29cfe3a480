#pragma once
#include <cstdint>
#include <string>

namespace gnnbench {

class Database;

/// Cells that were measured on a dataset when its digest was `older`, as long as no cell has its `digest` of now.
std::int64_t cells_of_older_digest(const Database& database, const std::string& older, const std::string& digest);

}  // namespace gnnbench
