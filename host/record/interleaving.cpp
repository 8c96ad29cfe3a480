#include "record/interleaving.hpp"

#include <algorithm>

namespace gnnbench {

namespace {

/// In blocks of random order a side has at most two trials in a row; a third where the other side's has failed.
constexpr std::size_t longest_row = 3;

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> interleaved_pairs(std::span<const std::int64_t> a,
                                                                     std::span<const std::int64_t> b) {
    struct Turn {
        std::int64_t id;
        bool of_b;
        bool in_turn = true;
    };
    std::vector<Turn> turns;
    for (const std::int64_t id : a) turns.push_back({.id = id, .of_b = false});
    for (const std::int64_t id : b) turns.push_back({.id = id, .of_b = true});
    std::ranges::sort(turns, {}, &Turn::id);
    for (std::size_t first = 0, end = 0; first < turns.size(); first = end) {
        while (end < turns.size() && turns[end].of_b == turns[first].of_b) ++end;
        for (std::size_t i = first; i < end; ++i) turns[i].in_turn = end - first <= longest_row;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    // From the left, each trial with its next neighbour where that is free and of the other side: no choice of
    // neighbours has more pairs.
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
        const Turn first = turns[i], second = turns[i + 1];
        if (first.of_b == second.of_b || !first.in_turn || !second.in_turn) continue;
        pairs.emplace_back(first.of_b ? second.id : first.id, first.of_b ? first.id : second.id);
        ++i;
    }
    return pairs;
}

}  // namespace gnnbench
