#pragma once
#include "report/cell_numbers.hpp"

namespace gnnbench {

/// Fills a place with the number of the matching cells, or with one derived from it and other cells' numbers
/// (speed-up, efficiency, Karp and Flatt's fraction, overtaking, payback).
void fill(ResolvedCell& place, const CellNumbers& numbers, const Conditions& where);

}  // namespace gnnbench
