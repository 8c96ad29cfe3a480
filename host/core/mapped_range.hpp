#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sys/mman.h>

namespace gnnbench {

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// A file mapped for reading and writing, shared, at an address where huge pages may start; empty if refused.
class MappedRange {
public:
    MappedRange() = default;
    MappedRange(int file, std::size_t bytes) {
        // A reservation with room to align in; the file then replaces the aligned part of it.
        void* const reserved =
            mmap(nullptr, bytes + huge_page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED) return;
        auto* const first = static_cast<std::byte*>(reserved);
        const std::size_t skipped =
            (huge_page_bytes - reinterpret_cast<std::uintptr_t>(first) % huge_page_bytes) % huge_page_bytes;
        if (skipped > 0) munmap(first, skipped);
        if (skipped < huge_page_bytes) munmap(first + skipped + bytes, huge_page_bytes - skipped);
        if (mmap(first + skipped, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
                 0) == MAP_FAILED) {
            munmap(first + skipped, bytes);
            return;
        }
        base_ = first + skipped;
        bytes_ = bytes;
    }
    MappedRange(MappedRange&& o) noexcept : base_(std::exchange(o.base_, nullptr)), bytes_(o.bytes_) {}
    MappedRange& operator=(MappedRange&&) = delete;
    ~MappedRange() {
        if (base_) munmap(base_, bytes_);
    }
    std::byte* base() const { return base_; }

private:
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace gnnbench
