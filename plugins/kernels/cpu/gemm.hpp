#pragma once
#include <gnnbench/backend.hpp>

#include "row_operations.hpp"
#include "workspace.hpp"

namespace gnnbench::cpu {

/// C = alpha · op(A) · op(B) + beta · C, then the epilogue.
template <class T>
struct GemmCall {
    Transpose ta = Transpose::no;
    ConstMatrixView a;
    Transpose tb = Transpose::no;
    ConstMatrixView b;
    MatrixView c;
    T alpha, beta;
    FlatEpilogue<T> epilogue;
};
template <class T>
void gemm(const GemmCall<T>& g, int threads, Workspace& workspace);
template <>
void gemm(const GemmCall<float>& g, int threads, Workspace& workspace);
template <>
void gemm(const GemmCall<double>& g, int threads, Workspace& workspace);

}  // namespace gnnbench::cpu
