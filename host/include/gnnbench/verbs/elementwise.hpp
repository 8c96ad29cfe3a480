#pragma once
#include <gnnbench/verbs/operands.hpp>

/// Activation, dropout, bias: phase `activation`.

namespace gnnbench {
namespace verb {

/// In place, the end of a product; out of place, dropout of an input that is kept.
struct Apply {
    Epilogue e;
    ConstMatrixView x;
    MatrixView z;

    static constexpr Phase phase = Phase::activation;
    bool in_place() const { return x.data == z.data; }
    const char* operation() const { return in_place() ? "activation" : "dropout"; }
    void check() const { require_same_shape(operation(), x, z); }
    bool empty() const { return z.empty() || (in_place() && e.empty()); }
    auto operands() const { return std::array{reads(x), writes(z)}; }
};

struct ApplyBackward {
    Epilogue e;
    ConstMatrixView h, dh;
    MatrixView dz;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "activation-backward"; }
    void check() const {
        require_same_shape("apply_backward", h, dh), require_same_shape("apply_backward", h, dz);
    }
    bool empty() const { return h.empty(); }
    auto operands() const { return std::array{reads(h), reads(dh), writes(dz)}; }
};

struct ColumnSums {
    ConstMatrixView g;
    MatrixView out;

    static constexpr Phase phase = Phase::activation;
    const char* operation() const { return "column-sums"; }
    void check() const;
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(g), writes(out)}; }
};

}  // namespace verb

#define GNNBENCH_ELEMENTWISE_VERBS(X) X(Apply) X(ApplyBackward) X(ColumnSums)

template <class B>
class ElementwiseVerbs {
    friend B;
    ElementwiseVerbs() = default;

public:
    /// z ← epilogue(z), in place.
    void apply(const Epilogue& e, MatrixView z) { static_cast<B&>(*this).run(verb::Apply{e, z, z}); }
    /// out ← dropout(x) (out of place: x is an input that is kept).
    void dropout(const Epilogue& e, ConstMatrixView x, MatrixView out) {
        static_cast<B&>(*this).run(verb::Apply{e, x, out});
    }
    /// dz ← dh ∘ σ'(z) ∘ mask · scale, from h = epilogue(z) itself; dz may alias dh or h.
    void apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) {
        static_cast<B&>(*this).run(verb::ApplyBackward{e, h, dh, dz});
    }
    /// out [1 × cols] ← column sums of g: a bias gradient.
    void column_sums(ConstMatrixView g, MatrixView out) { static_cast<B&>(*this).run(verb::ColumnSums{g, out}); }
};

}  // namespace gnnbench
