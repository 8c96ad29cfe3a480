// Every load and store of device code: its units are compiled with GCC's -fsanitize=thread, whose calls end here. Within a
// launch, two accesses of two threads are ordered by a barrier of their block or warp alone; between launches, see order.cpp.
#include "observed.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>

#include "emulated.hpp"

// Where shared memory lies, among other variables without a value at first: of this library, by the linker's names.
extern "C" {
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
}

namespace emulated {

Here here;

namespace {

enum class Kind { read, write, atomic };

/// Where in a launch a thread was when it accessed a cell.
struct Access {
    std::uint16_t thread, block_interval, warp_interval;
};

/// What a launch has done to a cell so far, if `written`, `read_by` or another flag of it says so.
struct Trace {
    std::uint32_t write_block = 0, read_block = 0;
    Access write{};
    std::array<Access, 2> reads{};  ///< of the last block that read it; of two threads, if there were two
};

/// A cell's launch, and what it has done: most accesses need to see no more.
using State = std::uint32_t;
constexpr State written = 1, atomic = 2, read_once = 4, read_twice = 8, told_read = 16, told_write = 32;
/// Read by threads that no barrier of this launch orders: whatever is written to it now is a race.
constexpr State read_by_many = 64;
constexpr State flags = 255;
State launch_at_work = 0;

struct Traces {
    const char* base = nullptr;
    std::size_t bytes = 0;
    State* states = nullptr;
    Trace* traces = nullptr;
} device, shared;
std::vector<std::size_t> shared_cells;  ///< which this block has touched

Access now() { return {here.thread, here.block_interval, here.warp_interval}; }

/// Whether an access of this block came before the current one in every order of threads.
bool before(Access a) {
    if (a.thread == here.thread || a.block_interval != here.block_interval) return true;
    return a.thread / 32 == here.thread / 32 && a.warp_interval != here.warp_interval;
}

const char* spelled(Kind kind) {
    return kind == Kind::read ? "reads" : (kind == Kind::write ? "writes" : "atomically changes");
}

[[noreturn]] void race(const char* at, const void* code, const char* earlier, std::uint32_t block, Access a,
                       Kind kind) {
    broken(
        "%s memory at %p: thread %u of block %u %s it, and thread %u of block %u %s it in the same interval, in "
        "%s",
        at >= shared.base && at < shared.base + shared.bytes ? "shared" : "device", static_cast<const void*>(at),
        a.thread, block, earlier, here.thread, here.block, spelled(kind), words({.call = "", .code = code}));
}

void check(const char* at, State state, const Trace& t, Kind kind, const void* code) {
    const bool atomics = (state & atomic) != 0 && kind == Kind::atomic;
    if ((state & written) != 0 && !atomics && (t.write_block != here.block || !before(t.write)))
        race(at, code, (state & atomic) != 0 ? "atomically changed" : "wrote", t.write_block, t.write, kind);
    if (kind == Kind::read || (state & (read_once | read_twice)) == 0) return;
    if (t.read_block != here.block || (state & read_by_many) != 0)
        race(at, code, "read", t.read_block, t.reads[0], kind);
    for (std::size_t i = 0; i < ((state & read_twice) != 0 ? 2 : 1); ++i)
        if (!before(t.reads[i])) race(at, code, "read", t.read_block, t.reads[i], kind);
}

State note_read(State state, Trace& t) {
    if ((state & (read_once | read_twice)) != 0) {
        const bool another = t.reads[0].thread != here.thread && here.without_barriers;
        if (another || t.read_block != here.block) return state | read_by_many;
        // In the place of a read that this one comes after; else of the second, if it is of the same warp as the first.
        const std::size_t count = (state & read_twice) != 0 ? 2 : 1;
        for (std::size_t i = 0; i < count; ++i)
            if (before(t.reads[i])) {
                t.reads[i] = now();
                return state;
            }
        if (count == 1 || t.reads[0].thread / 32 == t.reads[1].thread / 32) t.reads[1] = now();
        return state | read_twice;
    }
    t.read_block = here.block;
    t.reads[0] = now();
    return state | read_once;
}

void access_cell(const Traces& all, std::size_t cell, Kind kind, const void* code) {
    State& state = all.states[cell];
    Trace& t = all.traces[cell];
    const bool is_device = all.base == device.base;
    // Of shared memory every block has its own.
    const bool of_other_block = !is_device && (state & written ? t.write_block : t.read_block) != here.block;
    if ((state & ~flags) != launch_at_work || of_other_block) {
        state = launch_at_work;
        if (!is_device) shared_cells.push_back(cell);
    }
    check(all.base + cell * cell_bytes, state, t, kind, code);
    if (kind == Kind::read) {
        if (is_device && (state & (told_read | told_write)) == 0) reads_cell(cell);
        state = note_read(state, t) | told_read;
        return;
    }
    const bool told = !is_device || (state & told_write) != 0;
    // The last write alone: those before it are ordered before, or atomic as it is.
    state = (state & ~atomic) | written | told_write | (kind == Kind::atomic ? atomic : 0);
    t.write_block = here.block;
    t.write = now();
    if (told) return;
    if (kind == Kind::atomic) reads_cell(cell);
    writes_cell(cell);
}

[[gnu::noinline]] void access(const Traces& all, std::size_t offset, std::size_t bytes, Kind kind,
                              const void* code) {
    for (std::size_t cell = offset / cell_bytes; cell <= (offset + bytes - 1) / cell_bytes; ++cell)
        access_cell(all, cell, kind, code);
}

[[gnu::noinline]] void access_shared(const void* at, std::size_t bytes, Kind kind, const void* code) {
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(at) - shared.base);
    if (offset < shared.bytes) access(shared, offset, bytes, kind, code);  // else a thread's own, or its arguments
}

/// All that is left to know of a cell that many threads read and none writes.
bool nothing_new(std::size_t offset, std::size_t bytes) {
    State all = read_by_many;
    for (std::size_t cell = offset / cell_bytes; cell <= (offset + bytes - 1) / cell_bytes; ++cell) {
        const State differs = device.states[cell] ^ launch_at_work;
        if ((differs & (~flags | written)) != 0) return false;
        all &= differs;
    }
    return all != 0;
}

inline void observe(const void* at, std::size_t bytes, Kind kind, const void* code) {
    if (!here.active) return;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(at) - device.base);
    const bool near = offset + memory_margin < device.bytes + 2 * memory_margin;
    if (!near) return access_shared(at, bytes, kind, code);
    const bool inside = offset < device.bytes;
    if (inside && kind == Kind::read && nothing_new(offset, bytes)) return;
    if (!inside || !within_block(at, bytes))
        broken("a thread %s %zu bytes at %p, which no block of device memory has, in %s", spelled(kind), bytes, at,
               words({.call = "", .code = code}));
    access(device, offset, bytes, kind, code);
}

