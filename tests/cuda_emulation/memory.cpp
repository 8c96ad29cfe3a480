// Memory of the emulated device, and of the host where it is page-locked. Device memory cannot be touched outside of a
// stream's work; page-locked memory not while a stream may still write it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <sanitizer/asan_interface.h>  // whose macros do nothing where the emulator is compiled without AddressSanitizer

#include "emulated.hpp"
#include "observed.hpp"

namespace emulated {
namespace {

/// Address space of the device, for indices beyond 32 bits; pages come when they are touched.
constexpr std::size_t arena_bytes = std::size_t{1} << 34, page = 4096;
static_assert(arena_bytes == memory_margin);

struct Arena {
    char* base = nullptr;
    std::size_t used_to = 0;                    ///< no block lies beyond
    std::map<std::size_t, std::size_t> blocks;  ///< offset → bytes, whole pages
    std::map<std::size_t, std::size_t> asked;   ///< offset → bytes that were asked for, or that a pool lends
    std::size_t* ends =
        nullptr;  ///< by page: where the block that covers it ends, as asked for; 0: none, or a pool has it
    std::size_t taken = 0;  ///< bytes of all blocks
    int open = 0;
    bool closed = true;
    int closings = 0;

    void protect(std::size_t at, std::size_t bytes, int how) const {
        if (bytes > 0 && mprotect(base + at, bytes, how) != 0) std::abort();
    }
} arena;

/// One block and the page behind it: what opening costs grows with the pages that are opened.
struct OpenBlock {
    explicit OpenBlock(std::size_t offset) : at(offset), bytes(arena.blocks.at(offset) + page) {
        arena.protect(at, bytes, PROT_READ | PROT_WRITE);
    }
    ~OpenBlock() {
        if (arena.closed) arena.protect(at, bytes, PROT_NONE);
    }
    std::size_t at, bytes;
};

/// How much device memory there is; a test may make it scarce.
std::size_t device_bytes() {
    const char* asked = std::getenv("GNNBENCH_EMULATED_BYTES");
    return asked ? std::strtoull(asked, nullptr, 10) : std::size_t{1} << 31;
}

constexpr char guard = 0x5a;
/// As far as small tests look: pages that are never touched cost nothing to open and close.
constexpr std::size_t looked_at = std::size_t{1} << 16;

/// Behind `bytes` of a block: its rest and the page after it, as far as small tests look.
std::size_t guarded(std::size_t at, std::size_t bytes) {
    return std::min(arena.blocks.at(at) + page - bytes, looked_at);
}

/// Ends the process where something wrote behind a block. It reads what AddressSanitizer lets nobody read.
[[gnu::no_sanitize_address]] void check_guard(std::size_t at) {
    const OpenBlock open(at);
    const std::size_t bytes = arena.asked.at(at);
    const char *p = arena.base + at + bytes, *end = p + guarded(at, bytes);
    for (; p < end; ++p)
        if (*p != guard) broken("something wrote behind a block of %zu bytes", bytes);
}

std::size_t end_of_last_block() {
    if (arena.blocks.empty()) return 0;
    const auto& [at, bytes] = *arena.blocks.rbegin();
    return at + bytes + page;
}

void cover(std::size_t at, std::size_t bytes, std::size_t end) {
    std::fill_n(arena.ends + at / page, bytes / page, end);
}

/// `bytes` of a block may be accessed from now on, of which nothing may be read before it is written. What lies behind them
/// is guarded.
void begin_block_of(std::size_t at, std::size_t bytes) {
    const std::size_t whole = arena.blocks.at(at), seen = std::min(bytes, looked_at);
    char* const first = arena.base + at;
    const OpenBlock open(at);
    ASAN_UNPOISON_MEMORY_REGION(first, whole + page);
    arena.asked[at] = bytes;
    cover(at, whole, at + bytes);
    std::memset(first, 0xff, seen);  // NaN
    memory_begins(first, seen);
    std::memset(first + bytes, guard, guarded(at, bytes));
    ASAN_POISON_MEMORY_REGION(first + bytes, whole + page - bytes);
}

/// Nothing of a block may be accessed any more; the host must know that all work on it has ended.
void end_block_of(std::size_t at) {
    const std::size_t whole = arena.blocks.at(at);
    memory_ends(arena.base + at, whole);
    check_guard(at);
    cover(at, whole, 0);
    ASAN_POISON_MEMORY_REGION(arena.base + at, whole + page);
}

std::size_t offset_of(const void* block) {
    const auto at = static_cast<std::size_t>(static_cast<const char*>(block) - arena.base);
    if (!arena.blocks.contains(at)) broken("%p is no block of device memory", block);
    return at;
}

/// A block of page-locked host memory, and what still writes it.
struct PageLocked {
    std::size_t bytes;
    std::vector<Number> writers = {};
    int open = 0;
};
std::map<char*, PageLocked> page_locked;

/// Host memory that a stream may still read, and what it was.
struct Kept {
    const char* at;
    std::vector<char> before;
    Number reader;
    bool changed() const { return std::memcmp(at, before.data(), before.size()) != 0; }
};
std::vector<Kept> kept;

std::pair<char* const, PageLocked>* page_locked_block(void* at) {
    auto after = page_locked.upper_bound(static_cast<char*>(at));
    if (after == page_locked.begin()) return nullptr;
    const auto block = std::prev(after);
    return static_cast<char*>(at) < block->first + block->second.bytes ? &*block : nullptr;
}

void protect(const std::pair<char* const, PageLocked>& block) {
    const bool closed = !block.second.writers.empty() && block.second.open == 0;
    if (mprotect(block.first, block.second.bytes, closed ? PROT_NONE : PROT_READ | PROT_WRITE) != 0) std::abort();
}

std::size_t whole_pages(std::size_t bytes) { return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page; }

}  // namespace

Open::Open() {
    ++arena.open;
    if (std::exchange(arena.closed, false)) arena.protect(0, arena.used_to, PROT_READ | PROT_WRITE);
}
Open::~Open() {
    // Closing takes longer than most work does, so it is left out most times.
    if (--arena.open > 0 || ++arena.closings % 8 != 0) return;
    arena.closed = true;
    arena.protect(0, arena.used_to, PROT_NONE);
}

bool within_block(const void* at, std::size_t bytes) {
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(at) - arena.base);
    return offset + bytes <= arena.ends[offset / page];
}

