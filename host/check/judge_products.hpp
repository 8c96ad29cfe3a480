#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>

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

/// A back end's product, to be judged.
struct FoundProduct {
    const HostMatrix& c;
    const ProductEnds& ends;
    Rounding rounding;  ///< of the back end's type
    int threads = 1;    ///< to judge it on
};

/// C against A·B, A in compressed rows.
void judge_spmm(Judgement& judgement, const FoundProduct& found, std::span<const std::int64_t> indptr,
                std::span<const std::int32_t> indices, std::span<const double> values, const HostMatrix& b);

/// C against op(A)·op(B).
void judge_gemm(Judgement& judgement, const FoundProduct& found, Transpose ta, const HostMatrix& a, Transpose tb,
                const HostMatrix& b);

/// An element of a matrix.
struct FoundElement {
    std::int64_t row, col;
    double value;
};

/// An element whose exact value before the activation is within `bound` of x: bias is in it already.
void judge_finished(Judgement& judgement, const FoundElement& found, double x, double bound, const HostEpilogue& e,
                    const Rounding& rounding);

}  // namespace gnnbench
