// The one place that multiplies extents which a file gives.
#include <cstdint>

#include <catch2/catch.hpp>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

using namespace gnnbench;
using Catch::Contains;

TEST_CASE("extents whose product wraps, or that are negative, size no array") {
    constexpr std::int64_t two_62 = std::int64_t{1} << 62;
    CHECK_THROWS_AS(array_elements("f", {4, two_62}, 4), DataError);
    CHECK_THROWS_WITH(array_elements("f: x", {4, two_62}, 4),
                      Contains("f: x: an array of 4 × 4611686018427387904 elements"));
    CHECK_THROWS_AS(array_elements("f", {two_62}, 4), DataError);        // in bytes only
    CHECK_THROWS_AS(array_elements("f", {two_62, 4, 0}, 1), DataError);  // though it is empty
    CHECK_THROWS_AS(array_elements("f", {-1, 3}, 4), DataError);
    CHECK_THROWS_AS(array_elements("f", {-1, 0}, 4), DataError);
}

TEST_CASE("an array larger than the machine's memory is refused, with both sizes") {
    REQUIRE(machine_memory_bytes() > 0);
    const auto most = static_cast<std::int64_t>(machine_memory_bytes());
    CHECK_THROWS_AS(array_elements("f", {most / 8 + 1}, 8), EnvironmentError);
    CHECK_THROWS_WITH(array_elements("f", {std::int64_t{1} << 50}, 8),
                      Contains("8388608.0 GiB, this machine has"));
    CHECK(array_elements("f", {most / 8}, 8) == static_cast<std::size_t>(most / 8));
}

TEST_CASE("other extents are multiplied") {
    CHECK(array_elements("f", {3, 4, 5}, 8) == 60);
    CHECK(array_elements("f", {3, 0}, 8) == 0);
    CHECK(array_elements("f", {}, 8) == 1);
}
