#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/catalog.hpp"
#include "record/database.hpp"
#include "run/launchers.hpp"
#include "spec/installed.hpp"
#include "spec/plan.hpp"

namespace gnnbench {

/// A cell with what is known about it before anything runs.
struct PreparedCell {
    Cell cell;  ///< its dataset known
    CellRecord record;
    std::string approximation;   ///< what its scheme approximates; empty if it is exact
    bool in_host_memory = true;  ///< its kernel needs no device of its own for each rank
    bool simulated = false;      ///< one process simulates its ranks
    std::string
        varied{};  ///< what distinguishes it from cells of the same labels: "heads 8"; empty if only looked at
};

/// An experiment whose datasets are known.
struct PreparedExperiment {
    Experiment experiment;
    std::vector<PreparedCell> cells;  ///< as experiment.cells
};

/// The arguments of `run`, `plan` and `verify` that select an experiment.
struct ExperimentChoice {
    std::filesystem::path file;
    std::vector<std::string> overrides;
    std::string profile{};
    bool allow_programs = false;  ///< that it names may start without a question, see program_permission.hpp
};

/// Where results and datasets are.
struct RunPlaces {
    std::filesystem::path database;
    std::string data_dir;  ///< see Catalog::at
};

enum class Datasets { make, only_look };
using Notify = std::function<void(const std::string&)>;

/// Reads and checks the file; creates nothing on disk.
/// `hosts_of`: see LoadOptions; shape_of where trials are to run.
Experiment load(const ExperimentChoice& choice, const Catalog& catalog, const PluginSource& plugins,
                const HostsOf& hosts_of = {});

/// Creates (or only looks up) an experiment's datasets.
PreparedExperiment prepare(Experiment experiment, const Catalog& catalog, const PluginSource& plugins,
                           Datasets datasets, const Notify& notify);

/// What would run. `database` may be null, if nothing is stored yet. Trials of other machines do not count.
/// Fills in the rules' limits on memory and hosts.
Plan plan_of(const PreparedExperiment& prepared, const PluginSource& plugins, const Database* database,
             const Site& site, PlanRules rules, std::function<StatedMemory(const Cell&)> stated_memory = {});

/// A cell as results keep it, computed by `code` (see CodeDigests); without its identity and its verification's key
/// where it is only looked at.
CellRecord record_of(const Cell& cell, nlohmann::json code, Datasets datasets = Datasets::make);

/// Which of a cell's trials exist, by number, and which are due.
struct DueTrials {
    std::vector<std::int64_t> due;  ///< numbers, ascending
    Stored stored;
};
/// `code`: what computes the cell now (see CodeDigests).
DueTrials due_trials(const std::vector<TrialState>& states, std::int64_t trials, const PlanRules& rules,
                     const nlohmann::json& code = nlohmann::json::object());

/// Trials of the chosen cells whose rerun was requested earlier and has not finished.
struct UnfinishedRerun {
    std::int64_t trials = 0;
    std::string asked;  ///< when the first was requested; ISO 8601, UTC
};
UnfinishedRerun unfinished_rerun(const PreparedExperiment& prepared, const std::string& where,
                                 const Database& database, const std::string& machine_fingerprint);

/// "mg-gcn metis 4 gpus, quickstart": how messages name a cell.
std::string cell_label(const Cell& cell);
/// The same with what distinguishes it: "mg-gcn metis 4 gpus, heads 8".
std::string cell_label(const PreparedCell& cell);
/// Of its identity, as journals have it.
std::string cell_label(const nlohmann::json& identity);

}  // namespace gnnbench
