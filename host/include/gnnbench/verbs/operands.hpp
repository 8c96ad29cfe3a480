#pragma once
#include <array>
#include <cstdint>

#include <gnnbench/matrix.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/trace.hpp>

/// What several verbs take.

namespace gnnbench {

enum class Transpose : std::uint8_t { no, yes };

/// Applied to each element of a complete product: + bias[column], σ, dropout, in this order.
struct Epilogue {
    const void* bias = nullptr;  ///< length cols, device, back end's dtype; or none
    Activation activation = Activation::identity;
    DropoutMask dropout;                    ///< inactive at rate 0
    const std::int64_t* row_ids = nullptr;  ///< length rows, device: original ids, for dropout

    bool empty() const { return !bias && activation == Activation::identity && !dropout.active(); }
};

/// C = alpha · A · B + beta · C. beta 0 never reads C.
struct Scale {
    double alpha = 1, beta = 0;
};

namespace verb {

/// A matrix that a verb reads, or writes.
struct Operand {
    ConstMatrixView view;
    bool written = false;
};
inline Operand reads(ConstMatrixView m) { return {m, false}; }
inline Operand writes(ConstMatrixView m) { return {m, true}; }

/// Throws LogicError that names the verb.
void require_same_shape(const char* verb, ConstMatrixView a, ConstMatrixView b);

}  // namespace verb
}  // namespace gnnbench
