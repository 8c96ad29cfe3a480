#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/cell_filter.hpp"
#include "spec/cell.hpp"

namespace gnnbench {

/// Chooses from many cells by a few expressions (see CellFilter); of each cell only what the expressions may name is
/// laid out, for a plan may have ten thousand.
class CellChoice {
public:
    /// `cells` must outlive this.
    CellChoice(std::span<const Cell> cells, std::span<const std::string> expressions);
    /// For each cell whether one of the expressions holds. Throws SpecError as CellFilter does.
    std::vector<bool> where(const std::string& expression) const;
    /// "gpus is 1, 2; scheme is 'serial', 'mg-gcn'": of the fields that an expression names, the values that the
    /// cells have.
    std::string values_of_fields(const std::string& expression) const;

private:
    std::span<const Cell> cells_;
    CellFilter filter_;
    mutable std::optional<CellFilter> all_fields_;  ///< made at the first expression that fails
};

}  // namespace gnnbench
