#pragma once
#include <array>
#include <cstdint>

namespace gnnbench {

/// What a random number is drawn for; part of the generator's key, so that streams never overlap.
enum class Draw : std::uint32_t {
    weights = 1,
    dropout = 2,
    partition = 3,
    features = 4,
    graph = 5,
    sample = 6,
    batch = 7,       ///< which vertices a mini-batch has
    gossip = 8,      ///< whom a worker chooses
    slowdown = 9,    ///< how much slower a rank is in a step
    attention = 10,  ///< which coefficients of attention are dropped
};

/// Four 32-bit words of Philox4x32-10 (Salmon et al., SC'11) at a counter: a pure function of its arguments,
/// so a draw is the same on every rank, device and thread. `a` is usually an original vertex id, `b` a column
/// block, `c` whatever else distinguishes draws (layer, epoch).
std::array<std::uint32_t, 4> philox(std::uint64_t seed, Draw what, std::uint64_t a, std::uint32_t b,
                                    std::uint32_t c);

/// One word; element `index` of the stream (seed, what, a, c).
inline std::uint32_t random_word(std::uint64_t seed, Draw what, std::uint64_t a, std::uint32_t index,
                                 std::uint32_t c) {
    return philox(seed, what, a, index / 4, c)[index % 4];
}

/// Uniform in (0, 1), from a word.
constexpr double unit_interval(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

/// A sequential stream for shuffles and generators: its draws are philox(seed, what, counter, 0, salt).
class RandomStream {
public:
    using result_type = std::uint32_t;
    RandomStream(std::uint64_t seed, Draw what, std::uint32_t salt = 0) : seed_(seed), what_(what), salt_(salt) {}
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return 0xffffffffu; }
    result_type operator()() {
        if (used_ == 4) {
            block_ = philox(seed_, what_, counter_++, 0, salt_);
            used_ = 0;
        }
        return block_[used_++];
    }
    double uniform() { return unit_interval((*this)()); }
    /// Uniform in [0, bound) without modulo bias; bound ≥ 1.
    std::uint64_t below(std::uint64_t bound);
    /// Standard normal (Box–Muller).
    double normal();

private:
    std::uint64_t seed_;
    Draw what_;
    std::uint32_t salt_;
    std::uint64_t counter_ = 0;
    std::array<std::uint32_t, 4> block_{};
    unsigned used_ = 4;
};

/// A dropout mask: element (v, c) of layer `layer` at epoch `epoch` is dropped where its word, drawn at the
/// original vertex id v, is below rate × 2^32; the others are scaled by 1 / (1 − rate). A rank that holds only
/// some columns of the layer's input starts at `first_column` of it, and so drops what the whole matrix drops.
struct DropoutMask {
    double rate = 0;
    std::uint64_t seed = 0;
    std::uint32_t layer = 0, epoch = 0;
    std::uint32_t first_column = 0;

    bool active() const { return rate > 0; }
    std::uint32_t threshold() const { return static_cast<std::uint32_t>(rate * 0x1p32); }
    double scale() const { return 1.0 / (1.0 - rate); }
    /// Encodes (layer, epoch) in the generator's counter: 64 layers, 2^26 epochs.
    std::uint32_t stream() const { return epoch << 6 | layer; }
    /// `column` counts from first_column.
    bool dropped(std::int64_t vertex, std::uint32_t column) const {
        return random_word(seed, Draw::dropout, static_cast<std::uint64_t>(vertex), first_column + column,
                           stream()) < threshold();
    }
    /// By what attention's coefficient of a head is multiplied with which `row` attends to `column`: 0 or scale(). By
    /// original ids below 2^32, of both, so that no rank asks another.
    double kept_share(std::int64_t row, std::int64_t column, std::uint32_t head) const {
        if (!active()) return 1;
        const std::uint32_t word = random_word(seed, Draw::attention, entry_key(row, column), head, stream());
        return word < threshold() ? 0 : scale();
    }
    static constexpr std::uint64_t entry_key(std::int64_t row, std::int64_t column) {
        return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(column);
    }
    bool operator==(const DropoutMask&) const = default;
};

}  // namespace gnnbench
