// Included once per instruction set (Highway's way): no #pragma once.
#if defined(GNNBENCH_CPU_STRETCH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_STRETCH_INL
#undef GNNBENCH_CPU_STRETCH_INL
#else
#define GNNBENCH_CPU_STRETCH_INL
#endif

#include <algorithm>
#include <cstdint>

#include "simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// Brings a stretch of memory into the second cache, a few lines at each call.
class Stretch {
public:
    Stretch(const void* begin, std::int64_t bytes, std::int64_t calls)
        : at_(static_cast<const char*>(begin)), end_(at_ + bytes), each_((bytes / calls + line) / line * line) {}
    HWY_INLINE void prefetch_some() {
        const char* const stop = at_ + std::min<std::int64_t>(each_, end_ - at_);
        for (; at_ < stop; at_ += line) __builtin_prefetch(at_, 0, 2);
    }

private:
    static constexpr std::int64_t line = 64;
    const char *at_, *end_;
    std::int64_t each_;
};

template <int Lines, class T>
HWY_INLINE void prefetch_to_read(const T* row) {
#pragma GCC unroll 8
    for (int i = 0; i < Lines; ++i) __builtin_prefetch(row + i * (64 / sizeof(T)), 0, 3);
}
template <int Lines, class T>
HWY_INLINE void prefetch_to_write(const T* row) {
#pragma GCC unroll 8
    for (int i = 0; i < Lines; ++i) __builtin_prefetch(row + i * (64 / sizeof(T)), 1, 3);
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
