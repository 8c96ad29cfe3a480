#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gnnbench {

/// Makes earlier stores, streaming stores included, visible before later ones. Uses sfence rather than a C++ fence, which
/// ThreadSanitizer does not support.
inline void order_streaming_stores() {
#if defined(__x86_64__)
    _mm_sfence();
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Where in its sender's memory something is; what it is both sides know. What is small is here itself, so that its
/// sender need not wait until it is consumed.
struct Published {
    static constexpr std::uint64_t small_bytes = 64, here = ~std::uint64_t{0};

    std::uint64_t at = 0;     ///< from the start of the sender's range, or `here`
    std::uint64_t bytes = 0;  ///< as the sender counts them
    std::int64_t ld = 0;      ///< of a matrix
    alignas(16) std::byte small[small_bytes] = {};
};

/// What one rank offers another of its group, in order: item n is in slot n mod depth, n from 1. It lies in the sender's
/// memory. One process writes `published` and the slots, the other `consumed`.
///
/// Order of memory. The sender writes data, then the slot, then stores `published` with release; the receiver loads it
/// with acquire, so it sees slot and data. It reads (and in reductions writes) the data, then stores `consumed` with
/// release; the sender loads that with acquire before it changes the data or the slot again. So no byte is ever written
/// while another process may touch it. Stores past the caches are outside of this order; order_streaming_stores()
/// comes between them and the store to `published`.
/// After either store the other side is rung for (bell.hpp).
struct Channel {
    static constexpr std::uint64_t depth = 16;

    alignas(64) std::atomic<std::uint64_t> published{0};
    Published slots[depth];
    alignas(64) std::atomic<std::uint64_t> consumed{0};

    Published& slot(std::uint64_t n) { return slots[n % depth]; }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "atomics that processes share must be without locks");

}  // namespace gnnbench