void aligned(const void* at, std::uintptr_t bytes, const void* code) {
    if (reinterpret_cast<std::uintptr_t>(at) % bytes == 0) return;
    broken("%zu bytes at %p are accessed at once and are not aligned, in %s", static_cast<std::size_t>(bytes), at,
           words({.call = "", .code = code}));
}

template <class T>
T* for_cells(std::size_t bytes) {
    void* at = mmap(nullptr, (bytes / cell_bytes + 1) * sizeof(T), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) broken("no address space for what launches do to memory");
    return static_cast<T*>(at);
}

Traces traces_of(const char* base, std::size_t bytes) {
    return {base, bytes, for_cells<State>(bytes), for_cells<Trace>(bytes)};
}

}  // namespace

void observe_memory(const char* base, std::size_t bytes) {
    device = traces_of(base, bytes);
    shared = traces_of(__bss_start, static_cast<std::size_t>(_end - __bss_start));
}

Order launch_order() {
    static const char* const seed = std::getenv("GNNBENCH_EMULATED_SEED");
    static const std::uint32_t from = seed ? static_cast<std::uint32_t>(std::atoi(seed)) : 0;
    return {(here.launch + from) * 2654435761u >> 16};
}

void begin_launch(bool without_barriers) {
    here.active = true;
    here.without_barriers = without_barriers;
    launch_at_work = ++here.launch << 8;
    if (launch_at_work == 0) broken("more than %u launches", here.launch - 1);
}
void begin_block(std::uint32_t block) {
    here.block = block;
    here.block_interval = 0;
    here.warp_interval = 0;
    for (const std::size_t cell : shared_cells)
        std::memset(const_cast<char*>(shared.base) + cell * cell_bytes, 0xff, cell_bytes);
    shared_cells.clear();
}
void end_launch() { here.active = false; }

void accesses_atomically(const void* at, std::size_t bytes) {
    observe(at, bytes, Kind::atomic, __builtin_return_address(0));
}

}  // namespace emulated

/// The compiler takes the address for aligned, and so would a device.
#define OBSERVED(name, kind, bytes)                                                      \
    void __tsan_##name##bytes(void* at) {                                                \
        emulated::aligned(at, bytes, __builtin_return_address(0));                       \
        emulated::observe(at, bytes, emulated::Kind::kind, __builtin_return_address(0)); \
    }                                                                                    \
    void __tsan_unaligned_##name##bytes(void* at) {                                      \
        emulated::observe(at, bytes, emulated::Kind::kind, __builtin_return_address(0)); \
    }
#define OBSERVED_OF(bytes)      \
    OBSERVED(read, read, bytes) \
    OBSERVED(write, write, bytes)

extern "C" {
OBSERVED_OF(1)
OBSERVED_OF(2)
OBSERVED_OF(4)
OBSERVED_OF(8)
OBSERVED_OF(16)
void __tsan_read_range(void* at, std::size_t bytes) {
    if (bytes > 0) emulated::observe(at, bytes, emulated::Kind::read, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t bytes) {
    if (bytes > 0) emulated::observe(at, bytes, emulated::Kind::write, __builtin_return_address(0));
}
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
