#pragma once
#include <optional>
#include <vector>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// Whether a cell's fields have the values that the conditions allow.
bool fits(const ComparisonCell& cell, const Conditions& where);

/// Numbers of the measured cells that satisfy some conditions.
class CellNumbers {
public:
    CellNumbers(const MeasuredCells& measured, const ReadMetric& read) : measured_(measured), read_(read) {}

    /// The measure's metric of the matching cells, before any comparison. Records in `place` which they are, the
    /// remarks on them, and how they ended if there is no number.
    std::optional<Estimate> of(ResolvedCell& place, const Measure& measure, const Conditions& where) const;

    /// The numbers of devices of the matching cells with a number, ascending.
    std::vector<int> gpus(const Conditions& where) const;

private:
    std::optional<Estimate> of_cell(const ComparisonCell& cell, const Measure& measure) const;

    const MeasuredCells& measured_;
    const ReadMetric& read_;
};

}  // namespace gnnbench
