#pragma once
#include <span>
#include <string>
#include <string_view>

namespace gnnbench {

/// Letters inserted, left out, exchanged, or swapped with their neighbour to make one word of the other
/// (optimal string alignment distance).
std::size_t spelling_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`; empty if none is near (more than a third of its letters differ).
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// The end of an error's message: "; did you mean 'gpus'?", or empty where no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace gnnbench
