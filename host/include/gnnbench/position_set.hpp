#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include <gnnbench/usize.hpp>

namespace gnnbench {

/// A set of positions {0 … n−1} that tells how many of its members are smaller: 1.5 bits for each position.
class PositionSet {
public:
    explicit PositionSet(std::int64_t n) : words_(usize((n + 63) / 64)) {}

    /// From any number of threads.
    void insert(std::int64_t position) {
        std::atomic_ref<std::uint64_t> word(words_[usize(position >> 6)]);
        const std::uint64_t bit = std::uint64_t{1} << (position & 63);
        if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
    }

    /// After the last insertion, and before what follows.
    void count() {
        before_.assign(1, 0);
        before_.reserve(words_.size() + 1);
        for (const std::uint64_t word : words_)
            before_.push_back(before_.back() + static_cast<std::uint32_t>(std::popcount(word)));
    }
    std::int64_t size() const { return before_.back(); }
    /// Members below `position`.
    std::int64_t rank(std::int64_t position) const {
        const auto at = usize(position >> 6);
        if (at == words_.size()) return size();
        const std::uint64_t below = words_[at] & ((std::uint64_t{1} << (position & 63)) - 1);
        return before_[at] + std::popcount(below);
    }
    /// Members in [begin, end), less `begin`, ascending.
    std::vector<std::int32_t> members(std::int64_t begin, std::int64_t end) const {
        std::vector<std::int32_t> found;
        found.reserve(usize(rank(end) - rank(begin)));
        for (std::int64_t first = begin >> 6 << 6; first < end; first += 64)
            for (std::uint64_t word = words_[usize(first >> 6)]; word != 0; word &= word - 1) {
                const std::int64_t position = first + std::countr_zero(word);
                if (position >= begin && position < end)
                    found.push_back(static_cast<std::int32_t>(position - begin));
            }
        return found;
    }

private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> before_;  ///< members in earlier words
};

}  // namespace gnnbench
