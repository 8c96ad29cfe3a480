#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/status.hpp"

namespace gnnbench {

/// A trial and its provenance.
struct TrialOrigin {
    std::int64_t id = 0, number = 0;
    std::string uuid;
    TrialStatus status = TrialStatus::running;
    std::string reason, log_tail, started;
    std::string machine;                      ///< fingerprint
    std::string version, commit;              ///< of the build; commit is empty where it was none
    std::optional<double> epoch_s, energy_j;  ///< the energy of an epoch, mean
    bool traced = false;
};

/// A cell of an experiment with the `measure` trials that count: of those with one number on one machine the newest
/// conclusive one, else the newest.
struct CellOrigin {
    std::string digest, dataset, dataset_digest, scheme, partitioner, kernel;
    std::int64_t gpus = 1, threads_per_rank = 1;
    std::string slowdown;  ///< "none" without
    std::string where;     ///< expression that selects it among the experiment's cells, see cell_expressions
    std::vector<TrialOrigin> trials;  ///< the oldest first
};

/// The arguments of `gnnbench run` that run an experiment again.
struct RunCommand {
    std::string file, profile;
    std::vector<std::string> overrides;
    bool recorded = false;  ///< false: an older gnnbench ran it, and the file is a guess
};

struct ExperimentOrigin {
    std::string name;
    std::string spec;  ///< the file's text when it last ran
    std::string first_seen;
    RunCommand command;             ///< of its newest trial
    std::vector<CellOrigin> cells;  ///< in the experiment's order
};

/// `where`: an expression over cells' fields, which may fit none; empty: all cells. Throws SpecError where the database has
/// no such experiment.
ExperimentOrigin read_origin(const std::filesystem::path& database, const std::string& experiment,
                             const std::string& where = "");

/// Every experiment of a database, in the order in which they first ran; none if the file does not exist.
std::vector<std::string> recorded_experiments(const std::filesystem::path& database);

}  // namespace gnnbench
