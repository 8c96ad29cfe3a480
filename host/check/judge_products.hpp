#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/kernel.hpp>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"
#include "check/ledger.hpp"

namespace gnnbench {

/// A product's other inputs: C before it (empty if β is 0), α and β, the epilogue.
struct ProductEnds {
    HostMatrix before;
    Scale scale;
    HostEpilogue epilogue;
};

/// C against A·B, A in compressed rows. `found` is the kernel's C.
void judge_spmm(Judgement& judgement, std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                std::span<const double> values, const HostMatrix& b, const HostMatrix& found,
                const ProductEnds& ends, const Rounding& rounding);

/// C against op(A)·op(B).
void judge_gemm(Judgement& judgement, Transpose ta, const HostMatrix& a, Transpose tb, const HostMatrix& b,
                const HostMatrix& found, const ProductEnds& ends, const Rounding& rounding);

/// An element whose exact value before the activation is within `bound` of x: bias is in it already.
void judge_finished(Judgement& judgement, std::int64_t row, std::int64_t col, double found, double x, double bound,
                    const HostEpilogue& e, const Rounding& rounding);

}  // namespace gnnbench
