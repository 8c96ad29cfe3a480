#include <gnnbench/simulation/uneven_parts.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <gnnbench/sized_order.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

using Amounts = std::vector<double>;

double sum_of(const Amounts& a) { return std::reduce(a.begin(), a.end(), 0.0); }
double largest_share(Part parts, double a) {
    double sum = 0;
    for (Part k = 0; k < parts; ++k) sum += std::pow(k + 1, -a);
    return 1 / sum;
}

/// The factor g with Σ min(limit, g · wanted) = sum; if the limits allow less, infinity, and without limits that bind,
/// sum ÷ Σ wanted.
double factor_to(double sum, const Amounts& wanted, const Amounts& limits) {
    std::vector<char> full(wanted.size());
    for (;;) {
        double left = sum, open = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            left -= full[i] ? limits[i] : 0;
            open += full[i] ? 0 : wanted[i];
        }
        if (open <= 0) return left > 0 ? std::numeric_limits<double>::infinity() : 1;
        const double factor = left / open;
        bool more = false;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (!full[i] && factor * wanted[i] > limits[i]) full[i] = more = true;
        if (!more) return factor;
    }
}

/// min(limit, factor · wanted), by the factor that makes their sum `sum`, or all limits if those allow less.
Amounts filled(const Amounts& wanted, const Amounts& limits, double sum) {
    const double factor = factor_to(sum, wanted, limits);
    Amounts amounts = limits;
    if (std::isfinite(factor))
        for (std::size_t i = 0; i < wanted.size(); ++i) amounts[i] = std::min(limits[i], factor * wanted[i]);
    return amounts;
}

IndexMap uneven_index(std::int64_t vertices, Part parts, double imbalance) {
    if (imbalance <= 1) return sized_parts(vertices, parts);
    std::vector<std::int64_t> offsets{0};
    double sum = 0;
    for (const double share : uneven_shares(parts, imbalance)) {
        sum += share;
        offsets.push_back(std::min<std::int64_t>(vertices, std::llround(sum * static_cast<double>(vertices))));
    }
    offsets.back() = vertices;
    auto order = std::make_shared<const SizedOrder>(SizedOrder{offsets});
    return sized_map(std::move(offsets), std::move(order));
}

}  // namespace

std::vector<double> uneven_shares(Part parts, double imbalance) {
    const double target = std::min(imbalance, static_cast<double>(parts)) / parts;
    double low = 0, high = 64;  // the second of two parts has then 2^-64 of the first
    if (imbalance <= 1) high = 0;
    for (int i = 0; i < 100 && low < high; ++i) {
        const double a = (low + high) / 2;
        (largest_share(parts, a) < target ? low : high) = a;
    }
    Amounts shares;
    for (Part k = 0; k < parts; ++k) shares.push_back(largest_share(parts, high) * std::pow(k + 1, -high));
    return shares;
}

UnevenParts::UnevenParts(const Told& told, Part parts)
    : index_(uneven_index(told.vertices, parts, told.imbalance.vertices)) {
    place_entries(told);
    place_halo(told);
}

double UnevenParts::entries(Part p, Part q) const {
    if (p == q) return own_[usize(p)];
    return std::min(vertices(p) * vertices(q), weight_[usize(p)] * weight_[usize(q)]);
}

double UnevenParts::cut_of(Part p) const {
    double sum = 0;
    for (Part q = 0; q < parts(); ++q) sum += q == p ? 0 : entries(p, q);
    return sum;
}

double UnevenParts::entries_of(Part p) const { return own_[usize(p)] + cut_of(p); }

double UnevenParts::most_needed(Part i, Part j) const { return i == j ? 0 : std::min(vertices(j), entries(i, j)); }

double UnevenParts::needed(Part i, Part j) const {
    return std::min(most_needed(i, j), asks_[usize(i)] * offers_[usize(j)]);
}

double UnevenParts::needed_of(Part i) const {
    double sum = 0;
    for (Part j = 0; j < parts(); ++j) sum += needed(i, j);
    return sum;
}

