// A block's threads as coroutines: each runs until it meets a barrier, and goes on when all it waits for are
// there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <boost/context/fiber.hpp>
#include <sanitizer/asan_interface.h>

#include "emulated.hpp"
#include "observed.hpp"

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t stack_bytes = 256 << 10;  // red zones lie between variables
/// AddressSanitizer is told of every switch between stacks: before it, which one comes next; after it, on the one that came.
/// `kept`: its own record of a stack that is left, and will be resumed; nullptr: of one that ends.
void switches_to(void** kept, const void* stack, std::size_t bytes) {
    __sanitizer_start_switch_fiber(kept, stack, bytes);
}
void switched(void* kept, const void** from, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(kept, from, bytes);
}
#else
constexpr std::size_t stack_bytes = 64 << 10;
void switches_to(void**, const void*, std::size_t) {}
void switched(void*, const void**, std::size_t*) {}
#endif
constexpr int warp = 32;
/// A shuffle is one of all threads of a warp, as __syncwarp is, but orders no accesses to memory.
enum class At { running, shuffle, warp_barrier, block_barrier, finished };

/// Broken device code has no way to go on: says what is wrong and ends the process.
[[noreturn]] void broken_here(const char* what) {
    broken("%s (block %u, %u; thread %u, %u)", what, blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y);
}

struct Thread {
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
    boost::context::fiber fiber;
    void* kept = nullptr;  ///< see switches_to
    At at = At::finished;
    std::array<char, 16> slot{};  ///< what a shuffle shows to the others
};

/// The block at work; one at a time in a process.
struct Block {
    std::vector<std::unique_ptr<Thread>> threads;
    boost::context::fiber scheduler;  ///< whoever resumed the thread at work
    const void* scheduler_stack = nullptr;
    std::size_t scheduler_stack_bytes = 0;
    const std::function<void()>* body = nullptr;
    int size = 0, current = -1;
    bool met_barrier = false;
    Order order;
    std::array<std::uint16_t, 1024 / warp> warp_intervals{};  ///< how often each warp has met __syncwarp
} block;

/// A thread keeps its stack from block to block.
struct KeptStack {
    void deallocate(boost::context::stack_context&) noexcept {}
};

/// `thread`, at the beginning of the block's body.
void begin(Thread& thread) {
    boost::context::stack_context stack;
    stack.sp = thread.stack.get() + stack_bytes;
    stack.size = stack_bytes;
    // The last function of the thread before never returned, so that its variables' red zones are still there.
    ASAN_UNPOISON_MEMORY_REGION(thread.stack.get() + stack_bytes - 4096, 4096);
    thread.fiber =
        boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                              KeptStack{}, [&thread](boost::context::fiber&& scheduler) {
                                  switched(nullptr, &block.scheduler_stack, &block.scheduler_stack_bytes);
                                  block.scheduler = std::move(scheduler);
                                  (*block.body)();
                                  thread.at = At::finished;
                                  switches_to(nullptr, block.scheduler_stack, block.scheduler_stack_bytes);
                                  return std::move(block.scheduler);
                              });
    thread.at = At::running;
}

void place(int t) {
    const auto i = static_cast<unsigned>(t);
    threadIdx = dim3(i % blockDim.x, i / blockDim.x);
    here.thread = static_cast<std::uint16_t>(t);
    here.warp_interval = block.warp_intervals[i / warp];
}

void resume(int t) {
    place(t);
    block.current = t;
    Thread& thread = *block.threads[static_cast<std::size_t>(t)];
    thread.at = At::running;
    void* kept = nullptr;
    switches_to(&kept, thread.stack.get(), stack_bytes);
    thread.fiber = std::move(thread.fiber).resume();
    switched(kept, nullptr, nullptr);
    block.current = -1;
}

/// Threads [first, end) go on, in the launch's order.
void resume_all(int first, int end) {
    for (int t = first; t < end; ++t) resume(first + block.order.at(t - first, end - first));
}

