#pragma once
#include <cuda_runtime_api.h>

namespace emulated {
struct Nccl;
}
using ncclComm_t = emulated::Nccl*;
enum ncclResult_t { ncclSuccess = 0, ncclSystemError = 2, ncclInvalidUsage = 5, ncclInProgress = 7 };
enum ncclDataType_t { ncclInt8, ncclFloat32, ncclFloat64 };
enum ncclRedOp_t { ncclSum, ncclMax };
struct ncclUniqueId {
    char internal[128];
};

const char* ncclGetErrorString(ncclResult_t);
const char* ncclGetLastError(ncclComm_t);
ncclResult_t ncclGetVersion(int*);
ncclResult_t ncclGetUniqueId(ncclUniqueId*);
ncclResult_t ncclCommInitRank(ncclComm_t*, int ranks, ncclUniqueId, int rank);
struct ncclConfig_t;
ncclResult_t ncclCommSplit(ncclComm_t, int color, int key, ncclComm_t*, ncclConfig_t*);
ncclResult_t ncclCommDestroy(ncclComm_t);
ncclResult_t ncclCommAbort(ncclComm_t);
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t*);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclBroadcast(const void*, void*, std::size_t, ncclDataType_t, int root, ncclComm_t, cudaStream_t);
ncclResult_t ncclReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, int root, ncclComm_t, cudaStream_t);
ncclResult_t ncclAllReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
ncclResult_t ncclAllGather(const void*, void*, std::size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
ncclResult_t ncclReduceScatter(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
ncclResult_t ncclSend(const void*, std::size_t, ncclDataType_t, int peer, ncclComm_t, cudaStream_t);
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int peer, ncclComm_t, cudaStream_t);
