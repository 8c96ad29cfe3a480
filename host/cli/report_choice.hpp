#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace gnnbench {

/// What a report shows.
struct ReportContents {
    std::vector<std::filesystem::path> definitions;  ///< tables, then figures, of one folder after another
    std::vector<std::string> experiments;            ///< that the database has
    std::set<std::filesystem::path> claims;          ///< of folders that are shown as a whole
};

/// Resolves names, files and folders; without any: every experiment of the database, and every table and figure
/// that shows one of them. Throws SpecError for a name that matches nothing.
ReportContents chosen_contents(const std::vector<std::string>& named, const GlobalOptions& options);

}  // namespace gnnbench
