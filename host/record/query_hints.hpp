#pragma once
#include <filesystem>
#include <string>

namespace gnnbench {

/// Whether a statement averages rows of trials of which some are verifications, and does not look at `purpose`: their
/// few epochs were not measured to be timed. False for a statement that does not work.
bool averages_verifications(const std::filesystem::path& database, const std::string& sql);

}  // namespace gnnbench
