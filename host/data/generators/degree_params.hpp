#pragma once
#include <array>
#include <string>

#include <gnnbench/params.hpp>

#include <data/degree_profile.hpp>
#include <data/generators/kinds.hpp>

namespace gnnbench {

/// Parameters of generators that match a distribution of degrees.
inline constexpr std::array<ParamDecl, 5> degree_params{{
    vertices_param,
    {"average_degree", ParamType::real, "40", 1, 100000, nullptr, "edges at a vertex, on average"},
    {"distribution", ParamType::choice, "log-normal", 0, 0, "log-normal|power-law",
     "of the degrees, from 1 to max_degree: exp(-(ln d - m)^2 / (2 spread^2)) / d or d^-g, with the m or g that "
     "has the "
     "average"},
    {"spread", ParamType::real, "1", 0.01, 10, nullptr,
     "standard deviation of the degrees' logarithms, where log-normal"},
    {"max_degree", ParamType::integer, "0", 0, 2147483647, nullptr,
     "largest degree; 0: the square root of the number of entries"},
}};
inline constexpr ParamDecl degree_order_param{
    "order",
    ParamType::choice,
    "random",
    0,
    0,
    "random|degree",
    "order of vertices: at random, or by degree (of bter, blocks in turn)"};

/// Throws SpecError where n vertices cannot have such degrees.
DegreeProfile degrees_of(const Params& params);

/// "bter-20000x40".
std::string degrees_label(const char* kind, const Params& params);
GraphSize degrees_size(const Params& params);

/// A generator's largest degree where its parameter is 0, for n vertices of this average degree.
std::int64_t usual_largest_degree(std::int64_t vertices, double average_degree);
/// Throws SpecError where a vertex would need more neighbours than there are.
void require_neighbours(std::int64_t vertices, double average_degree);

}  // namespace gnnbench
