#pragma once
#include <filesystem>

#include "cli/options.hpp"
#include "run/progress.hpp"

namespace gnnbench {

constexpr const char* database_name = "gnnbench.sqlite";
constexpr const char* datasets_name = "datasets";

/// The folder that has the database and the datasets of a command that names none: from `from` upwards the first that holds
/// a database or stores of datasets, else the nearest work tree of git, else `from`. The search goes up while folders have
/// one owner and not everybody can write to them, and ends below `home`: what others put there is not ours.
std::filesystem::path project_root(const std::filesystem::path& from, const std::filesystem::path& home);
/// The same of the current folder and the user's home.
std::filesystem::path project_root();

/// Says where results and datasets are, if that is not the current folder and no option named it.
void name_places(const GlobalOptions& options, Progress& progress);

}  // namespace gnnbench
