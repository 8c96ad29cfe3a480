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
    /// sum of heads; of what is added to such a sum, it is part.
    std::vector<double> take_products() { return std::exchange(products_, {}); }
    std::vector<double> take_sums() { return std::exchange(sums_, {}); }
    std::vector<double> take_head_sums() { return std::exchange(head_sums_, {}); }

private:
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
#define GNNBENCH_SIZED_VERB(V) \
    void perform(const verb::V& v) override { record(v); }
    GNNBENCH_EACH_VERB(GNNBENCH_SIZED_VERB)
#undef GNNBENCH_SIZED_VERB
    template <class Verb>
    void record(const Verb& v) {
        inner().run(v);
        for (const verb::Operand& o : v.operands())
            if (o.written) sizes_.erase(o.view.data);
        note(v);
    }
    void record(const verb::AddHeads& v);
    void record(const verb::Axpby& v);
    void note(const auto&) {}
    void note(const verb::Gemm& v);
    void note(const verb::ColumnSums& v);
    void note(const verb::HeadSums& v);
    // Factors are sums themselves, which cancel where all of a row's scores are on one side of λ's kink, or where all that it
    // attends to is alike.
    void note(const verb::Attend& v);
    void note(const verb::AttendBackward& v);
    void note(const verb::DynamicBackward& v);
    void note(const verb::HeadDots& v);
    /// Sizes of what a matrix, or runs of its rows, were summed up from; else of its elements.
    HostMatrix sizes_of(ConstMatrixView m) const;

    std::map<const PreparedMatrix*, Csr> csr_;
    std::map<const void*, HostMatrix> sizes_;  ///< by the address of the first element
    std::vector<double> products_, sums_, head_sums_;
    const void* last_head_sum_ = nullptr;  ///< where it was written
};

}  // namespace gnnbench
