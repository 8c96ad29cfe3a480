#include "cli/project.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::exists(path, error) && !error;
}

/// A folder of stores, as the catalog lists them; "datasets" alone may be any program's.
bool holds_stores(const fs::path& folder) {
    std::error_code error;
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error))
        if (!it->path().filename().string().starts_with('.') && is_there(it->path() / "manifest.json"))
            return true;
    return false;
}

bool holds_results(const fs::path& folder) {
    return is_there(folder / database_name) || holds_stores(folder / datasets_name);
}

/// `from` and the folders above it that are as much the user's as it is.
std::vector<fs::path> searched(const fs::path& from, const fs::path& home) {
    std::vector<fs::path> all{from};
    struct stat first{};
    if (::stat(from.c_str(), &first) != 0) return all;
    for (fs::path folder = from; folder.has_relative_path();) {
        folder = folder.parent_path();
        struct stat info{};
        const bool ours =
            ::stat(folder.c_str(), &info) == 0 && info.st_uid == first.st_uid && (info.st_mode & S_IWOTH) == 0;
        if (!ours || folder == home || !folder.has_relative_path()) break;
        all.push_back(folder);
    }
    return all;
}

}  // namespace

fs::path project_root(const fs::path& from, const fs::path& home) {
    const std::vector<fs::path> folders = searched(from, home);
    if (const auto found = std::ranges::find_if(folders, holds_results); found != folders.end()) return *found;
    const auto tree = std::ranges::find_if(folders, [](const fs::path& f) { return is_there(f / ".git"); });
    return tree == folders.end() ? from : *tree;
}

fs::path project_root() {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    if (error) return ".";  // it was removed; who uses it says so
    const char* home = std::getenv("HOME");
    return project_root(here, home ? fs::weakly_canonical(home, error) : fs::path());
}

void name_places(const GlobalOptions& options, Progress& progress) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    if (!options.database_given && options.database.parent_path() != here)
        progress.message(fmt::format("results are in {}", options.database.string()));
    if (options.data_dir_given || options.data_dir.empty()) return;  // empty: GNNBENCH_DATA names it
    if (fs::path(options.data_dir).parent_path() != here)
        progress.message(fmt::format("datasets are in {}", options.data_dir));
}

}  // namespace gnnbench