/// First a part's entries in all, then those in its own block, then the cut ones block by block. The own blocks take up
/// what the blocks between parts cannot hold or cannot lack.
void UnevenParts::place_entries(const Told& told) {
    const double n = static_cast<double>(told.vertices);
    const Amounts shares = uneven_shares(parts(), told.imbalance.nonzeros);
    Amounts of_part, most, most_own, cut;
    for (Part p = 0; p < parts(); ++p) {
        const double rows = vertices(p);
        of_part.push_back(std::max(0.0, (told.entries + n) * shares[usize(p)] - rows));
        most.push_back(rows * (n - 1));
        most_own.push_back(rows * std::max(0.0, rows - 1));
    }
    of_part = filled(of_part, most, told.entries);
    Amounts limits;
    for (Part p = 0; p < parts(); ++p) limits.push_back(std::min(most_own[usize(p)], of_part[usize(p)]));
    own_ = filled(of_part, limits, told.inside * told.entries);
    const double all_cut = told.entries - sum_of(own_);
    for (Part p = 0; p < parts(); ++p) {
        cut.push_back(of_part[usize(p)] - own_[usize(p)]);
        // Each of these entries has another in the others' rows.
        limits[usize(p)] = std::min(all_cut / 2, vertices(p) * (n - vertices(p)));
    }
    fit_cut(filled(cut, limits, all_cut));
    double placed = 0;
    for (Part p = 0; p < parts(); ++p) {
        const double found = cut_of(p);
        placed += found;
        own_[usize(p)] = std::max(0.0, of_part[usize(p)] - found);
    }
    own_ = filled(own_, most_own, told.entries - placed);
}

/// Iterative proportional fitting of a symmetric matrix to its row sums, by square roots, as both of a block's weights
/// change. Row sums that no such matrix has are met as far as 200 steps come; what all add up to is met by one factor.
void UnevenParts::fit_cut(const Amounts& cut) {
    const double all = sum_of(cut);
    weight_.assign(usize(parts()), 0);
    if (all <= 0) return;
    for (Part p = 0; p < parts(); ++p) weight_[usize(p)] = cut[usize(p)] / std::sqrt(all);
    for (int step = 0; step < 200; ++step) {
        double wrong = 0;
        Amounts found;
        for (Part p = 0; p < parts(); ++p) found.push_back(cut_of(p));
        for (std::size_t p = 0; p < cut.size(); ++p) {
            if (found[p] <= 0) continue;
            weight_[p] *= std::sqrt(cut[p] / found[p]);
            wrong = std::max(wrong, std::abs(found[p] - cut[p]));
        }
        if (wrong <= 1e-12 * all) break;
    }
    for (int step = 0; step < 100; ++step) {
        double sum = 0;
        for (Part p = 0; p < parts(); ++p) sum += cut_of(p);
        if (std::abs(sum - all) <= 1e-12 * all) break;
        for (double& w : weight_) w *= std::sqrt(all / sum);
    }
}

void UnevenParts::place_halo(const Told& told) {
    Amounts wanted = uneven_shares(parts(), told.imbalance.halo), most;
    for (Part i = 0; i < parts(); ++i) {
        double sum = 0;
        for (Part j = 0; j < parts(); ++j) sum += most_needed(i, j);
        most.push_back(sum);
    }
    offers_ = filled(wanted, most, told.halo);
    for (Part i = 0; i < parts(); ++i) {
        Amounts offered = offers_, limits;
        offered[usize(i)] = 0;
        for (Part j = 0; j < parts(); ++j) limits.push_back(most_needed(i, j));
        asks_.push_back(std::min(1e30, factor_to(offers_[usize(i)], offered, limits)));
    }
}

PartImbalance UnevenParts::imbalance() const {
    PartImbalance largest{.vertices = 0, .nonzeros = 0, .halo = 0};
    double nonzeros = 0, halo = 0;
    for (Part p = 0; p < parts(); ++p) {
        const double z = entries_of(p) + vertices(p), h = needed_of(p);
        nonzeros += z;
        halo += h;
        largest.vertices = std::max(largest.vertices, vertices(p));
        largest.nonzeros = std::max(largest.nonzeros, z);
        largest.halo = std::max(largest.halo, h);
    }
    const auto over_mean = [&](double most, double sum) { return sum > 0 ? most * parts() / sum : 1; };
    return {.vertices = over_mean(largest.vertices, static_cast<double>(index_.vertices())),
            .nonzeros = over_mean(largest.nonzeros, nonzeros),
            .halo = over_mean(largest.halo, halo)};
}

}  // namespace gnnbench
