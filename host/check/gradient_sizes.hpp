#pragma once
#include <utility>
#include <vector>

#include "check/forwarding_backend.hpp"

namespace gnnbench {

/// The serial reference's back end, which also records the sizes of its weight gradients' terms: a gradient Hᵀ U may
/// cancel, and then no rounding error is small relative to it, but all are relative to |H|ᵀ|U|.
class GradientSizes final : public ForwardingBackend {
public:
    explicit GradientSizes(std::unique_ptr<Backend> inner) : ForwardingBackend(std::move(inner)) {}

    /// Since they were last taken, in order: ‖|A|ᵀ|B|‖_F of each product AᵀB, and ‖Σ|g|‖ of each column sum.
    std::vector<double> take_products() { return std::exchange(products_, {}); }
    std::vector<double> take_sums() { return std::exchange(sums_, {}); }

private:
    using ForwardingBackend::perform;
    void perform(const verb::Gemm& v) override;
    void perform(const verb::ColumnSums& v) override;

    std::vector<double> products_, sums_;
};

}  // namespace gnnbench
