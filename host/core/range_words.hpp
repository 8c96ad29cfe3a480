#pragma once
#include <string>

#include <gnnbench/params.hpp>

namespace gnnbench {

/// The numbers that a parameter allows, after "a number": " between 0 and 1", " of at least 1", "" where any is.
std::string range_words(const ParamDecl& param);

}  // namespace gnnbench
