#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "record/query.hpp"

namespace gnnbench {

/// What the `measure` trials of some experiments ran on and with. Columns are named for people.
struct EnvironmentSummary {
    QueryResult machines;  ///< one row for each machine and operating system
    QueryResult builds;    ///< of gnnbench
    QueryResult plugins;   ///< and their versions
    QueryResult datasets;
};
EnvironmentSummary read_environment(const std::filesystem::path& database,
                                    std::span<const std::string> experiments);

}  // namespace gnnbench
