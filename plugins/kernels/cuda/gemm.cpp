#include "gemm.hpp"

#include <exception>
#include <limits>

#include <fmt/format.h>

#include "check.hpp"

namespace gnnbench::cuda {
namespace {

int narrow(std::int64_t n) {
    if (n > std::numeric_limits<int>::max())
        throw EnvironmentError(fmt::format("cuBLAS supports dimensions up to {}; a product here has one of {}",
                                           std::numeric_limits<int>::max(), n));
    return static_cast<int>(n);
}

cublasOperation_t op(Transpose t) { return t == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T; }

}  // namespace

Blas::Blas(cudaStream_t stream, void* workspace, std::size_t workspace_bytes, bool tf32) : tf32_(tf32) {
    check(cublasCreate(&handle_), "cublasCreate");
    // The stream first: setting it resets the workspace.
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    check(cublasSetWorkspace(handle_, workspace, workspace_bytes), "cublasSetWorkspace");
    check(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
}

Blas::~Blas() {
    // It waits for the device, which after a failure may wait for peers that never arrive.
    if (handle_ && std::uncaught_exceptions() == 0) (void)cublasDestroy(handle_);
}

void Blas::gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s) {
    // A row-major [m × n] is a column-major [n × m] of the same ld: Cᵀ = op(B)ᵀ · op(A)ᵀ, and a transposition
    // asked for in rows is one in columns.
    const int m = narrow(c.rows), n = narrow(c.cols), k = narrow(ta == Transpose::no ? a.cols : a.rows);
    const int lda = narrow(a.ld), ldb = narrow(b.ld), ldc = narrow(c.ld);
    const bool f32 = c.dtype == DType::f32;
    const float alpha_32 = static_cast<float>(s.alpha), beta_32 = static_cast<float>(s.beta);
    const cudaDataType_t type = f32 ? CUDA_R_32F : CUDA_R_64F;
    const cublasComputeType_t compute =
        !f32 ? CUBLAS_COMPUTE_64F : (tf32_ ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
    const void* alpha = f32 ? static_cast<const void*>(&alpha_32) : &s.alpha;
    const void* beta = f32 ? static_cast<const void*>(&beta_32) : &s.beta;
    check(cublasGemmEx(handle_, op(tb), op(ta), n, m, k, alpha, b.data, type, ldb, a.data, type, lda, beta, c.data,
                       type, ldc, compute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
}

}  // namespace gnnbench::cuda
