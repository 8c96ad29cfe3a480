#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "spec/findings.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

/// Places of one table, in the order of its named rows, then columns.
struct ClaimPlaces {
    std::string table;  ///< a definition's stem, in the folder of the claims: "table-3"
    std::vector<std::string> rows, columns;
    Place place;  ///< where it is written
};

/// The settings on which a claim may be judged.
enum class ClaimSetting {
    paper,      ///< measured in the paper's own setting (see is_papers_setting)
    scaled,     ///< measured in another: smaller graphs, narrower layers, another device
    simulated,  ///< predicted for the paper's machine, at the paper's size
};

/// One claim of a paper: what it says, and the relation between numbers of its tables that has to hold.
struct PaperClaim {
    std::string id, at, says;
    std::map<std::string, ClaimPlaces> numbers;  ///< by the names that relations and `value` use

    std::string value;  ///< an SQL expression over names of numbers, evaluated for each of their places in turn
    OverCells over = OverCells::only;  ///< how values of several places become one; only: each is compared
    std::optional<double> is;          ///< the value that is claimed
    std::optional<double>
        factor;  ///< likewise of a ratio: on the other side of 1 it is not off by a factor but wrong
    std::optional<double> at_least, at_most;
    double within = 0.1;             ///< by how much of it a claimed value may be missed
    std::string matches;             ///< numbers that are those which the paper gives for their places
    std::vector<std::string> order;  ///< numbers from the lowest to the highest
    std::string rises, falls, runs, out_of_memory;  ///< numbers of which this holds, from place to place

    std::vector<ClaimSetting> settings{ClaimSetting::paper, ClaimSetting::simulated};
    std::vector<std::string>
        unstated;             ///< fields of the setting that the paper leaves open: any value of ours is taken
    std::string caution;      ///< what readers of the verdict must know
    std::string contradicts;  ///< how the paper contradicts itself here; its tables are judged
    std::string missing;      ///< why it cannot be judged; empty where it has a relation
    Place place;

    bool judged() const { return missing.empty(); }
    /// The names of numbers that `value` uses.
    std::vector<std::string> names_in_value() const;
};

/// A paper's claims, from a file claims.yaml beside its tables.
struct ClaimsFile {
    std::string name;  ///< the folder's: "mg-gcn"
    std::string paper, source;
    std::filesystem::path file;
    std::vector<PaperClaim> claims;
    std::map<std::string, TableDefinition> tables;  ///< those that claims name
};

/// Reads the claims and the tables that they name. Throws ExperimentError with everything that is wrong in the claims,
/// a table's own errors first; SpecError if there is no such file.
ClaimsFile load_claims_file(const std::filesystem::path& file);

/// Whether a YAML text is a file of claims rather than an experiment: it has `claims`.
bool is_claims_file(const std::string& text);

/// schemas/claims.schema.json, and the keys as Markdown for docs/claims.md.
nlohmann::ordered_json claims_schema();
std::string claims_reference_page();

}  // namespace gnnbench
