#include "check/gradient_sizes.hpp"

#include <algorithm>
#include <cmath>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/host_copy.hpp"
#include "check/judge_dynamic_attention.hpp"
#include "check/leaky_scores.hpp"
#include "check/product_blocks.hpp"
#include "check/widest_vectors.hpp"

namespace gnnbench {
namespace {

double norm(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

/// |H|ᵀ|U|, [H's columns, U's columns].
GNNBENCH_WIDEST_VECTORS
std::vector<double> sizes_of_product(const HostMatrix& h, const HostMatrix& u) {
    std::vector<double> sums(usize(h.cols * u.cols)), sizes(sums.size());
    over_product(LeftFactor::of(h, true), u, 0, h.cols, sums.data(), sizes.data(),
                 [](double product, double&, double& size) { size += std::abs(product); });
    return sizes;
}

}  // namespace

void GradientSizes::note(const verb::Gemm& v) {
    if (v.ta == Transpose::no || v.tb == Transpose::yes) return;
    const HostMatrix h = read_view(inner(), v.a), u = sizes_of(v.b);
    products_.push_back(norm(sizes_of_product(h, u)));
}

void GradientSizes::record(const verb::AddHeads& v) {
    HostMatrix sizes = sizes_of(v.y);
    const HostMatrix s = sizes_of(v.s), a = read_view(inner(), v.a);
    for (std::int64_t r = 0; r < sizes.rows; ++r)
        for (std::int64_t c = 0; c < sizes.cols; ++c) sizes(r, c) += s(r, c % s.cols) * std::abs(a(0, c));
    inner().run(v);
    sizes_[v.y.data] = std::move(sizes);
}

void GradientSizes::record(const verb::Axpby& v) {
    HostMatrix sizes = sizes_of(v.x);
    for (double& x : sizes.values) x *= std::abs(v.alpha);
    if (v.beta != 0) {
        const HostMatrix before = sizes_of(v.y);
        for (std::size_t i = 0; i < sizes.values.size(); ++i)
            sizes.values[i] += std::abs(v.beta) * before.values[i];
    }
    inner().run(v);
    if (v.x.data == last_head_sum_ && v.beta != 0) {  // two sums are one gradient
        head_sums_.pop_back();
        head_sums_.back() = norm(sizes.values);
    }
    sizes_[v.y.data] = std::move(sizes);
}

void GradientSizes::note(const verb::ColumnSums& v) {
    const HostMatrix terms = read_view(inner(), v.g);
    std::vector<double> sizes(usize(terms.cols));
    for (std::int64_t r = 0; r < terms.rows; ++r)
        for (std::int64_t c = 0; c < terms.cols; ++c) sizes[usize(c)] += std::abs(terms(r, c));
    sums_.push_back(norm(sizes));
}

std::unique_ptr<PreparedMatrix> GradientSizes::do_prepare(const Csr& a, TransposedProducts t) {
    auto prepared = inner().prepare(a, t);
    csr_[prepared.get()] = a;
    return prepared;
}

std::unique_ptr<PreparedMatrix> GradientSizes::do_refer(const CsrView& a) {
    auto referred = inner().refer(a);
    csr_[referred.get()] = read_csr(inner(), a);
    return referred;
}

HostMatrix GradientSizes::sizes_of(ConstMatrixView m) const {
    HostMatrix sizes = read_view(inner(), m);
    for (double& x : sizes.values) x = std::abs(x);
    for (std::int64_t r = 0; r < m.rows && !sizes_.empty();) {
        const auto known = sizes_.find(m.rows_from(r, 1).data);
        const bool fits = known != sizes_.end() && known->second.cols == m.cols && known->second.rows > 0 &&
                          known->second.rows <= m.rows - r;
        if (fits) std::ranges::copy(known->second.values, sizes.values.begin() + r * m.cols);
        r += fits ? known->second.rows : 1;
    }
    return sizes;
}

/// Of P: Σ_j m α λ' |h_j| + q |Z|, Σ_j α λ' being q.
void GradientSizes::note(const verb::Attend& v) {
    if (!v.stage.last || v.rows.slopes.cols == 0) return;
    const Csr& a = csr_.at(&v.a);
    const HostMatrix b = read_view(inner(), v.b), l = read_view(inner(), v.l), z = read_view(inner(), v.rows.z),
                     log_sums = read_view(inner(), v.rows.maxima);
    const std::int64_t heads = v.shape.heads, w = z.cols;
    HostMatrix sizes(z.rows, w);
    for (std::int64_t r = 0; r < z.rows; ++r)
        for (auto k = usize(a.indptr[usize(r)]); k < usize(a.indptr[usize(r) + 1]); ++k)
            for (std::int64_t h = 0; h < heads; ++h) {
                const std::int64_t j = a.indices[k];
                const double argument = l(r, h) + b(j, w + h);
                const double weight = a.values[k] * std::exp(leaky(argument, v.shape.slope) - log_sums(r, h)) *
                                      leaky_derivative(argument, v.shape.slope);
                const double m = kept_share(v.shape, a, r, j, h);
                for (std::int64_t c = h; c < w; c += heads)
                    sizes(r, c) += weight * (m * std::abs(b(j, c)) + std::abs(z(r, c)));
            }
    sizes_[v.rows.slopes.data] = std::move(sizes);
}

/// Of dr: Σ_i α λ' (m Σ |G h| + |D|).
void GradientSizes::note(const verb::AttendBackward& v) {
    const Csr& a = csr_.at(&v.a);
    const HostMatrix b = read_view(inner(), v.b), own = read_view(inner(), v.own);
    const std::int64_t heads = v.shape.heads, w = own.cols - heads;
    HostMatrix sizes(own.rows, heads);
    for (std::int64_t j = 0; j < own.rows; ++j)
        for (auto k = usize(a.indptr[usize(j)]); k < usize(a.indptr[usize(j) + 1]); ++k)
            for (std::int64_t h = 0; h < heads; ++h) {
                const std::int64_t i = a.indices[k];
                const double argument = b(i, w + h) + own(j, w + h);
                double size = std::abs(b(i, w + 2 * heads + h));
                const double m = kept_share(v.shape, a, j, i, h, true);
                for (std::int64_t c = h; c < w; c += heads) size += m * std::abs(b(i, c) * own(j, c));
                sizes(j, h) += size * a.values[k] *
                               std::exp(leaky(argument, v.shape.slope) - b(i, w + heads + h)) *
                               leaky_derivative(argument, v.shape.slope);
            }
    sizes_[v.c.cols_from(w, heads).data] = std::move(sizes);
}

/// Of u and v: Σ α λ' (m Σ |G t| + |D|).
void GradientSizes::note(const verb::DynamicBackward& v) {
    const Csr& a = csr_.at(&v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     own = read_view(inner(), v.own);
    const DynamicEntries entries(v, a, vector, b, own);
    HostMatrix sizes(v.slopes.rows, v.slopes.cols);
    for (std::int64_t r = 0; r < sizes.rows; ++r)
        for (auto k = usize(a.indptr[usize(r)]); k < usize(a.indptr[usize(r) + 1]); ++k)
            for (std::int64_t h = 0; h < v.shape.heads; ++h) {
                const DynamicEntry e = entries.entry(r, k, h);
                for (std::int64_t c = h; c < sizes.cols; c += v.shape.heads)
                    sizes(r, c) += e.alpha * (e.kept * e.dot_size + std::abs(e.given)) *
                                   entries.derivative(r, a.indices[k], c);
            }
    sizes_[v.slopes.data] = std::move(sizes);
}

void GradientSizes::note(const verb::HeadDots& v) {
    const HostMatrix x = sizes_of(v.x), y = sizes_of(v.y);
    HostMatrix sizes(v.out.rows, v.out.cols);
    for (std::int64_t r = 0; r < sizes.rows; ++r)
        for (std::int64_t c = 0; c < x.cols; ++c) sizes(r, c % sizes.cols) += x(r, c) * y(y.rows == 1 ? 0 : r, c);
    sizes_[v.out.data] = std::move(sizes);
}

void GradientSizes::note(const verb::HeadSums& v) {
    const HostMatrix s = sizes_of(v.s), x = read_view(inner(), v.x);
    std::vector<double> sizes(usize(x.cols));
    for (std::int64_t r = 0; r < x.rows; ++r)
        for (std::int64_t c = 0; c < x.cols; ++c) sizes[usize(c)] += std::abs(s(r, c % s.cols) * x(r, c));
    head_sums_.push_back(norm(sizes));
    last_head_sum_ = v.out.data;
    HostMatrix& of_sum = sizes_[last_head_sum_];
    of_sum = HostMatrix(1, x.cols);
    of_sum.values = std::move(sizes);
}

}  // namespace gnnbench
