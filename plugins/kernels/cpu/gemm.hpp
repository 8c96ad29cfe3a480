#pragma once
#include <gnnbench/kernel.hpp>

#include "row_operations.hpp"
#include "workspace.hpp"

namespace gnnbench::cpu {

/// C = alpha · op(A) · op(B) + beta · C, then the epilogue.
struct GemmCall {
    Transpose ta = Transpose::no;
    ConstMatrixView a;
    Transpose tb = Transpose::no;
    ConstMatrixView b;
    MatrixView c;
    float alpha = 1, beta = 0;
    FlatEpilogue epilogue;
};
void gemm(const GemmCall& g, int threads, Workspace& workspace);

}  // namespace gnnbench::cpu
