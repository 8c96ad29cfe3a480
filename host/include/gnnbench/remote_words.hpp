#pragma once
#include <cstdint>
#include <span>

namespace gnnbench {

/// Words in the memory of a group's first rank, which its other ranks reach without its help.
class RemoteWords {
public:
    virtual ~RemoteWords();
    /// Returns what was found; `desired` is stored where that is `expected`.
    virtual std::int64_t compare_and_swap(int word, std::int64_t expected, std::int64_t desired) = 0;
    /// Returns what was found.
    virtual std::int64_t fetch_and_add(int word, std::int64_t addend) = 0;
    virtual void load(int first, std::span<std::int64_t> values) = 0;
    virtual void store(int word, std::int64_t value) = 0;
};

}  // namespace gnnbench
