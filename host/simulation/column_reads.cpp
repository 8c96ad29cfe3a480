#include <gnnbench/simulation/column_reads.hpp>

#include <cmath>
#include <map>

namespace gnnbench::simulation {

// Between two reads of a column with c of all z nonzeros are z / c others. Of these a column with d nonzeros has d / c: none
// with probability exp(−d / c). Where all have as many, a share 1 − 1/e of the columns lies between.
ColumnReads column_reads(std::span<const std::int32_t> counts) {
    constexpr double groups_of_a_doubling = 2;
    struct Like {
        double columns = 0, nonzeros = 0;
        double each() const { return nonzeros / columns; }
    };
    std::map<int, Like> by_count;
    ColumnReads reads{.columns = static_cast<double>(counts.size()), .nonzeros = 0, .groups = {}};
    for (const std::int32_t c : counts) {
        if (c == 0) continue;
        Like& like = by_count[static_cast<int>(std::lround(groups_of_a_doubling * std::log2(c)))];
        ++like.columns;
        like.nonzeros += c;
        reads.nonzeros += c;
    }
    for (const auto& [key, like] : by_count) {
        double apart = 0;
        for (const auto& [other_key, other] : by_count)
            apart += other.columns * -std::expm1(-other.each() / like.each());
        reads.groups.push_back({like.nonzeros, apart / -std::expm1(-1.0)});
    }
    return reads;
}

}  // namespace gnnbench::simulation
