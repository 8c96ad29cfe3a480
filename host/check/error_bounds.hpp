#pragma once
#include <map>
#include <memory>

#include "check/bounds.hpp"
#include "check/forwarding_backend.hpp"

namespace gnnbench {

/// The serial reference's back end for a forward pass without dropout, in float64. Beside each result it keeps how far
/// the same pass in another type may be from it, element by element, whatever the order of products and of summation.
///
/// For each matrix H it keeps E, the bound on its error, and S, the size of what it was summed up from: |H| after an
/// activation, where a layer ends. For Z = Â H W, in either order,
///     E_Z = |Â| E_H |W| + (γ_r + γ_f) |Â| S_H |W|,   r the nonzeros of a row of Â, f the rows of W.
/// A matrix that no verb wrote is input: off by a few roundings. Weights are exact, being as downloaded.
class ErrorBounds final : public ForwardingBackend {
public:
    ErrorBounds(std::unique_ptr<Backend> inner, Rounding rounding)
        : ForwardingBackend(std::move(inner)), rounding_(rounding) {}

    /// E of the last product.
    const HostMatrix& last() const { return last_; }

private:
    /// Both [rows × cols] of the matrix.
    struct Bound {
        HostMatrix error, size;
    };
    /// A product's terms before the epilogue.
    struct Terms {
        Bound sums;                 ///< |A| E_B and |A| S_B
        std::vector<double> terms;  ///< of each row: how many products it adds up
    };

    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    using ForwardingBackend::perform;
    void perform(const verb::Spmm& v) override;
    void perform(const verb::Gemm& v) override;

    Bound bound_of(ConstMatrixView m) const;
    /// Once C is computed: what `before` and the terms make of it.
    void finish(const Terms& terms, const Bound& before, MatrixView c, Scale s, const Epilogue& e);

    Rounding rounding_;
    std::map<const PreparedMatrix*, Csr> csr_;
    std::map<const void*, Bound> written_;  ///< by the address of the first element
    HostMatrix last_;
};

}  // namespace gnnbench
