#include "known_degrees.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::dist {
namespace {

template <class T>
Array<T> counted_up(Backend& backend, std::int64_t count) {
    std::vector<T> numbers(usize(count));
    std::iota(numbers.begin(), numbers.end(), T{0});
    return backend.upload(std::span<const T>(numbers));
}

}  // namespace

KnownDegrees::KnownDegrees(Backend& backend, const HeldCopies& copies, std::span<const double> sums)
    : backend_(backend),
      roots_(copies.roots()),
      rows_(copies.rows()),
      indptr_(counted_up<std::int64_t>(backend, rows_ + 1)),
      indices_(counted_up<std::int32_t>(backend, rows_)) {
    add_bin(sums);
}

void KnownDegrees::state_memory(MemoryStatement& m, const HeldCopies& copies, const Algorithm& algorithm) {
    m.list<std::int64_t>(copies.rows() + 1);
    m.list<std::int32_t>(copies.rows());
    m.matrix(algorithm.exchange == Algorithm::Exchange::late ? 1 + copies.bins() : 1, copies.rows());
}

void KnownDegrees::add_bin(std::span<const double> sums) {
    std::vector<double> scales(sums.size());
    // A row without entries is 0, whatever it is divided by.
    std::ranges::transform(sums, scales.begin(), [](double sum) { return sum > 0 ? 1 / sum : 0; });
    scales_.push_back(backend_.matrix(1, rows_));
    backend_.upload(std::span<const double>(scales), scales_.back());
}

void KnownDegrees::use(int at_roots, int at_copies) {
    at_roots_ = at_roots;
    at_copies_ = at_copies;
}

void KnownDegrees::divide(ConstMatrixView from, MatrixView to) {
    const std::int64_t copies = rows_ - roots_;
    backend_.spmm(diagonal(at_roots_, 0, roots_), from.rows_from(0, roots_), to.rows_from(0, roots_));
    backend_.spmm(diagonal(at_copies_, roots_, copies), from.rows_from(roots_, copies),
                  to.rows_from(roots_, copies));
}

CsrView KnownDegrees::diagonal(int bin, std::int64_t first, std::int64_t rows) const {
    const MatrixView scales = scales_[usize(1 + bin)].view().cols_from(first, rows);
    return {indptr_.data(), indices_.data(), scales.data, rows, rows, rows};
}

std::vector<double> row_sums(const Csr& entries) {
    std::vector<double> sums(usize(entries.rows));
    for (std::size_t r = 0; r < sums.size(); ++r)
        sums[r] = std::accumulate(entries.values.begin() + entries.indptr[r],
                                  entries.values.begin() + entries.indptr[r + 1], 0.0);
    return sums;
}

void require_no_negative_weight(const GraphView& graph) {
    const auto found = std::ranges::find_if(graph.weights, [](float w) { return w < 0; });
    if (found == graph.weights.end()) return;
    const auto row =
        std::ranges::upper_bound(graph.indptr, found - graph.weights.begin()) - graph.indptr.begin() - 1;
    throw Unsupported(
        fmt::format("degrees: known divides by the weights of a part of a row, which takes weights of 0 "
                    "or more; row {} of the graph has one of {}; degrees: whole takes them",
                    row, *found));
}

}  // namespace gnnbench::dist
