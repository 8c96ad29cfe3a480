#include "core/subnormals.hpp"

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace gnnbench {

void flush_subnormals() {
#if defined(__SSE2__)
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zeros = 0x0040;
    _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zeros);
#elif defined(__aarch64__)
    constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
    std::uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    asm volatile("msr fpcr, %0" : : "r"(control | flush_to_zero));
#endif
}

}  // namespace gnnbench
