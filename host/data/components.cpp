#include <data/components.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <gnnbench/usize.hpp>

namespace gnnbench {

// Union by smaller root with path halving.
Components count_components(const GraphView& g) {
    std::vector<std::int32_t> parent(usize(g.vertices()));
    std::iota(parent.begin(), parent.end(), 0);
    auto root = [&](std::int32_t v) {
        while (parent[usize(v)] != v) {
            auto& up = parent[usize(v)];
            up = parent[usize(up)];
            v = up;
        }
        return v;
    };
    for (std::int32_t v = 0; v < g.vertices(); ++v)
        for (auto e = g.indptr[usize(v)]; e < g.indptr[usize(v) + 1]; ++e) {
            auto a = root(v), b = root(g.indices[usize(e)]);
            parent[usize(std::max(a, b))] = std::min(a, b);
        }
    std::vector<std::int64_t> size(parent.size());
    for (std::int32_t v = 0; v < g.vertices(); ++v) ++size[usize(root(v))];
    return {.count = std::ranges::count_if(size, [](auto s) { return s > 0; }),
            .largest = size.empty() ? 0 : std::ranges::max(size)};
}

}  // namespace gnnbench
