#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gnnbench {

/// One operation of a traced epoch, on one stream of one rank. Seconds since that rank's epoch began.
struct TimelineSpan {
    std::int64_t rank = 0;
    bool communicates = false;  ///< the communication stream; else the compute stream
    std::string phase, operation;
    double begin_s = 0, end_s = 0;
    std::int64_t bytes = 0, group_size = 0;
};

/// One traced epoch of a trial.
struct Timeline {
    std::string trial, experiment, dataset, scheme, partitioner, kernel, machine, started;
    std::int64_t ranks = 0, threads_per_rank = 0, epoch = 0;
    bool oversubscribed = false;
    std::string simulated_on = {};    ///< the machine whose time this is; empty: it was measured on `machine`
    double wall_s = 0;                ///< until the last rank ended it
    std::vector<TimelineSpan> spans;  ///< by rank, then by beginning
};

/// An experiment's traced trial, and what it was chosen from.
struct TracedTrial {
    std::string trial;  ///< UUID
    std::string scheme, partitioner, dataset;
    std::string others;  ///< what else distinguishes its cell from the other traced ones: "hidden 64"
    std::int64_t gpus = 0;
    std::int64_t cells = 0;              ///< that have spans
    std::int64_t widest = 0;             ///< of these, those with the most ranks
    std::int64_t trials = 0;             ///< of the cell, that have spans
    std::optional<double> epoch_s = {};  ///< of the trial, if it ended well
};
/// Of the traced cells that `where` chooses the widest, that of the most ranks; of several the fastest; of its trials the one
/// of median time. Trials that did not end well count where there are no others. Throws SpecError where none has spans.
TracedTrial traced_trial(const std::filesystem::path& database, const std::string& experiment,
                         const std::string& where = "");

/// `trial`: its UUID or a unique prefix; `epoch`: by default the last one traced. Throws SpecError if there
/// is no such trial, or if it has no such spans.
Timeline read_timeline(const std::filesystem::path& database, const std::string& trial,
                       std::optional<std::int64_t> epoch);

}  // namespace gnnbench
