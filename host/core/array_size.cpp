#include <gnnbench/array_size.hpp>

#include <utility>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/memory_cap.hpp"

namespace gnnbench {

namespace {
thread_local const MemoryCap* current_cap = nullptr;
}

MemoryCap::MemoryCap(std::uint64_t bytes, std::string who)
    : bytes_(bytes), who_(std::move(who)), before_(current_cap) {
    current_cap = this;
}

MemoryCap::~MemoryCap() { current_cap = before_; }

const MemoryCap* MemoryCap::current() { return current_cap; }

std::uint64_t machine_memory_bytes() {
    static const std::uint64_t bytes =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

std::size_t array_elements(const std::string& where, std::initializer_list<std::int64_t> extents,
                           std::size_t element_bytes) {
    std::int64_t elements = 1, bytes = 0;
    // Zero extents must not hide an overflow of the others: arrays sized by those alone would still be too large.
    bool wraps = false, empty = false;
    for (const std::int64_t extent : extents) {
        if (extent < 0) throw DataError(fmt::format("{}: an extent of {} is invalid", where, extent));
        empty = empty || extent == 0;
        wraps = wraps || __builtin_mul_overflow(elements, extent == 0 ? 1 : extent, &elements);
    }
    if (wraps || __builtin_mul_overflow(elements, static_cast<std::int64_t>(element_bytes), &bytes))
        throw DataError(fmt::format("{}: an array of {} elements is impossible; the file is damaged", where,
                                    fmt::join(extents, " × ")));
    const MemoryCap* const cap = MemoryCap::current();
    const bool capped = cap && cap->bytes() < machine_memory_bytes();
    const std::uint64_t most = capped ? cap->bytes() : machine_memory_bytes();
    if (!empty && static_cast<std::uint64_t>(bytes) > most)
        throw EnvironmentError(
            fmt::format("{}: an array of {} elements needs {:.1f} GiB, {} has {:.1f} GiB", where,
                        fmt::join(extents, " × "), static_cast<double>(bytes) / (1 << 30),
                        capped ? cap->who() : "this machine", static_cast<double>(most) / (1 << 30)));
    return empty ? 0 : usize(elements);
}

}  // namespace gnnbench
