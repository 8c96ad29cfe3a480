#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/matrix.hpp>

#include "timing.hpp"

namespace gnnbench::bench {

/// A graph that SpMM is measured on.
struct Case {
    std::string name, what;
    double goal;  ///< geometric mean over widths of the plain loop's time ÷ ours
    Csr (*make)(const Options&);
    /// By vertex; empty where the order is local already.
    std::vector<std::int32_t> (*communities)(const Options&);
};
std::span<const Case> cases();

}  // namespace gnnbench::bench
