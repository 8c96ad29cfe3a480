#include "memory.hpp"

#include <sys/mman.h>

namespace gnnbench::simulated {

void* reserve_addresses(std::size_t bytes) {
    void* data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return data == MAP_FAILED ? nullptr : data;
}

void give_back_addresses(void* data, std::size_t bytes) noexcept { munmap(data, bytes); }

}  // namespace gnnbench::simulated
