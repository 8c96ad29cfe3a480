#pragma once
#include <cstdint>
#include <string>

namespace gnnbench {

/// While it lives, array_elements refuses arrays of more bytes than this on this thread, as beyond what `who` may take.
class MemoryCap {
public:
    MemoryCap(std::uint64_t bytes, std::string who);
    MemoryCap(const MemoryCap&) = delete;
    ~MemoryCap();

    std::uint64_t bytes() const { return bytes_; }
    const std::string& who() const { return who_; }
    /// This thread's cap; null if it has none.
    static const MemoryCap* current();

private:
    std::uint64_t bytes_;
    std::string who_;
    const MemoryCap* before_;
};

}  // namespace gnnbench
