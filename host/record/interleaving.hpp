#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gnnbench {

/// Pairs of one trial of A and one of B that the machine ran by turns: neighbours in the order in which the trials of
/// both sides began, each in one pair at most, and as many pairs as that allows. A trial in a row of more than 3 of its
/// side took no turns, so that sides measured one after the other have no pairs, whatever their trials are called.
/// `a`, `b`: row ids, ascending; rows are inserted as trials begin.
std::vector<std::pair<std::int64_t, std::int64_t>> interleaved_pairs(std::span<const std::int64_t> a,
                                                                     std::span<const std::int64_t> b);

}  // namespace gnnbench
