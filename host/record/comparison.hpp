#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/cell_filter.hpp"
#include "record/scaling_axis.hpp"
#include "record/statistics.hpp"
#include "record/verifications.hpp"

namespace gnnbench {

/// One cell of an experiment, and the results of its trials on one machine.
struct ComparisonCell {
    std::int64_t id = 0;                       ///< row id
    std::string dataset, partitioner, scheme;  ///< as tables show them
    std::string scheme_name;                   ///< without parameters: "mg-gcn"
    int gpus = 1;
    std::vector<std::string> others;  ///< values of ComparisonData::other_keys

    /// Empty: never measured. `ok`: at least one trial is. Else how its newest trial ended.
    std::optional<TrialStatus> status;
    std::string reason;
    /// Trials other than ok: "1 of 3 trials: failed, …"; empty if there are none.
    std::string other_trials;
    struct SpeedUp {
        double value = 1;
        bool over_serial = false;  ///< else over the same scheme on its fewest gpus
        std::string base{};        ///< "serial on 1 gpu", "mg-gcn, metis, on 2 gpus, 4 threads per rank"
        std::int64_t base_cell = 0;
        int base_gpus = 1;
    };
    std::optional<SpeedUp>
        speed_up;  ///< as the view speed_ups defines it; of weak scaling, where it says nothing, none
    std::optional<double>
        efficiency;  ///< where the experiment declares that it scales: 1 is ideal, see scaled_cells
    std::int64_t of_other_builds = 0;  ///< of the ok trials, those that the build which ran last did not measure
    std::optional<Estimate> epoch_s;
    std::optional<double> sent_bytes_per_epoch;  ///< payload, summed over ranks; medians over trials, as below
    std::optional<double> exposed_comm_s, final_loss, peak_memory_bytes, energy_j_per_epoch;
    std::optional<double> test_score;  ///< of score_metric
    std::string score_metric;          ///< "accuracy" or "micro-F1"; empty: nothing was evaluated

    VerificationRecord verification;  ///< status `unverified` where none was tried
    /// Where its scheme is a program: the digest of the program's files, or "no files" of a command without any.
    std::string program;
    std::string simulated;  ///< the machine that its ranks are simulated on; empty: it is measured
    bool oversubscribed = false, aggregated_input = false, sparse_features = false;
    bool volume_differs = false;    ///< counted bytes are not the stated ones, in some trial
    std::string volume_difference;  ///< by how much, then
    std::string synthetic, approximation;

    CellFields fields;                    ///< by which it is chosen: "model.hidden" → "64,64"
    std::vector<std::int64_t> ok_trials;  ///< row ids of the trials that its numbers are of
};

/// How a table names a cell's status: empty if it was never measured, "no epoch" for an `ok` without a time.
std::string status_text(const ComparisonCell& cell);

/// The data of an experiment's comparison table.
struct ComparisonData {
    std::string experiment;
    std::string machine;               ///< "AMD EPYC 9R14, 2 cores", and devices; empty if nothing was measured
    std::int64_t other_machines = 0;   ///< whose trials are not in it
    std::int64_t trials = 0;           ///< that count here, however they ended (see the view counted_trials)
    std::int64_t borrowed = 0;         ///< of those, the ones that other experiments measured
    std::vector<std::string> lenders;  ///< names of these experiments
    std::int64_t awaiting_rerun = 0;   ///< of the trials, those that an unfinished rerun is to replace
    std::int64_t timed = 0;            ///< of the trials, those whose times were measured
    std::int64_t noisy = 0;            ///< of these, the ones that began under a load beyond the machine's cores
    double highest_load = 0;           ///< average over a minute as one of these began
    std::int64_t cores = 0;            ///< of the machine; 0: unknown
    std::string kernels;               ///< "cpu", or "cpu, reference"
    int fewest_threads = 1, most_threads = 1;  ///< per rank
    std::int64_t epochs = 0, warmup = 0;       ///< 0 where cells differ
    ScalingAxis scaling;                       ///< that the experiment declares
    /// Further fields that distinguish cells of one dataset, gpus, partitioner and scheme: "seed", "hidden".
    std::vector<std::string> other_keys;
    std::vector<ComparisonCell> cells;  ///< in the experiment's order
};

/// `machine`: fingerprint; empty: the machine of the experiment's newest trial. `where`: an expression over cells' fields;
/// empty: all cells. Throws SpecError where the database has no such experiment, or no such cell of it.
ComparisonData read_comparison(const std::filesystem::path& database, const std::string& experiment,
                               const std::string& machine = "", const std::string& where = "");

}  // namespace gnnbench