void stop(At at) {
    block.met_barrier = true;
    if (block.current < 0) broken_here("a kernel that met no barrier in its first launch meets one now");
    Thread& me = *block.threads[static_cast<std::size_t>(block.current)];
    me.at = at;
    switches_to(&me.kept, block.scheduler_stack, block.scheduler_stack_bytes);
    block.scheduler = std::move(block.scheduler).resume();
    switched(me.kept, &block.scheduler_stack, &block.scheduler_stack_bytes);
}

/// Threads [first, end) all stand at `at`; those that ended while others wait are an error.
bool all_at(int first, int end, At at) {
    bool all = true, ended = false;
    for (int t = first; t < end; ++t) {
        const At where = block.threads[static_cast<std::size_t>(t)]->at;
        all = all && where == at;
        ended = ended || where == At::finished;
    }
    if (!all && ended)
        for (int t = first; t < end; ++t)
            if (block.threads[static_cast<std::size_t>(t)]->at == at)
                broken_here("some threads ended, others wait for them");
    return all;
}

void run_as_coroutines() {
    while (static_cast<int>(block.threads.size()) < block.size)
        block.threads.push_back(std::make_unique<Thread>());
    block.warp_intervals = {};
    here.block_interval = 0;
    for (int t = 0; t < block.size; ++t) begin(*block.threads[static_cast<std::size_t>(t)]);
    resume_all(0, block.size);
    for (bool moved = true; moved;) {
        moved = false;
        for (int first = 0; first < block.size; first += warp) {
            const int end = std::min(block.size, first + warp);
            const bool synchronized = all_at(first, end, At::warp_barrier);
            if (!synchronized && !all_at(first, end, At::shuffle)) continue;
            moved = true;
            if (synchronized) ++block.warp_intervals[static_cast<std::size_t>(first / warp)];
            resume_all(first, end);
        }
        if (!moved && block.threads[0]->at != At::finished && all_at(0, block.size, At::block_barrier)) {
            moved = true;
            ++here.block_interval;
            resume_all(0, block.size);
        }
    }
    for (int t = 0; t < block.size; ++t)
        if (block.threads[static_cast<std::size_t>(t)]->at != At::finished)
            broken_here("threads wait at different barriers");
}

}  // namespace

void run_launch(dim3 grid, dim3 shape, const void* backend, const std::function<void()>& body) {
    static std::set<const void*> without_barriers;
    gridDim = grid;
    blockDim = shape;
    block.body = &body;
    block.size = static_cast<int>(shape.x * shape.y);
    const bool plain = without_barriers.contains(backend);
    block.met_barrier = false;
    block.warp_intervals = {};
    begin_launch(plain);
    block.order = launch_order();
    const auto blocks = static_cast<std::int64_t>(grid.x) * grid.y;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t at = block.order.at(b, blocks);
        blockIdx = dim3(static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x));
        begin_block(static_cast<std::uint32_t>(at));
        if (!plain) {
            run_as_coroutines();
            continue;
        }
        for (int t = 0; t < block.size; ++t) {
            place(block.order.at(t, block.size));
            body();
        }
    }
    end_launch();
    if (!block.met_barrier) without_barriers.insert(backend);
}

void shuffle_from(void* value, std::size_t bytes, int lane) {
    const int me = block.current;
    if (me < 0) stop(At::shuffle);  // says what is wrong
    std::memcpy(block.threads[static_cast<std::size_t>(me)]->slot.data(), value, bytes);
    stop(At::shuffle);
    std::memcpy(value, block.threads[static_cast<std::size_t>(me / warp * warp + lane % warp)]->slot.data(),
                bytes);
    stop(At::shuffle);
}

void shuffle_xor(void* value, std::size_t bytes, int mask) {
    shuffle_from(value, bytes, (block.current % warp) ^ mask);
}

}  // namespace emulated

void __syncthreads() { emulated::stop(emulated::At::block_barrier); }
void __syncwarp(unsigned) { emulated::stop(emulated::At::warp_barrier); }
