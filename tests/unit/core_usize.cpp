#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include <gnnbench/usize.hpp>

using namespace gnnbench;

namespace {
enum class Colour : std::uint8_t { red, green };
}

static_assert(noexcept(usize(1)));
static_assert(usize(Colour::green) == 1);

TEST_CASE("an index keeps its value, whatever its type") {
    CHECK(usize(std::numeric_limits<std::int64_t>::max()) == 0x7fff'ffff'ffff'ffffu);
    CHECK(usize(std::int32_t{7}) == 7);
    CHECK(usize(std::numeric_limits<std::uint64_t>::max()) == std::numeric_limits<std::size_t>::max());
    CHECK(usize(Colour::red) == 0);
}
