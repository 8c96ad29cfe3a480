#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "record/statistics.hpp"

namespace gnnbench {

struct ResolvedCell;

/// A mean over draws of one cell, which differ in their seed: what it is without each of them, by the seed.
using WithoutDraw = std::map<std::string, double>;

/// A place's number as a quantity is computed from it.
using ReadNumber = std::function<double(const ResolvedCell&)>;
using OfNumbers = std::function<std::optional<double>(const ReadNumber&)>;

/// Two standard errors of a quantity of numbers over draws, by the jackknife: what it changes by as draws are left out one after
/// another, each from all numbers over the same seeds at once, so that what draws have in common is no doubt. Numbers over
/// other seeds count as independent. Empty where it has no value without some draw.
std::optional<double> two_errors(std::span<const ResolvedCell* const> numbers, const OfNumbers& quantity);

/// The estimate with two standard errors on either side of its value; `without`: what it is without each draw.
Estimate with_errors(Estimate value, const WithoutDraw& without);

}  // namespace gnnbench
