#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace gnnbench {

/// What a report shows.
struct ReportContents {
    std::vector<std::filesystem::path> definitions;  ///< tables, then figures, of one folder after another
    std::vector<std::string> experiments;            ///< that the database has
};

/// What names, files and folders mean; nothing named: every experiment of the database, and every table and figure
/// that shows one of them. Throws SpecError where one means nothing.
ReportContents chosen_contents(const std::vector<std::string>& named, const GlobalOptions& options);

}  // namespace gnnbench
