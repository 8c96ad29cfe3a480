#include <data/degree_labels.hpp>

#include <algorithm>
#include <map>

#include <gnnbench/even_blocks.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

void label_by_degree(std::int32_t classes,
                     const std::function<void(const std::function<void(std::int64_t)>& take)>& each,
                     const std::function<void(std::int32_t)>& label) {
    struct Next {
        std::int64_t position = 0;  ///< first the number of these vertices, then where the next one is
        std::int32_t label = 0;
    };
    std::map<std::int64_t, Next> of_degree;
    each([&](std::int64_t degree) { ++of_degree[degree].position; });
    std::int64_t n = 0;
    for (auto& [degree, next] : of_degree) {
        const std::int64_t vertices = next.position;
        next.position = n;
        n += vertices;
    }
    each([&](std::int64_t degree) {
        Next& next = of_degree.at(degree);
        while (next.position >= block_begin(n, classes, next.label + 1)) ++next.label;
        ++next.position;
        label(next.label);
    });
}

std::vector<std::int32_t> degree_labels(const GraphView& graph, std::int32_t classes) {
    std::vector<std::int32_t> labels;
    labels.reserve(usize(graph.vertices()));
    const auto each = [&](const std::function<void(std::int64_t)>& take) {
        for (std::int64_t v = 0; v < graph.vertices(); ++v) {
            const std::int64_t begin = graph.indptr[usize(v)], end = graph.indptr[usize(v) + 1];
            const auto row = graph.indices.subspan(usize(begin), usize(end - begin));
            const bool loop = std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(v));
            take(end - begin - (loop ? 1 : 0));
        }
    };
    label_by_degree(classes, each, [&](std::int32_t label) { labels.push_back(label); });
    return labels;
}

}  // namespace gnnbench
