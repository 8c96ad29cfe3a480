#include "memory.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/mman.h>

#include <gnnbench/error.hpp>

namespace gnnbench::cpu {
namespace {
constexpr std::size_t line_bytes = 64, huge_page_bytes = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
}  // namespace

void* allocate_host(std::size_t bytes) noexcept {
    const bool huge = bytes >= 2 * huge_page_bytes;
    const std::size_t alignment = huge ? huge_page_bytes : line_bytes;
    void* data = std::aligned_alloc(alignment, rounded_up(bytes, huge ? huge_page_bytes : line_bytes));
    if (data && huge) madvise(data, rounded_up(bytes, huge_page_bytes), MADV_HUGEPAGE);
    return data;
}

void free_host(void* data) noexcept { std::free(data); }

std::int64_t free_host_bytes() {
    std::ifstream in("/proc/meminfo");
    for (std::string word; in >> word;) {
        if (word == "MemAvailable:") {
            std::int64_t kibibytes = 0;
            in >> kibibytes;
            return kibibytes * 1024;
        }
    }
    return -1;
}

void* allocate_host_or_throw(std::size_t bytes) {
    void* data = allocate_host(bytes);
    if (!data)
        throw OutOfMemory("the cpu kernel could not allocate " + std::to_string(bytes) + " bytes of its own; " +
                          std::to_string(free_host_bytes()) + " are free");
    return data;
}

}  // namespace gnnbench::cpu
