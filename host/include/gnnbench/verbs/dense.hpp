#pragma once
#include <gnnbench/verbs/operands.hpp>

/// Dense × dense products.

namespace gnnbench {
namespace verb {

struct Gemm {
    Transpose ta;
    ConstMatrixView a;
    Transpose tb;
    ConstMatrixView b;
    MatrixView c;
    Scale s = {};
    Epilogue e = {};

    static constexpr Phase phase = Phase::gemm;
    const char* operation() const { return "gemm"; }
    void check() const;
    bool empty() const { return c.empty(); }
    auto operands() const { return std::array{reads(a), reads(b), writes(c)}; }
    std::int64_t inner() const { return ta == Transpose::no ? a.cols : a.rows; }
};

}  // namespace verb

#define GNNBENCH_DENSE_VERBS(X) X(Gemm)

template <class B>
class DenseVerbs {
    friend B;
    DenseVerbs() = default;

public:
    /// C [m × n] from op(A) [m × k], op(B) [k × n].
    void gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s = {},
              const Epilogue& e = {}) {
        static_cast<B&>(*this).run(verb::Gemm{ta, a, tb, b, c, s, e});
    }
};

}  // namespace gnnbench
