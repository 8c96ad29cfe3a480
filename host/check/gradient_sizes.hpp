#pragma once
#include <map>
#include <utility>
#include <vector>

#include "check/forwarding_backend.hpp"

namespace gnnbench {

/// The serial reference's back end, which also records the sizes of its weight gradients' terms: a gradient Hᵀ U may
/// cancel, and then no rounding error is small relative to it, but all are relative to |H|ᵀ|U|.
class GradientSizes final : public ForwardingBackend {
public:
    explicit GradientSizes(std::unique_ptr<Backend> inner) : ForwardingBackend(std::move(inner)) {}

    /// Since they were last taken, in order: ‖|A|ᵀ|B|‖_F of each product AᵀB, ‖Σ|g|‖ of each column sum, ‖Σ|s x|‖ of each
    /// sum of heads.
    std::vector<double> take_products() { return std::exchange(products_, {}); }
    std::vector<double> take_sums() { return std::exchange(sums_, {}); }
    std::vector<double> take_head_sums() { return std::exchange(head_sums_, {}); }

private:
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    using ForwardingBackend::perform;
    void perform(const verb::Gemm& v) override;
    void perform(const verb::ColumnSums& v) override;
    void perform(const verb::HeadSums& v) override;
    // The factors of those sums are sums themselves, which cancel where all of a row's scores are on one side of λ's kink.
    void perform(const verb::Attend& v) override;
    void perform(const verb::AttendBackward& v) override;
    void perform(const verb::HeadDots& v) override;
    /// Sizes of what a matrix was summed up from, or of its elements.
    HostMatrix sizes_of(ConstMatrixView m) const;

    std::map<const PreparedMatrix*, Csr> csr_;
    std::map<const void*, HostMatrix> sizes_;  ///< by the address of the first element
    std::vector<double> products_, sums_, head_sums_;
};

}  // namespace gnnbench
