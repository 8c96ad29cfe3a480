#include <data/describe.hpp>

#include <algorithm>

#include <gnnbench/usize.hpp>

#include <data/components.hpp>

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
    j.erase("checksums");
    j["degrees"] = degrees(view.graph);
    const Components components = count_components(view.graph);
    j["components"] = components.count;
    j["largest_component"] = components.largest;
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
