#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "record/archive.hpp"
#include "run/experiment_run.hpp"

namespace gnnbench {

/// Writes an archive of an experiment's results: its resolved cells, the digests of its data, versions of plugins, the
/// environment that measured it, and its file as it was read. Throws SpecError where it has not been measured.
/// Returns how many cells have a trial that is ok.
std::size_t export_archive(const PreparedExperiment& prepared, const std::filesystem::path& database,
                           const std::filesystem::path& archive);

/// One thing that an archive says, and what is so here.
struct Difference {
    std::string what, archived, here;
    bool same() const { return archived == here; }
};

/// A cell as archived and as measured again.
struct ReplayedCell {
    std::string label, reason;  ///< `reason`: why its results differ; empty: they agree
    CellOutcome archived, here;
    bool judges_loss = true;  ///< an approximate scheme's loss may differ
    bool agrees() const { return reason.empty(); }
};

struct ReplayReport {
    std::string experiment;
    std::vector<Difference> surroundings;  ///< versions, machine, environment
    std::vector<Difference> datasets;      ///< digests
    std::vector<ReplayedCell> cells;
    SweepReport sweep;
    bool agrees() const;  ///< data and results, whatever the surroundings
};

struct ReplayRequest {
    std::filesystem::path archive;
    std::int64_t trials = 0;    ///< of each cell; 0: as archived
    bool only_compare = false;  ///< runs nothing: results here are those that the database has
    bool allow_programs = false;
    LauncherChoice launcher;
};

/// Runs an archive's cells again, and says what differs.
ReplayReport replay_archive(const ReplayRequest& request, const RunPlaces& places, Progress& progress);

}  // namespace gnnbench
