#pragma once
#include <string>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <nccl.h>

namespace gnnbench::cuda {

// Each throws, naming the call and the library's own reason, unless `code` is success: OutOfMemory where memory
// ran out, CommunicationError for NCCL, EnvironmentError otherwise.
void check(cudaError_t code, const char* call);
void check(cublasStatus_t code, const char* call);
void check(cusparseStatus_t code, const char* call);
/// `comm` adds NCCL's last error for it; may be null.
void check(ncclResult_t code, const char* call, ncclComm_t comm = nullptr);

}  // namespace gnnbench::cuda
