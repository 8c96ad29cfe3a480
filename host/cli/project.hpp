#pragma once
#include <filesystem>

namespace gnnbench {

constexpr const char* database_name = "gnnbench.sqlite";
constexpr const char* datasets_name = "datasets";

/// The folder that has the database and the datasets of a command that names none: from `from` upwards the first that holds
/// a database or stores of datasets, else the nearest work tree of git, else `from`. The search goes up while folders have
/// one owner and not everybody can write to them, and ends below `home`: what others put there is not ours.
std::filesystem::path project_root(const std::filesystem::path& from, const std::filesystem::path& home);
/// The same of the current folder and the user's home.
std::filesystem::path project_root();

}  // namespace gnnbench
