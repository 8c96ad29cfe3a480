#include <data/generators/degree_params.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

std::int64_t usual_largest_degree(std::int64_t vertices, double average_degree) {
    const double entries = static_cast<double>(vertices) * average_degree;
    return std::min(vertices - 1, static_cast<std::int64_t>(std::ceil(std::sqrt(entries))));
}

void require_neighbours(std::int64_t vertices, double average_degree) {
    if (average_degree > static_cast<double>(vertices - 1))
        throw SpecError(fmt::format("average_degree is {}; of {} vertices, each has at most {} neighbours",
                                    average_degree, vertices, vertices - 1));
}

DegreeProfile degrees_of(const Params& p) {
    const auto n = p.integer("vertices");
    const double mean = p.real("average_degree");
    require_neighbours(n, mean);
    auto most = p.integer("max_degree");
    if (most >= n)
        throw SpecError(
            fmt::format("max_degree is {}; of {} vertices, each has at most {} neighbours", most, n, n - 1));
    if (most == 0) most = usual_largest_degree(n, mean);
    if (p.choice("distribution") == "power-law") return power_law_degrees(mean, most);
    return log_normal_degrees(mean, p.real("spread"), most);
}

std::string degrees_label(const char* kind, const Params& p) {
    return fmt::format("{}-{}x{}", kind, p.integer("vertices"), p.real("average_degree"));
}

GraphSize degrees_size(const Params& p) {
    const auto n = p.integer("vertices");
    return {.vertices = n,
            .entries = static_cast<std::int64_t>(static_cast<double>(n) * mean_degree(degrees_of(p)))};
}

}  // namespace gnnbench
