#pragma once
#include <chrono>
#include <cstdint>

namespace gnnbench {

/// A part of set-up on one rank.
struct SetupPart {
    double seconds = 0;
    std::int64_t bytes = 0;
};

/// What set-up costs a rank before its first epoch, apart from partitioning.
struct SetupCost {
    SetupPart read;      ///< features, labels and splits of its vertices: bytes on the device
    SetupPart cut;       ///< its rows of Â and Âᵀ, cut by parts: bytes of the blocks
    SetupPart exchange;  ///< the partition, between ranks: bytes received
    SetupPart prepare;   ///< matrices in the back end's formats: bytes on the device
};

/// Adds the time that it lives to a part, where there is one.
class SetupTimer {
public:
    explicit SetupTimer(SetupPart* part) : part_(part), start_(std::chrono::steady_clock::now()) {}
    SetupTimer(const SetupTimer&) = delete;
    ~SetupTimer() {
        if (part_)
            part_->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    void add_bytes(std::int64_t bytes) {
        if (part_) part_->bytes += bytes;
    }

private:
    SetupPart* part_;
    std::chrono::steady_clock::time_point start_;
};

}  // namespace gnnbench
