#include <data/describe.hpp>

#include <algorithm>
#include <numeric>

#include <gnnbench/usize.hpp>

namespace gnnbench {

using nlohmann::json;

namespace {

json degrees(const GraphView& g) {
    auto n = usize(g.vertices());
    std::vector<std::int64_t> in(n), out(n);
    for (std::size_t v = 0; v < n; ++v) in[v] = g.indptr[v + 1] - g.indptr[v];
    for (auto u : g.indices) ++out[usize(u)];
    auto zero_rows = std::ranges::count(in, 0), zero_columns = std::ranges::count(out, 0);
    auto middle = in.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::ranges::nth_element(in, middle);
    auto median = *middle;
    auto [least, most] = std::ranges::minmax(in);
    return {{"minimum", least},
            {"median", median},
            {"mean", static_cast<double>(g.edges()) / static_cast<double>(n)},
            {"maximum", most},
            {"zero_rows", zero_rows},
            {"zero_columns", zero_columns}};
}

/// Union by smaller root with path halving.
std::vector<std::int32_t> component_roots(const GraphView& g) {
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
    for (std::int32_t v = 0; v < g.vertices(); ++v) parent[usize(v)] = root(v);
    return parent;
}

json splits(const Store& store) {
    auto list = json::array();
    for (int s = 0; s < store.manifest().splits; ++s) {
        auto split = store.view(s).split;
        list.push_back({{"train", std::ranges::count(split, Split::train)},
                        {"validation", std::ranges::count(split, Split::validation)},
                        {"test", std::ranges::count(split, Split::test)},
                        {"none", std::ranges::count(split, Split::none)}});
    }
    return list;
}

}  // namespace

json describe(const Store& store) {
    auto view = store.view();
    auto j = to_json(store.manifest());
    j["store"] = store.path().string();
    j["degrees"] = degrees(view.graph);
    std::vector<std::int64_t> size(usize(view.graph.vertices()));
    for (auto root : component_roots(view.graph)) ++size[usize(root)];
    j["components"] = std::ranges::count_if(size, [](auto s) { return s > 0; });
    j["largest_component"] = std::ranges::max(size);
    std::vector<std::int64_t> in_class(usize(view.classes));
    for (auto label : view.labels)
        if (label >= 0) ++in_class[usize(label)];
    for (std::size_t i = 0; i < view.label_matrix.size(); ++i)
        in_class[i % in_class.size()] += view.label_matrix[i];
    j["class_sizes"] = in_class;
    j["split_sizes"] = splits(store);
    return j;
}

}  // namespace gnnbench
