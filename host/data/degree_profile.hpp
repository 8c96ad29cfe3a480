#pragma once
#include <cstdint>
#include <vector>

namespace gnnbench {

/// The vertices of one degree.
struct DegreeClass {
    std::int64_t degree = 0;
    double share = 0;       ///< of all vertices
    double clustering = 0;  ///< mean of their local clustering coefficients; 0 for degrees below 2
    bool operator==(const DegreeClass&) const = default;
};

/// Degrees and clustering of an undirected graph, of any number of vertices: degrees ascend, shares add up to 1.
using DegreeProfile = std::vector<DegreeClass>;

double mean_degree(const DegreeProfile& profile);
/// Over all vertices; those of degree 0 and 1 count as 0.
double mean_clustering(const DegreeProfile& profile);

/// Shares ∝ exp(−(ln d − μ)² ÷ 2·spread²) ÷ d over degrees 1 … most, with the μ that has this mean. Throws SpecError
/// where no μ has it.
DegreeProfile log_normal_degrees(double mean, double spread, std::int64_t most);
/// Shares ∝ d^−γ over degrees 1 … most, with the γ that has this mean.
DegreeProfile power_law_degrees(double mean, std::int64_t most);

/// The idealised clustering of Kolda et al. (2014), c_d = largest · exp(−ξ(d − 1)) for d ≥ 2, with the ξ that has
/// this mean over all vertices. Throws SpecError where even ξ = 0 is below it.
void set_clustering(DegreeProfile& profile, double mean, double largest);

/// Every degree times `factor`, rounded, at most `most`; vertices keep their clustering.
DegreeProfile scaled_degrees(const DegreeProfile& profile, double factor, std::int64_t most);

/// Degrees of n vertices, ascending, with an even sum: the profile's distribution function within 1 ÷ n.
std::vector<std::int32_t> degree_sequence(const DegreeProfile& profile, std::int64_t n);

/// Element d: the clustering of the class whose degree is nearest to d. Length: the largest degree + 1.
std::vector<double> clustering_by_degree(const DegreeProfile& profile);

}  // namespace gnnbench
