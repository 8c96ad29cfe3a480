#include <limits>
#include <thread>

#include <catch2/catch.hpp>

#include "core/subnormals.hpp"

using namespace gnnbench;

namespace {

template <class T>
T half_of_smallest() {
    volatile T smallest = std::numeric_limits<T>::min();
    return smallest * T{0.5};
}

}  // namespace

#if defined(__SSE2__) || defined(__aarch64__)
TEST_CASE("subnormal numbers count as 0, on threads that are started later, too") {
    std::thread([] {  // so that the other tests' thread keeps them
        CHECK(half_of_smallest<float>() > 0);
        flush_subnormals();
        volatile float operand = std::numeric_limits<float>::denorm_min();
        CHECK(operand * 0x1p30F == 0);
        CHECK(half_of_smallest<float>() == 0);
        CHECK(half_of_smallest<double>() == 0);
        std::thread([] { CHECK(half_of_smallest<float>() == 0); }).join();
    })
        .join();
    CHECK(half_of_smallest<float>() > 0);
}
#endif
