#pragma once
#include <filesystem>
#include <vector>

/// Folders that outlive a killed owner: each has a file whose lock its owner holds, so that others can tell.

namespace gnnbench {

/// Marks a folder as this process's while the returned descriptor is open; −1 on failure.
int own_folder(const std::filesystem::path& folder);

/// Folders in `place` that are called gnnbench-…, belong to this user, and whose owner is dead. One that never had an
/// owner is among them only if it is empty and ten minutes old: it may be the user's, or be being made.
std::vector<std::filesystem::path> abandoned_folders(const std::filesystem::path& place);

/// TMPDIR, or /tmp.
std::filesystem::path temporary_files();

/// Removes every TemporaryFolder whose process was killed.
void remove_left_temporary_folders();

}  // namespace gnnbench
