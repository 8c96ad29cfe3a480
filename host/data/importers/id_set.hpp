#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace gnnbench {

/// The ids that a file uses, numbered in ascending order, in bounded memory: a set of bits, 1.5 for each id up to the largest,
/// or, where that would be too large, a sorted list of 8 bytes for each id that occurs.
class IdSet {
public:
    /// `most_bytes`: of either; making it larger takes as much again for a time.
    explicit IdSet(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
    /// Ids from 0 on. False where there are too many of them for the memory; what is in the set then is not defined.
    bool insert(std::span<const std::int64_t> ids);
    /// After the last insertion, and before what follows; false as above.
    bool count();
    std::int64_t size() const { return size_; }
    /// Number of smaller ids in the set; `id` itself must be in it.
    std::int64_t rank(std::int64_t id) const;
    std::uint64_t bytes() const;

private:
    void insert_bits(std::span<const std::int64_t> ids);
    void list_bits();
    bool insert_pending();

    std::uint64_t most_bytes_;
    bool listed_ = false;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> before_;         ///< members in earlier words
    std::vector<std::int64_t> list_, pending_;  ///< the members, sorted, but for those that were inserted last
    std::int64_t size_ = 0;
};

}  // namespace gnnbench
