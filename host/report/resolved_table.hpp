#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/measurements.hpp"
#include "report/draws.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

/// One place of a table: our number, the paper's, and the remarks on them. Numbers are in the metric's own
/// unit; `ours` and `published` both empty: neither measured nor published.
struct ResolvedCell {
    const Measure* measure = nullptr;
    Conditions where;         ///< which cells it is of
    bool measurable = false;  ///< else another system's
    std::optional<Estimate> ours;
    WithoutDraw without;  ///< where ours is a mean over draws, or a quotient of such
    std::string word;     ///< "OOM": how it ended, in place of our number
    std::string verdict;  ///< "never": a result that is not a number
    std::vector<std::string> remarks, provenance;
    const Published* given = nullptr;
    std::optional<double> published;
    std::vector<const ComparisonCell*> cells;  ///< behind our number, and its baselines
    std::vector<const ComparisonCell*> own;    ///< of these, the place's own
    std::vector<const ComparisonCell*>
        ended;                    ///< where it has no number: the place's own cells, which ended otherwise
    bool counted = false;         ///< ours is not from a trial: see Counted
    bool incomplete = false;      ///< of the cells that ours combines, some have no number
    bool fitted = false;          ///< constants of the simulated machine were fitted to one of `cells`
    bool papers_setting = false;  ///< ours is of the paper's dataset, model and number of devices
    bool papers_graph = false;    ///< its graph is the paper's, or as large where it is simulated
    std::vector<std::string> unlike_paper;  ///< fields of the setting that are not known to be the paper's

    /// How it shows where there is no number.
    const std::string& placeholder() const { return verdict.empty() ? word : verdict; }
    /// The cells that say which setting the place is of.
    const std::vector<const ComparisonCell*>& setting() const { return own.empty() ? ended : own; }
    bool shows() const { return ours.has_value() || !placeholder().empty(); }
    /// A published number of another kind than the place's own, such as a count of GPUs among times.
    bool other_kind() const;
    std::optional<double> ratio() const;  ///< ours ÷ published, only in the paper's setting
};

/// What would be run for a table without measured numbers.
struct MissingRuns {
    std::vector<std::string> experiments;  ///< names under the profile
    std::vector<std::string> commands;     ///< "gnnbench run experiments/plexus/scaling.yaml --profile small"
};

/// A definition with its numbers. Points into the arguments of resolve().
struct ResolvedTable {
    const TableDefinition* definition = nullptr;
    const MeasuredCells* measured = nullptr;
    std::string profile;
    std::vector<std::vector<ResolvedCell>> cells;  ///< [row][column]
    std::map<std::string, double> vertices;        ///< of the graphs that ours are of
    /// The same places with simulated numbers as `ours`; no rows where the definition has none.
    std::vector<std::vector<ResolvedCell>> simulated;
    const MeasuredCells* simulations = nullptr;
    std::map<std::string, double> simulated_vertices = {};  ///< of the graphs that those are of
    MissingRuns missing_runs = {};                          ///< where nothing is measured

    /// The simulated number of a place; nullptr: the table shows none.
    const ResolvedCell* simulated_at(std::size_t row, std::size_t column) const {
        return simulated.empty() ? nullptr : &simulated[row][column];
    }
};

/// The number of a trial that a measure asks for, before it is set against another.
using ReadMetric = std::function<std::optional<double>(std::int64_t trial, const Measure& measure)>;

ResolvedTable resolve(const TableDefinition& definition, const MeasuredCells& measured, const std::string& profile,
                      const ReadMetric& read, const MeasuredCells* simulations = nullptr);

/// In its shown unit: ÷ this.
double size_of(const Measure& measure);

}  // namespace gnnbench
