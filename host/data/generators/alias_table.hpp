#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <data/draws.hpp>

namespace gnnbench {

/// Draws position i of a list with probability weight_i ÷ Σ weights, in two steps (Walker's alias method, Vose's
/// construction): a uniform slot, then the slot's own position or its alias.
class AliasTable {
public:
    explicit AliasTable(std::span<const double> weights);
    /// Two words of a counter-based generator in, a position out.
    std::int32_t pick(std::uint32_t slot_word, std::uint32_t coin) const {
        auto slot = scaled(slot_word, slots_.size());
        return coin < slots_[slot].threshold ? static_cast<std::int32_t>(slot) : slots_[slot].alias;
    }

private:
    struct Slot {
        std::uint32_t threshold = 0xffffffffu;  ///< of 2^32: the slot's own position
        std::int32_t alias = 0;
    };
    std::vector<Slot> slots_;
};

}  // namespace gnnbench
