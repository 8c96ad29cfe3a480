#pragma once
#include <optional>
#include <vector>

#include "layout.hpp"

namespace gnnbench::cpu {

/// The layout that is fastest on a sample of the rows, at the widths to come; nothing where memory for a trial is short.
/// In one process the first answer for a matrix is kept (that there is none, too), so that its products have the same bits whichever back end
/// prepares it: in float64 too, and in a training that is repeated to be checked. What the rules would choose stays
/// unless another layout is faster by `margin`, so that noise alone rarely changes a choice between two runs.
std::optional<ChosenLayout> by_timing(const Csr& a, const std::vector<std::int64_t>& widths, int threads);
inline constexpr double margin = 0.03;

}  // namespace gnnbench::cpu
