#pragma once
#include <cstddef>
#include <deque>
#include <memory>

#include <gnnbench/event.hpp>

#include "pinned.hpp"
#include "streams.hpp"

namespace gnnbench::cuda {

/// Copies to the device that the host does not wait for: by way of page-locked memory, which is in use until they end.
class Uploads {
public:
    Uploads(Streams& streams, std::shared_ptr<PinnedPool> pinned)
        : streams_(streams), pinned_(std::move(pinned)) {}
    Uploads(const Uploads&) = delete;
    Uploads& operator=(const Uploads&) = delete;

    /// In the compute stream, after the work that it has. `host` may change at once. Waits where there is much to copy.
    void copy(const void* host, void* device, std::size_t bytes);

private:
    struct UnderWay {
        Event done;
        std::shared_ptr<std::byte> memory;
        std::size_t bytes;
    };
    /// Of `bytes`; null where it would be too much, or the host has none.
    std::shared_ptr<std::byte> memory_for(std::size_t bytes);
    void forget_completed();
    void wait();

    Streams& streams_;
    std::shared_ptr<PinnedPool> pinned_;
    std::deque<UnderWay> under_way_;  ///< in the stream's order
    std::size_t bytes_under_way_ = 0;
};

}  // namespace gnnbench::cuda
