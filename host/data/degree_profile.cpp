#include <data/degree_profile.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

/// x in [low, high] where f, which increases, is `wanted`.
template <class F>
double where_it_is(double wanted, double low, double high, F f) {
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = (low + high) / 2;
        (f(middle) < wanted ? low : high) = middle;
    }
    return (low + high) / 2;
}

/// Shares ∝ exp(exponent(d)) over degrees 1 … most.
template <class Exponent>
DegreeProfile normalised(std::int64_t most, Exponent exponent) {
    DegreeProfile profile(usize(most));
    double largest = -INFINITY, sum = 0;
    for (std::int64_t d = 1; d <= most; ++d) {
        auto& at = profile[usize(d - 1)];
        at = {.degree = d, .share = exponent(static_cast<double>(d))};
        largest = std::max(largest, at.share);
    }
    for (auto& at : profile) sum += at.share = std::exp(at.share - largest);
    for (auto& at : profile) at.share /= sum;
    return profile;
}

void require_attainable(double mean, std::int64_t most) {
    if (mean < 1 || mean > static_cast<double>(most))
        throw SpecError(fmt::format("average_degree is {}; with a largest degree of {}, 1 to {} are allowed", mean,
                                    most, most));
    array_elements("the degrees' distribution", {most}, sizeof(DegreeClass));
}

/// Classes that hardly any vertex is in cost time and change nothing.
DegreeProfile without_rare(DegreeProfile profile) {
    std::erase_if(profile, [](const DegreeClass& c) { return c.share < 1e-14; });
    return profile;
}

}  // namespace

double mean_degree(const DegreeProfile& profile) {
    double sum = 0;
    for (const auto& c : profile) sum += c.share * static_cast<double>(c.degree);
    return sum;
}

double mean_clustering(const DegreeProfile& profile) {
    double sum = 0;
    for (const auto& c : profile) sum += c.share * c.clustering;
    return sum;
}

DegreeProfile log_normal_degrees(double mean, double spread, std::int64_t most) {
    require_attainable(mean, most);
    const auto with = [&](double mu) {
        return normalised(most, [&](double d) {
            const double z = (std::log(d) - mu) / spread;
            return -z * z / 2 - std::log(d);
        });
    };
    const double reach = 30 * (1 + spread * spread);
    const double mu = where_it_is(mean, -reach, std::log(static_cast<double>(most)) + reach,
                                  [&](double x) { return mean_degree(with(x)); });
    return without_rare(with(mu));
}

DegreeProfile power_law_degrees(double mean, std::int64_t most) {
    require_attainable(mean, most);
    const auto with = [&](double exponent) {
        return normalised(most, [&](double d) { return exponent * std::log(d); });
    };
    return without_rare(with(where_it_is(mean, -50, 50, [&](double x) { return mean_degree(with(x)); })));
}

void set_clustering(DegreeProfile& profile, double mean, double largest) {
    const auto decay = [&](double xi) {
        for (auto& c : profile)
            c.clustering = c.degree < 2 ? 0 : largest * std::exp(-xi * static_cast<double>(c.degree - 1));
        return mean_clustering(profile);
    };
    if (const double most = decay(0); mean > most * (1 + 1e-9))
        throw SpecError(
            fmt::format("clustering is {}; with these degrees and max_clustering {}, at most {:.4g} is possible",
                        mean, largest, most));
    decay(-where_it_is(mean, -60, 0, [&](double x) { return decay(-x); }));
}

DegreeProfile scaled_degrees(const DegreeProfile& profile, double factor, std::int64_t most) {
    DegreeProfile all;
    for (const auto& c : profile) {
        const auto degree = std::min(most, std::lround(static_cast<double>(c.degree) * factor));
        if (all.empty() || all.back().degree != degree) all.push_back({.degree = degree});
        auto& at = all.back();
        at.clustering += c.share * (c.clustering - at.clustering) / std::max(at.share + c.share, 1e-300);
        at.share += c.share;
        if (degree < 2) at.clustering = 0;
    }
    return all;
}

std::vector<std::int32_t> degree_sequence(const DegreeProfile& profile, std::int64_t n) {
    std::vector<std::int32_t> degrees(array_elements("the vertices' degrees", {n}, sizeof(std::int32_t)));
    double up_to = 0;
    std::size_t filled = 0;
    std::int64_t sum = 0;
    for (const auto& c : profile) {
        up_to += c.share;
        const bool last = &c == &profile.back();
        const auto end =
            last ? degrees.size() : std::min(degrees.size(), usize(std::lround(up_to * static_cast<double>(n))));
        for (; filled < end; ++filled) {
            degrees[filled] = static_cast<std::int32_t>(c.degree);
            sum += c.degree;
        }
    }
    // Every edge has two ends: the first vertex of the largest degree gives one up.
    if (sum % 2 != 0) --*std::ranges::lower_bound(degrees, degrees.back());
    return degrees;
}

std::vector<double> clustering_by_degree(const DegreeProfile& profile) {
    std::vector<double> of(usize(profile.back().degree + 1));
    std::size_t at = 0;
    for (std::int64_t d = 0; d < std::ssize(of); ++d) {
        const auto distance = [&](std::size_t i) { return std::abs(profile[i].degree - d); };
        while (at + 1 < profile.size() && distance(at + 1) <= distance(at)) ++at;
        of[usize(d)] = profile[at].clustering;
    }
    return of;
}

}  // namespace gnnbench
