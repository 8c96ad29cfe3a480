#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gnnbench::verify {

/// Indices of few candidates that between them have every pair of values which any candidate has: always the one
/// with the most pairs still missing next, the first of them where several have as many. A candidate is a set of
/// values. Those that `postponed` marks (empty: none) are taken only for pairs that no other candidate has.
std::vector<std::size_t> pairwise_cover(const std::vector<std::vector<std::string>>& candidates,
                                        const std::vector<bool>& postponed = {});

}  // namespace gnnbench::verify
