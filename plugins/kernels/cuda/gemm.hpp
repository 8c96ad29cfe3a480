#pragma once
#include <cublas_v2.h>

#include <gnnbench/backend.hpp>

namespace gnnbench::cuda {

/// Dense products by cuBLAS on one stream, in a workspace of the caller's.
class Blas {
public:
    /// tf32: float32 products may round their inputs to 10 bits of mantissa.
    Blas(cudaStream_t stream, void* workspace, std::size_t workspace_bytes, bool tf32);
    Blas(const Blas&) = delete;
    Blas& operator=(const Blas&) = delete;
    ~Blas();

    /// C = alpha · op(A) · op(B) + beta · C, row-major; no dimension is 0.
    void gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s);

private:
    cublasHandle_t handle_ = nullptr;
    bool tf32_;
};

}  // namespace gnnbench::cuda