void host_waits(void* at, Number number) {
    if (auto* block = page_locked_block(at)) {
        block->second.writers.push_back(number);
        protect(*block);
    }
}

void host_keeps(const char* at, std::size_t bytes, Number number) {
    kept.push_back({at, std::vector<char>(at, at + bytes), number});
}

OpenHost::OpenHost(void* at) : at_(at) {
    if (auto* block = page_locked_block(at); block && block->second.open++ == 0) protect(*block);
}
OpenHost::~OpenHost() {
    if (auto* block = page_locked_block(at_); block && --block->second.open == 0) protect(*block);
}

void host_learns(const Clock& clock) {
    join(host_clock(), clock);
    std::erase_if(kept, [](const Kept& k) {
        if (!host_knows(k.reader)) return false;
        if (k.changed()) broken("the source of %s changed before the copy had ended", words(site_of(k.reader)));
        return true;
    });
    for (auto& block : page_locked)
        if (std::erase_if(block.second.writers, host_knows) > 0) protect(block);
}

void lends(void* block, std::size_t bytes) {
    const std::size_t at = offset_of(block);
    if (bytes > arena.blocks.at(at)) broken("a pool lends %zu bytes of a block that has fewer", bytes);
    begin_block_of(at, bytes);
}
void has_back(void* block) {
    run_everything();  // what of it still touches the block is seen now
    end_block_of(offset_of(block));
}

}  // namespace emulated

using namespace emulated;

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *total = device_bytes();
    *free = *total - std::min(*total, arena.taken);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    if (fails("cudaMalloc")) return cudaErrorMemoryAllocation;
    if (!arena.base) {
        void* p = mmap(nullptr, arena_bytes + 2 * memory_margin, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return cudaErrorMemoryAllocation;
        arena.base = static_cast<char*>(p) + memory_margin;
        void* ends = mmap(nullptr, arena_bytes / page * sizeof(std::size_t), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (ends == MAP_FAILED) return cudaErrorMemoryAllocation;
        arena.ends = static_cast<std::size_t*>(ends);
#ifndef __SANITIZE_ADDRESS__  // which sees device code in place of `observed`, so that not all accesses are known
        watch_memory(arena.base, arena_bytes);
        observe_memory(arena.base, arena_bytes);
#endif
    }
    const std::size_t rounded = whole_pages(bytes);
    if (arena.taken + rounded > device_bytes()) return cudaErrorMemoryAllocation;
    std::size_t at = 0;  // the first gap; a page stays free behind every block, so that overruns may be seen
    for (const auto& [offset, size] : arena.blocks) {
        if (offset >= at + rounded + page) break;
        at = offset + size + page;
    }
    if (at + rounded + page > arena_bytes) return cudaErrorMemoryAllocation;
    arena.blocks[at] = rounded;
    arena.taken += rounded;
    arena.used_to = std::max(arena.used_to, at + rounded + page);
    begin_block_of(at, bytes);
    *data = arena.base + at;
    return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
    if (!data) return cudaSuccess;
    const std::size_t at = offset_of(data), bytes = arena.blocks.at(at);
    run_everything();
    end_block_of(at);
    madvise(data, bytes + page, MADV_DONTNEED);
    arena.taken -= bytes;
    arena.blocks.erase(at);
    arena.asked.erase(at);
    if (arena.open == 0) arena.used_to = end_of_last_block();
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
    if (fails("cudaHostAlloc")) return cudaErrorMemoryAllocation;
    *data = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*data == MAP_FAILED) return cudaErrorMemoryAllocation;
    page_locked.emplace(static_cast<char*>(*data), PageLocked{whole_pages(bytes)});
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
    const auto block = page_locked.find(static_cast<char*>(data));
    if (block == page_locked.end()) return cudaErrorInvalidValue;
    if (!block->second.writers.empty())
        broken("page-locked memory is freed before the host knows that %s has ended",
               words(site_of(block->second.writers.front())));
    munmap(data, block->second.bytes);
    page_locked.erase(block);
    return cudaSuccess;
}
