#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "spec/experiment.hpp"
#include "spec/setting.hpp"

namespace gnnbench {

/// The stored trials of a cell, by default on this machine only.
struct Stored {
    std::int64_t ok = 0;      ///< trials
    std::int64_t failed = 0;  ///< failed, oom, timeout, crashed, diverged: rerun only on request
    std::int64_t stale = 0;   ///< measured by another build; also among the others unless they are to run again
    std::int64_t rerun = 0;   ///< whose rerun was requested earlier and has not finished; not among ok and failed
    std::map<TrialStatus, std::int64_t> endings{};  ///< how many of the failed ones ended so
};

enum class Again { missing, failed, all };

/// The queries of a plan. All must be set.
/// What a cell's scheme states of memory, in bytes. 0: unknown.
struct StatedMemory {
    std::int64_t device = 0;     ///< of the rank that holds most on its device
    std::int64_t host_peak = 0;  ///< of the rank whose process holds most on its host, mapped files included
    std::int64_t host_own = 0;   ///< of all ranks' processes, without mapped files, which the system may take back
};

struct PlanSources {
    const PluginSource& plugins;
    /// Empty where the dataset's store does not exist yet.
    std::function<std::optional<DatasetFacts>(const DatasetChoice&)> dataset;
    std::function<Stored(const std::string& cell_digest)> stored;
    /// Starts the program that is this cell's scheme, to ask why it cannot run; empty if it can. Called only where the
    /// rules say so.
    std::function<std::string(const Cell&)> program{};
    /// What the cell's scheme states. Empty: it is not asked.
    std::function<StatedMemory(const Cell&)> stated_memory{};
    /// cell_digest() of each cell, where the caller has them.
    std::span<const std::string> digests{};
};

/// The rules of a plan.
struct PlanRules {
    Again again = Again::missing;
    bool stale = false;                  ///< rerun what another build measured
    bool force = false;                  ///< run also what does not fit in memory
    std::string where{};                 ///< expression over a cell's fields; empty: all cells
    std::int64_t host_memory_bytes = 0;  ///< memory shared by the processes of all ranks; 0: not checked
    int cores_of_a_node = 0;             ///< > 0: that memory is of one node, and a trial gets as many as it needs
    bool on_other_hosts = false;         ///< ranks run on other hosts, which decide whether a kernel is supported
    bool ask_programs = false;           ///< start the programs that are schemes, to ask whether they can run here
};

enum class Verdict {
    run,
    present,  ///< all its trials are there
    failed,   ///< nothing to run, since trials that failed, timed out … are run again only where that is asked for
    skipped
};
const char* to_text(Verdict verdict);

struct PlannedCell {
    std::size_t cell = 0;  ///< index into Experiment::cells
    std::string digest;    ///< cell_digest
    Verdict verdict = Verdict::run;
    std::string reason;       ///< why it is skipped
    std::string asked_there;  ///< why this host does not support its kernel, if other hosts decide
    Stored stored;
    std::int64_t trials = 0;      ///< to run
    bool oversubscribed = false;  ///< more threads than cores
    std::int64_t least_memory_bytes =
        0;                  ///< of the rank that needs most, see footprint.hpp; 0: its dataset does not exist yet
    StatedMemory stated{};  ///< by its scheme, where it was asked
};

struct Plan {
    std::vector<PlannedCell> cells;                              ///< in the experiment's order
    std::int64_t run = 0, present = 0, failed = 0, skipped = 0;  ///< cells of each verdict
    std::int64_t trials = 0;                                     ///< to run
    std::int64_t stale = 0;                                      ///< cells that another build measured
    /// Cells whose dataset does not exist yet: checks that need its size were left out.
    std::int64_t unknown_dataset = 0;
};

/// Whether `gpus` ranks want more threads than `cores` over all hosts.
bool oversubscribed(const Cell& cell, int cores);

/// Whether the cell's kernel says that it computes in host memory; else each rank needs a device of its own.
bool in_host_memory(const Cell& cell, const PluginSource& plugins);

/// Whether the cell's ranks are simulated, in one process whatever their number.
bool simulated(const Cell& cell, const PluginSource& plugins);

/// For each cell whether the expression holds; an empty one always holds. Throws SpecError for an invalid one.
std::vector<bool> chosen_cells(const Experiment& experiment, const std::string& where);

/// Throws SpecError where the expression holds for no cell, with the values there are of the fields that it names.
void require_some_cell(const Experiment& experiment, const std::string& where);

/// Plan for the cells that satisfy the rules' expression. Throws SpecError for an invalid expression.
Plan make_plan(const Experiment& experiment, const PlanSources& sources, const PlanRules& rules, int cores);

}  // namespace gnnbench
