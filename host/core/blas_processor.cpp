#include "core/blas_processor.hpp"

#include <cstdlib>

namespace gnnbench {
namespace {

bool told_here = false;

}  // namespace

void name_blas_processor() {
#if defined(__x86_64__)
    if (std::getenv("OPENBLAS_CORETYPE")) return;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
    if (has_avx512)
        told_here = setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0) == 0;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        told_here = setenv("OPENBLAS_CORETYPE", "HASWELL", 0) == 0;
#endif
}

void forget_blas_processor() {
    if (told_here) unsetenv("OPENBLAS_CORETYPE");
    told_here = false;
}

}  // namespace gnnbench
