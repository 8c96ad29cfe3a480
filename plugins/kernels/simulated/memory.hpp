#pragma once
#include <cstddef>

namespace gnnbench::simulated {

/// Addresses that nobody may touch: no memory is behind them, and reading one ends the process with a fault. nullptr:
/// there are no addresses left.
void* reserve_addresses(std::size_t bytes);
void give_back_addresses(void* data, std::size_t bytes) noexcept;

}  // namespace gnnbench::simulated
