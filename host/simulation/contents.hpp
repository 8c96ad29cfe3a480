#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gnnbench/matrix.hpp>
#include <gnnbench/transport.hpp>

#include "simulation/network.hpp"

/// What transfers do to the contents of device memory, which lies in this process: each at the virtual time at which it is
/// complete. It reads its sources and writes its destinations then, so that who does not wait for it finds them as they
/// were.
namespace gnnbench::simulation {

/// What one rank brings to a collective, and where it takes the result.
struct CollectiveMemory {
    void* data = nullptr;          ///< in place; of a reduce-scatter this rank's block of the sum
    const void* blocks = nullptr;  ///< of a reduce-scatter: what is summed
    std::vector<std::int64_t> each =
        {};                  ///< by rank: bytes of an all-gather's block, elements of a reduce-scatter's
    std::int64_t count = 0;  ///< bytes of a broadcast, elements of a reduction
    DType dtype = DType::f32;
    ReduceOp op = ReduceOp::sum;
};

/// Sums add up in the order of ranks, in the data's type.
void complete_collective(Collective kind, int root, std::span<const CollectiveMemory> by_rank);

/// What one message carries: its sender's memory until the sender may change it, a copy from then on.
class Payload {
public:
    Payload(const void* data, std::int64_t bytes);
    Payload(ConstMatrixView of, RowNumbers rows);

    /// Once.
    void take(void* to);
    /// The sender's part is over.
    void keep();

private:
    void read(std::byte* to) const;

    const std::byte* data_;
    std::int64_t row_bytes_, stride_bytes_ = 0;
    std::vector<std::int32_t> rows_;  ///< that it consists of; else one, the first
    std::vector<std::byte> kept_;
    bool needed_ = true;
};

/// One rank's side of an exchange; empty where memory has no contents.
struct ExchangeMemory {
    std::vector<Payload> sent;     ///< by send
    std::vector<void*> received;   ///< by receive: where it is written
    std::function<void()> at_end;  ///< when all has arrived
};

/// The side of a rank that adds what arrives to its rows, in the order of `receives`.
ExchangeMemory adding(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives);

}  // namespace gnnbench::simulation
