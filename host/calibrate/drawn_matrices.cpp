#include "calibrate/drawn_matrices.hpp"

#include <algorithm>
#include <functional>

#include <gnnbench/random.hpp>

namespace gnnbench {
namespace {

Csr drawn(std::int64_t rows, std::int64_t cols, const std::function<std::int64_t(RandomStream&)>& of_row) {
    RandomStream random(1, Draw::graph);  // the same numbers everywhere
    Csr a;
    a.rows = rows;
    a.cols = cols;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::size_t first = a.indices.size();
        const std::int64_t count = of_row(random);
        for (std::int64_t j = 0; j < count; ++j)
            a.indices.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(cols))));
        std::sort(a.indices.begin() + static_cast<std::ptrdiff_t>(first), a.indices.end());
        a.indptr.push_back(static_cast<std::int64_t>(a.indices.size()));
    }
    a.values.assign(a.indices.size(), 0.25);
    return a;
}

}  // namespace

Csr uniform(std::int64_t rows, std::int64_t cols, std::int64_t of_row) {
    return drawn(rows, cols, [of_row](RandomStream&) { return of_row; });
}

Csr of_many_lengths(std::int64_t rows, std::int64_t cols, std::int64_t mean) {
    return drawn(rows, cols, [mean](RandomStream& random) {
        return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * mean + 1)));
    });
}

}  // namespace gnnbench
