#pragma once
#include <cstdint>

#include <gnnbench/matrix.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/verbs/attention.hpp>

namespace gnnbench {

/// λ and λ' of attention's scores (gnnbench/verbs/attention.hpp).
inline double leaky(double x, double slope) { return x > 0 ? x : slope * x; }
inline double leaky_derivative(double x, double slope) { return x > 0 ? 1 : slope; }

/// m of an entry of `a`, a block of A or, where `transposed`, of Aᵀ, and a head.
inline double kept_share(const AttentionHeads& shape, const Csr& a, std::int64_t row, std::int64_t column,
                         std::int64_t head, bool transposed = false) {
    if (!shape.dropout.active()) return 1;
    const std::int64_t i = value(a.row_vertices[usize(row)]), j = value(a.col_vertices[usize(column)]);
    const auto h = static_cast<std::uint32_t>(head);
    return transposed ? shape.dropout.kept_share(j, i, h) : shape.dropout.kept_share(i, j, h);
}

}  // namespace gnnbench
