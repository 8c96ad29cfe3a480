#include "bounds.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <gnnbench/backend.hpp>
#include <gnnbench/caches.hpp>
#include <gnnbench/usize.hpp>

#include "exponentials.hpp"
#include "plain.hpp"

namespace gnnbench::bench {
namespace {

double best(const Options& o, const std::function<void()>& run) {
    const auto s = take_turns(o, {run});
    return *std::min_element(s[0].begin(), s[0].end());
}

double gemm_rate(const Options& o, Backend& backend) {
    constexpr std::int64_t rows = 16384, inner = 602, out = 128;
    const Matrix a = backend.matrix(rows, inner), b = backend.matrix(inner, out), c = backend.matrix(rows, out);
    backend.fill(a, 0.5);
    backend.fill(b, 0.5);
    return 2.0 * rows * inner * out / best(o, [&] { backend.gemm(Transpose::no, a, Transpose::no, b, c); });
}

double l2_rate(const Options& o, Backend& backend) {
    const std::int64_t floats = second_level_cache_bytes() / 2 / 4 / stream_step * stream_step;
    constexpr int passes = 256;
    const Matrix all = backend.matrix(o.threads, floats);
    backend.fill(all, 0.5);
    volatile double keep = 0;
    const double s =
        best(o, [&] { keep = stream_own(static_cast<const float*>(all.view().data), floats, passes, o.threads); });
    return 4.0 * static_cast<double>(floats) * passes * o.threads / s;
}

double exponential_rate(const Options& o, Backend& backend) {
    constexpr std::int64_t count = 4096, passes = 1 << 10;
    const Matrix all = backend.matrix(o.threads, count);
    backend.fill(all, -0.5);
    volatile double keep = 0;
    const double s = best(
        o, [&] { keep = exponentials(static_cast<const float*>(all.view().data), count, passes, o.threads); });
    return static_cast<double>(count * passes) * o.threads / s;
}

}  // namespace

MachineRates machine_rates(const Options& o, Backend& backend) {
    return {.gemm_flops = gemm_rate(o, backend),
            .l2_bytes = l2_rate(o, backend),
            .triad_bytes = triad_rate(o),
            .exponentials = exponential_rate(o, backend)};
}

double Bound::seconds() const { return std::max({flops_s, l2_s, memory_s, gather_s}); }

ProductBounds::ProductBounds(const MachineRates& rates, const Csr& a, const std::vector<std::int32_t>& community)
    : rates_(rates), rows_(a.rows), cols_(a.cols), nonzeros_(a.nonzeros()) {
    if (community.empty()) return;
    outside_.assign(usize(a.cols), 0);
    for (std::size_t r = 0; r < usize(a.rows); ++r)
        for (auto e = usize(a.indptr[r]); e < usize(a.indptr[r + 1]); ++e) {
            const auto c = usize(a.indices[e]);
            outside_[c] += community[c] != community[r];
        }
    std::ranges::sort(outside_, std::greater());
}

/// Nonzeros whose rows of B, `panel` columns wide, are neither in a community nor among the most used.
std::int64_t ProductBounds::gathered(std::int64_t panel) const {
    const auto fit = std::min(usize(last_level_cache_bytes() / (4 * panel)), outside_.size());
    return std::accumulate(outside_.begin() + static_cast<std::ptrdiff_t>(fit), outside_.end(), std::int64_t{0});
}

Bound ProductBounds::at(std::int64_t width) const {
    return of({.width = width, .flops = 2.0 * static_cast<double>(width), .row_columns = width});
}

Bound ProductBounds::of(const Walk& walk) const {
    const auto w = static_cast<double>(walk.width), nonzeros = static_cast<double>(nonzeros_);
    const double dense_bytes =
        4.0 * (w * static_cast<double>(cols_) + static_cast<double>(walk.row_columns * rows_));
    double gather_s = std::numeric_limits<double>::infinity();
    for (const auto& [panel, rate] : gather_bytes_)
        if (panel <= walk.width)
            gather_s = std::min(gather_s, static_cast<double>(gathered(panel)) * 4.0 * w / rate);
    return {.flops_s = nonzeros * (walk.flops / rates_.gemm_flops + walk.exponentials / rates_.exponentials),
            .l2_s = 4.0 * nonzeros * w / rates_.l2_bytes,
            .memory_s = (walk.index_bytes * nonzeros + dense_bytes) / rates_.triad_bytes,
            .gather_s = gather_s};
}

}  // namespace gnnbench::bench
