// The cpu kernel's own exponentials, of numbers in a core's first-level cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exponentials.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "exponentials.hpp"
#include "kernels/cpu/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

float sum_of_exponentials(const float* x, std::int64_t count, std::int64_t passes) {
    const Tag<float> d;
    Vec<float> s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    constexpr std::int64_t n = lanes<float>;
    for (std::int64_t pass = 0; pass < passes; ++pass)
        for (std::int64_t i = 0; i + 4 * n <= count; i += 4 * n) {
            s0 = hn::Add(s0, exponential<float>(hn::LoadU(d, x + i)));
            s1 = hn::Add(s1, exponential<float>(hn::LoadU(d, x + i + n)));
            s2 = hn::Add(s2, exponential<float>(hn::LoadU(d, x + i + 2 * n)));
            s3 = hn::Add(s3, exponential<float>(hn::LoadU(d, x + i + 3 * n)));
        }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(sum_of_exponentials);
}  // namespace gnnbench::cpu

namespace gnnbench::bench {

double exponentials(const float* x, std::int64_t count, std::int64_t passes, int threads) {
    using namespace cpu;  // NOLINT(google-build-using-namespace): the macro's names
    double total = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total)
    for (int t = 0; t < threads; ++t)
        total += static_cast<double>(HWY_DYNAMIC_DISPATCH(sum_of_exponentials)(x + t * count, count, passes));
    return total;
}

}  // namespace gnnbench::bench
#endif
