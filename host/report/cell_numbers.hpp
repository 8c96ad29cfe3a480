#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// Several numbers, not none, as one; of `only`, which is for single numbers, the median.
double combined(OverCells how, const std::vector<double>& values);

/// Numbers of the measured cells that satisfy some conditions.
class CellNumbers {
public:
    /// `definition`: whose expressions may be asked for. Throws SpecError as CellFilter does.
    CellNumbers(const TableDefinition& definition, const MeasuredCells& measured, const ReadMetric& read);

    bool fits(const ComparisonCell& cell, const Conditions& where) const;

    /// The measure's metric of the matching cells, before any comparison. Records in `place` which they are, the
    /// remarks on them, and how they ended if there is no number. `graphs`: of these alone; null: of all.
    std::optional<Estimate> of(ResolvedCell& place, const Measure& measure, const Conditions& where,
                               const std::set<std::string>* graphs = nullptr) const;

    /// The graphs of the matching cells with a number.
    std::set<std::string> graphs(const Measure& measure, const Conditions& where) const;

    /// The numbers of devices of the matching cells with a number, ascending.
    std::vector<int> gpus(const Conditions& where) const;

private:
    std::vector<const ComparisonCell*> fitting(const Conditions& where) const;
    std::optional<Estimate> of_cell(const ComparisonCell& cell, const Measure& measure) const;

    const MeasuredCells& measured_;
    const ReadMetric& read_;
    std::map<std::string, std::set<const ComparisonCell*>> holds_;  ///< of each expression
};

}  // namespace gnnbench
