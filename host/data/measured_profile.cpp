#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/usize.hpp>

#include <data/edges.hpp>
#include <data/graph_shape.hpp>
#include <data/profile.hpp>

namespace gnnbench {

using nlohmann::json;

namespace {

/// Every entry as an edge between its two ends, once.
RawGraph without_directions(const GraphView& g) {
    const auto entries = array_elements("the ends of edges", {g.edges()}, 2 * sizeof(std::int32_t));
    std::vector<std::int32_t> source(entries), target(g.indices.begin(), g.indices.end());
#pragma omp parallel for schedule(dynamic, 4096)
    for (std::int64_t v = 0; v < g.vertices(); ++v)
        std::fill(source.begin() + g.indptr[usize(v)], source.begin() + g.indptr[usize(v) + 1],
                  static_cast<std::int32_t>(v));
    return build_pattern(g.vertices(), std::move(source), std::move(target), false);
}

json measured_rows(const GraphShape& shape) {
    auto rows = json::array();
    for (std::int64_t d = 0; d < std::ssize(shape.histogram); ++d) {
        const double clustering = d < 2 ? 0 : shape.clustering[usize(degree_bin(d))];
        if (const auto here = shape.histogram[usize(d)]; here > 0)
            rows.push_back({d, here, std::round(clustering * 1e4) / 1e4});
    }
    return rows;
}

}  // namespace

json measured_profile(const Store& store) {
    const auto& m = store.manifest();
    const auto view = store.view();
    const auto graph = without_directions(view.graph);
    const auto real = [&](const char* what) { return std::ranges::find(m.synthetic, what) == m.synthetic.end(); };
    json j = {{"name", m.name},
              {"about", fmt::format("measured, as an undirected graph of {} edges", graph.indices.size() / 2)},
              {"vertices", m.vertices},
              {"features", real("features") ? m.features : 0},
              {"classes", real("labels") ? m.classes : 0},
              {"measured", measured_rows(measure_shape(graph.view(), 1))},
              {"sources", {fmt::format("measured on the dataset with digest {}: {}", m.digest, m.source)}},
              {"assumptions", json::array()}};
    if (m.multi_label && real("labels"))
        j["labels_per_vertex"] = std::max(
            1.0, static_cast<double>(std::ranges::count(view.label_matrix, 1)) / static_cast<double>(m.vertices));
    const auto in = [&](Split split) { return std::ranges::count(view.split, split); };
    if (real("masks"))
        j["split"] = {
            {"train", in(Split::train)}, {"validation", in(Split::validation)}, {"test", in(Split::test)}};
    return j;
}

}  // namespace gnnbench
