#pragma once
#include <cstdint>

#include <cuda_runtime_api.h>

namespace emulated {
struct Sparse;
struct Csr;
struct Dense;
}  // namespace emulated
using cusparseHandle_t = emulated::Sparse*;
using cusparseSpMatDescr_t = emulated::Csr*;
using cusparseDnMatDescr_t = emulated::Dense*;
enum cusparseStatus_t {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
};
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_CSR_ALG2 = 6, CUSPARSE_SPMM_CSR_ALG3 = 12 };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE };
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST };
enum cusparseIndexType_t { CUSPARSE_INDEX_32I = 2 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO };
enum cusparseOrder_t { CUSPARSE_ORDER_ROW = 2 };

const char* cusparseGetErrorString(cusparseStatus_t);
cusparseStatus_t cusparseCreate(cusparseHandle_t*);
cusparseStatus_t cusparseDestroy(cusparseHandle_t);
cusparseStatus_t cusparseSetStream(cusparseHandle_t, cudaStream_t);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t, cusparsePointerMode_t);
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t*, std::int64_t rows, std::int64_t cols, std::int64_t nonzeros,
                                   void* indptr, void* indices, void* values, cusparseIndexType_t, cusparseIndexType_t,
                                   cusparseIndexBase_t, cudaDataType);
cusparseStatus_t cusparseDestroySpMat(cusparseSpMatDescr_t);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t*, std::int64_t rows, std::int64_t cols, std::int64_t ld, void* data,
                                     cudaDataType, cusparseOrder_t);
cusparseStatus_t cusparseDestroyDnMat(cusparseDnMatDescr_t);
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseSpMatDescr_t, cusparseDnMatDescr_t, const void*, cusparseDnMatDescr_t,
                                         cudaDataType, cusparseSpMMAlg_t, std::size_t*);
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseSpMatDescr_t, cusparseDnMatDescr_t, const void*, cusparseDnMatDescr_t,
                                         cudaDataType, cusparseSpMMAlg_t, void*);
cusparseStatus_t cusparseSpMM(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*, cusparseSpMatDescr_t,
                              cusparseDnMatDescr_t, const void*, cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, void*);
