#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spec/experiment.hpp"
#include "spec/setting.hpp"

namespace gnnbench {

/// What is stored of a cell already, on this machine unless asked otherwise.
struct Stored {
    std::int64_t ok = 0;      ///< trials
    std::int64_t failed = 0;  ///< failed, oom, timeout, crashed, diverged: they stay until asked for again
};

enum class Again { missing, failed, all };

/// What a plan asks of others. All must be set.
struct PlanSources {
    const PluginSource& plugins;
    /// Empty where the dataset's store does not exist yet.
    std::function<std::optional<DatasetFacts>(const DatasetChoice&)> dataset;
    std::function<Stored(const std::string& cell_digest)> stored;
};

enum class Verdict { run, present, skipped };
const char* to_text(Verdict verdict);

struct PlannedCell {
    std::size_t cell = 0;          ///< index into Experiment::cells
    std::string digest;            ///< cell_digest
    Verdict verdict = Verdict::run;
    std::string reason;            ///< why it is skipped
    Stored stored;
    std::int64_t trials = 0;       ///< to run
    bool oversubscribed = false;   ///< more threads than cores
};

struct Plan {
    std::vector<PlannedCell> cells;  ///< in the experiment's order
    std::int64_t run = 0, present = 0, skipped = 0, trials = 0;
    /// Of cells whose dataset does not exist yet: what depends on its size was not judged.
    std::int64_t unknown_dataset = 0;
};

/// Whether `gpus` ranks want more threads than `cores` over all hosts.
bool oversubscribed(const Cell& cell, int cores);

Plan make_plan(const Experiment& experiment, const PlanSources& sources, Again again, int cores);

}  // namespace gnnbench
