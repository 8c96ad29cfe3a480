#include <gnnbench/shared_host_memory.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <random>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/bell.hpp"
#include "core/mapped_range.hpp"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1; the C library's header may be older
#endif

namespace gnnbench {
namespace {

constexpr std::size_t line_bytes = 64, page_bytes = 4096, header_bytes = page_bytes;
constexpr std::size_t returned_from = std::size_t{1} << 20;  ///< freed runs of this size go back to the system

std::size_t rounded_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// As much as the machine has, but all ranks' ranges must fit each rank's 47 bits of addresses.
std::size_t range_bytes(int local_ranks) {
    const auto machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes;
    const std::size_t share = (std::size_t{1} << 45) / static_cast<std::size_t>(std::max(local_ranks, 1));
    return rounded_up(std::min(machine, share), huge_page_bytes);
}

/// Random rows of a matrix in small pages cost a page walk each. Linux gives huge pages to shared memory by request
/// only, for pages that are there: one touched page in each is enough.
void make_huge(std::byte* data, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += huge_page_bytes) *static_cast<volatile std::byte*>(data + at) = {};
    madvise(data, bytes, MADV_COLLAPSE);  // small pages serve as well
}

}  // namespace

std::shared_ptr<SharedHostMemory> SharedHostMemory::make(int local_ranks) {
    const int file = memfd_create("gnnbench", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    std::random_device random;
    const std::size_t bytes = range_bytes(local_ranks);
    const Address address{getpid(), file, bytes, (std::uint64_t{random()} << 32) | random()};
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
        if (auto range = std::make_unique<MappedRange>(file, bytes); range->base())
            return std::shared_ptr<SharedHostMemory>(new SharedHostMemory(std::move(range), address));
    close(file);
    return nullptr;
}

SharedHostMemory::SharedHostMemory(std::unique_ptr<MappedRange> range, Address address)
    : range_(std::move(range)), base_(range_->base()), address_(address) {
    std::memcpy(base_, &address_.token, sizeof address_.token);
    new (base_ + Bell::offset) Bell;
    free_[header_bytes] = address_.bytes - header_bytes;
}

SharedHostMemory::~SharedHostMemory() { close(static_cast<int>(address_.descriptor)); }

void* SharedHostMemory::allocate(std::size_t bytes) noexcept {
    const bool huge = bytes >= 2 * huge_page_bytes;
    const std::size_t alignment = huge ? huge_page_bytes : line_bytes,
                      size = rounded_up(std::max(bytes, line_bytes), alignment);
    for (auto run = free_.begin(); run != free_.end(); ++run) {
        const auto [first, length] = *run;
        const std::size_t at = rounded_up(first, alignment);
        if (at - first + size > length) continue;
        free_.erase(run);
        if (at > first) free_[first] = at - first;
        if (at + size < first + length) free_[at + size] = first + length - at - size;
        used_[at] = size;
        if (huge) make_huge(base_ + at, size);
        return base_ + at;
    }
    return nullptr;
}

void SharedHostMemory::free(void* data) noexcept {
    const auto used = used_.find(static_cast<std::size_t>(static_cast<std::byte*>(data) - base_));
    auto [first, size] = *used;
    used_.erase(used);
    if (size >= returned_from) {
        const std::size_t begin = rounded_up(first, page_bytes), end = (first + size) / page_bytes * page_bytes;
        madvise(base_ + begin, end - begin, MADV_REMOVE);
    }
    auto next = free_.lower_bound(first);
    if (next != free_.end() && first + size == next->first) {
        size += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == first) {
            before->second += size;
            return;
        }
    }
    free_[first] = size;
}

bool SharedHostMemory::holds(const void* data) const noexcept {
    const auto* at = static_cast<const std::byte*>(data);
    return !std::less<>()(at, base_) && std::less<>()(at, base_ + address_.bytes);
}

}  // namespace gnnbench
