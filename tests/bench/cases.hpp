#pragma once
#include <span>
#include <string>

#include <gnnbench/matrix.hpp>

#include "timing.hpp"

namespace gnnbench::bench {

/// A graph that SpMM is measured on.
struct Case {
    std::string name, what;
    double goal;  ///< geometric mean over widths of the plain loop's time ÷ ours
    Csr (*make)(const Options&);
};
std::span<const Case> cases();

}  // namespace gnnbench::bench
