#pragma once
#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gnnbench {

/// An index, a count or an enumerator as the standard library takes it. Counts are signed here, because a difference
/// of two may be negative; an index may not. Checked only in builds without optimisation, so that it costs a back end
/// nothing.
template <typename Index>
    requires std::integral<Index> || std::is_enum_v<Index>
constexpr std::size_t usize(Index index) noexcept {
#ifndef __OPTIMIZE__
    if constexpr (std::signed_integral<Index>) assert(index >= 0);
#endif
    return static_cast<std::size_t>(index);
}

}  // namespace gnnbench
