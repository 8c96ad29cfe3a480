#include "check.hpp"

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::cuda {

void check(cudaError_t code, const char* call) {
    if (code == cudaSuccess) return;
    const std::string text =
        fmt::format("{} failed: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code));
    if (code == cudaErrorMemoryAllocation) {
        std::size_t free = 0, total = 0;
        (void)cudaGetLastError();  // not sticky: the next call must not report it again
        const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
        throw OutOfMemory(text + (known ? fmt::format("; {} of {} bytes are free", free, total) : ""));
    }
    if (code == cudaErrorNoKernelImageForDevice)
        throw EnvironmentError(text +
                               "; this build has no code for this device's architecture: build with it in "
                               "CMAKE_CUDA_ARCHITECTURES");
    throw EnvironmentError(text);
}

void check(cublasStatus_t code, const char* call) {
    if (code == CUBLAS_STATUS_SUCCESS) return;
    const std::string text = fmt::format("{} failed: {}", call, cublasGetStatusString(code));
    if (code == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory(text);
    throw EnvironmentError(text);
}

void check(cusparseStatus_t code, const char* call) {
    if (code == CUSPARSE_STATUS_SUCCESS) return;
    const std::string text = fmt::format("{} failed: {}", call, cusparseGetErrorString(code));
    if (code == CUSPARSE_STATUS_ALLOC_FAILED || code == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
        throw OutOfMemory(text);
    throw EnvironmentError(text);
}

void check(ncclResult_t code, const char* call, ncclComm_t comm) {
    if (code == ncclSuccess || code == ncclInProgress) return;
    const char* detail = ncclGetLastError(comm);
    throw CommunicationError(fmt::format("{} failed: {}{}{}", call, ncclGetErrorString(code),
                                         detail && *detail ? "; NCCL says: " : "", detail ? detail : ""));
}

}  // namespace gnnbench::cuda
