#include "partitioning/expected_volume.hpp"

#include <cmath>
#include <vector>

#include <gnnbench/usize.hpp>

namespace gnnbench::bench {

double expected_volume(const GraphView& graph, std::span<const Part> part_of, Part parts, double q) {
    // Part by part: the pins that a net has in it, and the nets that it touches.
    std::vector<std::vector<std::int32_t>> rows_of(usize(parts));
    for (std::size_t v = 0; v < part_of.size(); ++v)
        rows_of[usize(part_of[v])].push_back(static_cast<std::int32_t>(v));
    std::vector<std::int32_t> pins(part_of.size()), touched;
    const double log_absent = std::log1p(-q);
    double volume = 0;
    for (Part p = 0; p < parts; ++p) {
        for (const std::int32_t row : rows_of[usize(p)])
            for (std::int64_t e = graph.indptr[usize(row)]; e < graph.indptr[usize(row) + 1]; ++e) {
                const std::int32_t column = graph.indices[usize(e)];
                if (part_of[usize(column)] != p && pins[usize(column)]++ == 0) touched.push_back(column);
            }
        for (const std::int32_t column : touched) {
            volume += q * -std::expm1(log_absent * pins[usize(column)]);
            pins[usize(column)] = 0;
        }
        touched.clear();
    }
    return volume;
}

}  // namespace gnnbench::bench
