// The external sort alone, on records of bytes: the first four say how large runs, blocks and merges are, then each two are a
// record's row and column.
#include "fuzz/targets/scratch.hpp"
#include "fuzz/targets/target.hpp"

#include <algorithm>
#include <tuple>

#include <data/external_sort.hpp>

using namespace gnnbench;

namespace {

struct Placed {
    std::int32_t row, col;
    std::int32_t place;
    bool operator==(const Placed&) const = default;
};

}  // namespace

GNNBENCH_FUZZ_TARGET(bytes) {
    static const fuzz::Scratch scratch;
    if (bytes.size() < 4) return;
    const auto number = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
    const SortSizes sizes{
        .run_records = 1 + number(0), .block_records = 1 + number(1) % 32, .fan_in = 2 + number(2) % 16};
    // Rows beyond the first digit of the radix sort, and the largest there is.
    const std::int32_t step = number(3) & 1 ? INT32_MAX / 255 : 1;
    ExternalSort<Placed> sort(scratch.path(), sizes);
    std::vector<Placed> expected, found;
    for (std::size_t i = 4; i + 1 < bytes.size(); i += 2) {
        expected.push_back({static_cast<std::int32_t>(number(i)) * step, static_cast<std::int32_t>(number(i + 1)),
                            static_cast<std::int32_t>(i)});
        sort.add(expected.back());
    }
    std::ranges::stable_sort(expected, {}, [](const Placed& p) { return std::tuple(p.row, p.col); });
    sort.merge({.run_records = 1, .block_records = 1 + number(3) % 64, .fan_in = sizes.fan_in},
               [&](const Placed& p) { found.push_back(p); });
    if (found != expected) throw LogicError("the external sort is no stable sort");
}
