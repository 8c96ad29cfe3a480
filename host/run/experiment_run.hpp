#pragma once
#include <string>
#include <vector>

#include "run/due.hpp"
#include "run/prepare.hpp"
#include "run/progress.hpp"

namespace gnnbench {

/// What `gnnbench run` is to do with one experiment.
struct RunRequest {
    ExperimentChoice experiment;
    SweepRules rules;
    double timeout_s = 0;       ///< of a trial; 0: as the experiment says
    bool forget_rerun = false;  ///< the trials that an interrupted rerun has not measured again stay as they are
    bool no_follow = false;     ///< with jobs: submit them without following them
    std::string tag{};          ///< for the trials that are measured; empty: none
    bool cancel = false;        ///< with jobs: end those of earlier runs instead of submitting new ones
};

struct RunResult {
    Experiment experiment;
    std::string machine_fingerprint;
    SweepReport report;
    std::vector<std::string> jobs;  ///< the names of those that are followed no longer begin with these
};

/// Runs the missing trials of one experiment: imports what earlier runs left, then plans, then runs trials here or
/// submits them as jobs. Creates nothing on disk if the experiment has errors.
RunResult run_experiment(const RunRequest& request, const RunPlaces& places, Progress& progress);
/// The same of an experiment that is resolved already, whatever file the request names.
RunResult run_resolved(const Experiment& experiment, const RunRequest& request, const RunPlaces& places,
                       Progress& progress);

}  // namespace gnnbench
