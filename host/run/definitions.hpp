#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// The definition of a table or figure: a file, or a name such as "plexus/table-5-1", looked for in experiments here
/// and beside the program. Empty if there is none, as for an experiment's name.
std::optional<std::filesystem::path> find_definition(const std::string& given);

/// Where papers' folders are looked for: experiments here, and beside the program.
std::vector<std::filesystem::path> experiment_folders();

/// Whether a file is a list of a paper's claims.
bool holds_claims(const std::filesystem::path& file);

/// Names of all definitions that a name finds, sorted.
std::vector<std::string> definition_names();

/// The experiments at a path: the file itself, or a folder's files that are not definitions, sorted. SpecError for a
/// folder without any.
std::vector<std::filesystem::path> experiments_at(const std::filesystem::path& given);
/// An experiment, or a folder of them, by its path, or by a name such as "mg-gcn/epochs" or "mg-gcn" in those places. What is
/// not there is returned as it is given.
std::string find_experiment(const std::string& given);
/// A folder of definitions and experiments: a path, or a name such as "plexus" of one in those places.
std::optional<std::filesystem::path> find_experiment_folder(const std::string& given);

/// A definition with what the database has for it.
struct LoadedTable {
    TableDefinition definition;
    MeasuredCells measured;
    MeasuredCells simulated;  ///< on the machines that the definition names
    ResolvedTable resolved;   ///< points into all three
    bool has_cells() const { return !measured.cells.empty() || !simulated.cells.empty(); }
};
/// `profile`: empty is the one measured last, or else the first. `where`: an expression over cells' fields; empty: all
/// cells.
std::unique_ptr<LoadedTable> load_table(const std::filesystem::path& file, const std::string& profile,
                                        const std::filesystem::path& database, const std::string& where = "");

/// The same under a profile by its name, of which "" is that of experiments without profiles.
std::unique_ptr<LoadedTable> load_table_as(const std::filesystem::path& file, const std::string& profile,
                                           const std::filesystem::path& database, const std::string& where = "");

/// Throws SpecError where `where` is given and no cell of the table fits it.
void require_cells(const LoadedTable& table, const std::string& where);

}  // namespace gnnbench
