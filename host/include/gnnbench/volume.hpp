#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnbench {

enum class CommOp : std::uint8_t {
    point_to_point,
    broadcast,
    reduce,
    all_gather,
    reduce_scatter,
    all_reduce,
    all_to_all,
    one_sided
};
inline constexpr std::array<std::string_view, 8> comm_op_names = {"point-to-point", "broadcast",      "reduce",
                                                                  "all-gather",     "reduce-scatter", "all-reduce",
                                                                  "all-to-all",     "one-sided"};

/// Payload is dense rows, gradients and parameters. Metadata is indices, sizes, sampled ids, loss and
/// accuracy scalars, lock words; it is counted separately.
enum class Content : std::uint8_t { payload, metadata };

/// What one rank sent and received in one kind of operation. Bytes and messages; the algorithm's, whatever
/// the library moves internally. Σ sent = Σ received over ranks.
struct Traffic {
    std::int64_t sent_bytes = 0, received_bytes = 0;
    /// Non-empty transfers this rank starts for point to point, one-sided and all-to-all; one per call otherwise.
    std::int64_t messages = 0;

    Traffic& operator+=(const Traffic& o) {
        sent_bytes += o.sent_bytes;
        received_bytes += o.received_bytes;
        messages += o.messages;
        return *this;
    }
    auto operator<=>(const Traffic&) const = default;
};

/// A rank's volume by operation. The key's order is the report's order.
struct VolumeKey {
    CommOp operation;
    Content content;
    auto operator<=>(const VolumeKey&) const = default;
};
using Volume = std::map<VolumeKey, Traffic>;

Volume& operator+=(Volume& a, const Volume& b);
/// `times` copies of one Traffic.
Traffic operator*(const Traffic& t, std::int64_t times);
/// Payload summed over operations.
Traffic payload_total(const Volume& v);
/// What is stated of a rank's volume in one epoch.
struct StatedVolume {
    enum class Means : std::uint8_t {
        every_epoch,  ///< what is counted equals it, in each epoch
        this_epoch,   ///< what is counted in this epoch equals it; another has its own
        at_most,      ///< the payload counted is no more, in any operation; metadata is not stated
    };
    StatedVolume() = default;
    StatedVolume(Volume v, Means m = Means::every_epoch) : volume(std::move(v)), means(m) {}
    Volume volume;
    Means means = Means::every_epoch;
};

/// Empty if `counted` is as stated; else one line per difference: operation, content, stated, counted.
std::string difference(const StatedVolume& stated, const Volume& counted);

/// The counting rules (the table is in docs/volumes.md). x is the operation's total bytes, k the number of ranks, and
/// block i the i-th of k blocks of x; with `even_blocks` they are as equal as possible, the first x mod k
/// elements one larger.
namespace counting {
/// Bytes of block i when `elements` of `element_bytes` are cut into k blocks as equal as possible.
std::int64_t even_block_bytes(std::int64_t elements, std::int64_t element_bytes, int k, int i);
Traffic broadcast(std::int64_t x, int k, bool is_root);
Traffic reduce(std::int64_t x, int k, bool is_root);
Traffic all_gather(std::int64_t x, std::int64_t mine, int k);
Traffic reduce_scatter(std::int64_t x, std::int64_t mine, int k);
Traffic all_reduce(std::int64_t x, std::int64_t mine, int k);
/// sent[j], received[j]: bytes to and from rank j; the entry of `self` is not communication.
Traffic all_to_all(std::span<const std::int64_t> sent, std::span<const std::int64_t> received, int self);
}  // namespace counting

}  // namespace gnnbench
