#include <data/generators/alias_table.hpp>

#include <numeric>

#include <gnnbench/usize.hpp>

namespace gnnbench {

AliasTable::AliasTable(std::span<const double> weights) : slots_(weights.size()) {
    double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    std::vector<double> left(weights.begin(), weights.end());
    std::vector<std::int32_t> small, large;
    for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] = mean > 0 ? left[i] / mean : 1;
        slots_[i].alias = static_cast<std::int32_t>(i);
        (left[i] < 1 ? small : large).push_back(static_cast<std::int32_t>(i));
    }
    while (!small.empty() && !large.empty()) {
        auto s = usize(small.back()), l = usize(large.back());
        small.pop_back();
        slots_[s] = {static_cast<std::uint32_t>(left[s] * 0x1p32), static_cast<std::int32_t>(l)};
        left[l] -= 1 - left[s];
        if (left[l] >= 1) continue;
        large.pop_back();
        small.push_back(static_cast<std::int32_t>(l));
    }
}

}  // namespace gnnbench
