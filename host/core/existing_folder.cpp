#include "core/existing_folder.hpp"

#include <string>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

/// As a shell reads it.
std::string quoted_where_needed(const std::string& path) {
    const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,@%";
    if (path.find_first_not_of(plain) == std::string::npos) return path;
    std::string all = "'";
    for (const char c : path) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return all + "'";
}

}  // namespace

void require_folder_of(const fs::path& path, const char* what) {
    fs::path whole = path;
    if (!whole.has_filename()) whole = whole.parent_path();  // "folder/" is "folder"
    const fs::path folder = whole.parent_path();
    std::error_code ignored;
    if (folder.empty() || fs::exists(folder, ignored) || fs::is_symlink(folder, ignored)) return;
    throw SpecError(fmt::format("{} {}: there is no folder '{}'; to make it: mkdir -p {}", what, path.string(),
                                folder.string(), quoted_where_needed(folder.string())));
}

}  // namespace gnnbench
