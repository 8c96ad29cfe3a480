#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "run/prepare.hpp"

namespace gnnbench {

/// What `gnnbench tune` predicts: an experiment's graph, model and training under many schemes and partitioners, on
/// simulated ranks.
struct TuningRequest {
    ExperimentChoice experiment;
    std::string machine;  ///< one that ships, or a machine file relative to the current folder
    int gpus = 1;
    /// Names; empty: those of the experiment, and all that train exactly and on the whole graph.
    std::vector<std::string> schemes = {};
    std::vector<std::string> partitioners = {};  ///< names; empty: those of the experiment, random and metis
};

/// A cell that cannot be predicted.
struct NotPredicted {
    std::string scheme, partitioner, reason;
};

/// The experiment with the candidates in place of its schemes, partitioners, kernel and numbers of GPUs: each scheme in
/// each of its arrangements, one trial of one epoch after warm-up, since simulated epochs do not differ. Its name ends
/// in "-tune". Partitioners that start a program which is not allowed are added to `left_out` instead: predicting starts
/// nothing of its own accord. Throws SpecError for what there is not, ExperimentError for errors in the file.
ExperimentChoice tuned_experiment(const TuningRequest& request, const Catalog& catalog,
                                  const PluginSource& plugins, std::vector<NotPredicted>& left_out);

/// Candidates of an experiment from tuned_experiment that cannot be predicted, with the reasons.
std::vector<NotPredicted> not_predicted(const ExperimentChoice& tuned, const RunPlaces& places,
                                        const PluginSource& plugins);

}  // namespace gnnbench
