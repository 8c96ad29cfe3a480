#include "core/blas_processor.hpp"

#include <cstdlib>

namespace gnnbench {

void name_blas_processor() {
#if defined(__x86_64__)
    constexpr int keep_what_is_set = 0;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl");
    if (has_avx512)
        setenv("OPENBLAS_CORETYPE", "SKYLAKEX", keep_what_is_set);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        setenv("OPENBLAS_CORETYPE", "HASWELL", keep_what_is_set);
#endif
}

}  // namespace gnnbench
