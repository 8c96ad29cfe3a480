#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gnnbench {

/// By which a rank sleeps until another of its host has news for it. It lies in the memory that the ranks share, near the
/// beginning of its owner's range; the owner alone sleeps by it, every other rank may ring.
///
/// No news is slept through. The owner listens, then looks for news once more, then sleeps. Who brings news writes it, then
/// rings. Each puts a full fence between its write and its look, so either the owner sees the news or the other sees that
/// it listens; and a ring changes `rings_`, so that a sleep from before the ring ends at once.
class Bell {
public:
    /// Where it lies in a range.
    static constexpr std::size_t offset = 64;
    static Bell& of(std::byte* range) { return *reinterpret_cast<Bell*>(range + offset); }

    /// After the news has been written.
    void ring() {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (listening_.load(std::memory_order_relaxed) != 0) wake();
    }

    /// Before the last look for news.
    void listen() {
        heard_ = rings_.load(std::memory_order_acquire);
        listening_.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    /// Until somebody rings, or has rung since listen(), or for no reason; at most so long: false if that was its end.
    bool sleep(std::chrono::nanoseconds most);
    void stop_listening() { listening_.store(0, std::memory_order_relaxed); }

private:
    void wake();

    std::atomic<std::uint32_t> rings_{0}, listening_{0};
    std::uint32_t heard_ = 0;  ///< the owner's
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free,
              "atomics that processes share must be without locks");

}  // namespace gnnbench
