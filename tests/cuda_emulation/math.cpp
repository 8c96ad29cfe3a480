// cuBLAS and cuSPARSE as their manuals say: column-major dense products, row-major sparse ones; plain loops, whose sums are in
// the type that the libraries compute in, so that tests' tolerances are tried as on a device.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <cublas_v2.h>
#include <cusparse.h>

#include "emulated.hpp"

namespace emulated {

struct Blas {
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
};
struct Sparse {
    cudaStream_t stream = nullptr;
};
struct Dense {
    std::int64_t rows, cols, ld;
    void* data;
    cudaDataType type;
};
/// What a preparation may rely on in a product: its algorithm, and shape, rows and alignment of B and C.
struct Prepared {
    cusparseSpMMAlg_t algorithm;
    std::array<std::int64_t, 5> b, c;
    bool operator==(const Prepared&) const = default;
};
struct Csr {
    std::int64_t rows, cols, nonzeros;
    const std::int32_t *indptr, *indices;
    const void* values;
    cudaDataType type;
    void* active = nullptr;  ///< the buffer of the last preparation, which is for
    Prepared prepared = {};
};

namespace {

constexpr char prepared_mark[] = "prepared";
constexpr std::size_t buffer_bytes = 1000;

std::size_t bytes_of(cudaDataType type) { return type == CUDA_R_32F ? 4 : 8; }

/// `count` runs of `length` elements that begin `ld` apart: an operand, or a result.
void each_run(std::int64_t count, std::int64_t length, const void* data, std::int64_t ld, cudaDataType type,
              void (*access)(const void*, std::size_t)) {
    const std::size_t element = bytes_of(type);
    for (std::int64_t i = 0; i < count; ++i)
        access(static_cast<const char*>(data) + static_cast<std::size_t>(i * ld) * element,
               static_cast<std::size_t>(length) * element);
}

/// What a product C ← A B + beta C touches.
void touch(const Csr& a, const Dense& b, const Dense& c, bool adds, const void* buffer) {
    reads(a.indptr, static_cast<std::size_t>(a.rows + 1) * 4);
    reads(a.indices, static_cast<std::size_t>(a.nonzeros) * 4);
    reads(a.values, static_cast<std::size_t>(a.nonzeros) * bytes_of(a.type));
    each_run(b.rows, b.cols, b.data, b.ld, b.type, reads);
    if (adds) each_run(c.rows, c.cols, c.data, c.ld, c.type, reads);
    each_run(c.rows, c.cols, c.data, c.ld, c.type, writes);
    writes(buffer, buffer_bytes);
}

Prepared as_in(cusparseSpMMAlg_t algorithm, const Dense& b, const Dense& c) {
    const auto of = [](const Dense& m) {
        return std::array<std::int64_t, 5>{
            m.rows, m.cols, m.ld, m.type,
            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(m.data) % 16)};
    };
    return {algorithm, of(b), of(c)};
}

/// Makes one algorithm the fastest by far, so that a test knows which a trial chooses.
void take_time(cusparseSpMMAlg_t algorithm) {
    const char* fastest = std::getenv("GNNBENCH_EMULATED_FASTEST_SPMM");
    if (fastest && std::atoi(fastest) != algorithm) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// The nearest number of TF32, which has ten of float32's 23 binary digits; of two, the even one.
float to_tf32(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (!std::isfinite(x)) return x;
    return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~std::uint32_t{0x1fff});
}
double to_tf32(double x) { return x; }

/// C [m × n] = alpha op(A) [m × k] op(B) [k × n] + beta C, column-major.
template <class T>
void gemm(bool ta, bool tb, bool tf32, int m, int n, int k, T alpha, const T* a, std::int64_t lda, const T* b,
          std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    const auto input = [tf32](T x) { return tf32 ? to_tf32(x) : x; };
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
            T sum = 0;
            for (std::int64_t l = 0; l < k; ++l)
                sum += input(ta ? a[l + i * lda] : a[i + l * lda]) * input(tb ? b[j + l * ldb] : b[l + j * ldb]);
            T& to = c[i + j * ldc];
            to = alpha * sum + (beta == 0 ? 0 : beta * to);
        }
}

template <class T>
void spmm(const Csr& a, const Dense& b, const Dense& c, T alpha, T beta) {
    const auto *values = static_cast<const T*>(a.values), *x = static_cast<const T*>(b.data);
    auto* y = static_cast<T*>(c.data);
    for (std::int64_t r = 0; r < a.rows; ++r)
        for (std::int64_t j = 0; j < c.cols; ++j) {
            T sum = 0;
            for (std::int32_t p = a.indptr[r]; p < a.indptr[r + 1]; ++p)
                sum += values[p] * x[a.indices[p] * b.ld + j];
            T& to = y[r * c.ld + j];
            to = alpha * sum + (beta == 0 ? 0 : beta * to);
        }
}

/// Shapes and types. The plugin asks for no product by a transpose, which cuSPARSE's first algorithm alone would take.
bool fit(cusparseOperation_t of_a, const Csr& a, const Dense& b, const Dense& c) {
    return of_a == CUSPARSE_OPERATION_NON_TRANSPOSE && a.cols == b.rows && a.rows == c.rows && b.cols == c.cols &&
           a.type == b.type && b.type == c.type;
}

}  // namespace
}  // namespace emulated

const char* cublasGetStatusString(cublasStatus_t s) {
    return s == CUBLAS_STATUS_INVALID_VALUE ? "invalid value" : "emulated status";
}
cublasStatus_t cublasCreate(cublasHandle_t* h) {
    *h = new emulated::Blas;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t h) {
    delete h;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t s) {
    h->stream = s;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t h, void* workspace, std::size_t bytes) {
    h->workspace = bytes > 0 ? workspace : nullptr;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType at, int lda, const void* b,
                            cudaDataType bt, int ldb, const void* beta, void* c, cudaDataType ct, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    const bool a_t = ta == CUBLAS_OP_T, b_t = tb == CUBLAS_OP_T;
    if (m < 1 || n < 1 || k < 1 || lda < (a_t ? k : m) || ldb < (b_t ? n : k) || ldc < m || at != bt || bt != ct ||
        (ct == CUDA_R_64F) != (compute == CUBLAS_COMPUTE_64F))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (emulated::fails("cublasGemmEx")) return CUBLAS_STATUS_ALLOC_FAILED;
    const auto run = [&]<class T>(T) {
        const T al = *static_cast<const T*>(alpha), be = *static_cast<const T*>(beta);
        const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
        emulated::later(h->stream, {.call = "cublasGemmEx"}, [=, workspace = h->workspace] {
            using emulated::each_run, emulated::reads, emulated::writes;
            if (workspace) writes(workspace, emulated::cell_bytes);  // stands for all of it
            each_run(a_t ? m : k, a_t ? k : m, a, lda, at, reads);
            each_run(b_t ? k : n, b_t ? n : k, b, ldb, bt, reads);
            if (be != 0) each_run(n, m, c, ldc, ct, reads);
            each_run(n, m, c, ldc, ct, writes);
            emulated::gemm(a_t, b_t, tf32, m, n, k, al, static_cast<const T*>(a), lda, static_cast<const T*>(b),
                           ldb, be, static_cast<T*>(c), ldc);
        });
    };
    if (ct == CUDA_R_32F)
        run(float{});
    else
        run(double{});
    return CUBLAS_STATUS_SUCCESS;
}

const char* cusparseGetErrorString(cusparseStatus_t) { return "emulated status"; }
cusparseStatus_t cusparseCreate(cusparseHandle_t* h) {
    *h = new emulated::Sparse;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t h) {
    delete h;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t h, cudaStream_t s) {
    h->stream = s;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t, cusparsePointerMode_t) {
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* d, std::int64_t rows, std::int64_t cols,
                                   std::int64_t nonzeros, void* indptr, void* indices, void* values,
                                   cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t,
                                   cudaDataType type) {
    *d = new emulated::Csr{
        rows,   cols, nonzeros, static_cast<std::int32_t*>(indptr), static_cast<std::int32_t*>(indices),
        values, type};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseSpMatDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* d, std::int64_t rows, std::int64_t cols,
                                     std::int64_t ld, void* data, cudaDataType type, cusparseOrder_t order) {
    if (rows < 0 || cols < 0 || ld < cols || order != CUSPARSE_ORDER_ROW) return CUSPARSE_STATUS_INVALID_VALUE;
    *d = new emulated::Dense{rows, cols, ld, data, type};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseDnMatDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t of_a, cusparseOperation_t,
                                         const void*, cusparseSpMatDescr_t a, cusparseDnMatDescr_t b, const void*,
                                         cusparseDnMatDescr_t c, cudaDataType, cusparseSpMMAlg_t,
                                         std::size_t* bytes) {
    *bytes = emulated::buffer_bytes;
    return emulated::fit(of_a, *a, *b, *c) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t h, cusparseOperation_t of_a, cusparseOperation_t,
                                         const void*, cusparseSpMatDescr_t a, cusparseDnMatDescr_t b, const void*,
                                         cusparseDnMatDescr_t c, cudaDataType, cusparseSpMMAlg_t algorithm,
                                         void* buffer) {
    if (!buffer || !emulated::fit(of_a, *a, *b, *c)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (emulated::fails("cusparseSpMM_preprocess")) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    a->active = buffer;
    a->prepared = emulated::as_in(algorithm, *b, *c);
    emulated::later(h->stream, {.call = "cusparseSpMM_preprocess"}, [=, a = *a] {
        emulated::reads(a.indptr, static_cast<std::size_t>(a.rows + 1) * 4);
        emulated::writes(buffer, emulated::buffer_bytes);
        std::memcpy(buffer, emulated::prepared_mark, sizeof emulated::prepared_mark);
    });
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t h, cusparseOperation_t of_a, cusparseOperation_t, const void* alpha,
                              cusparseSpMatDescr_t a, cusparseDnMatDescr_t b, const void* beta,
                              cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t algorithm,
                              void* buffer) {
    if (!buffer || !emulated::fit(of_a, *a, *b, *c)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (a->active == buffer && a->prepared != emulated::as_in(algorithm, *b, *c))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (emulated::fails("cusparseSpMM")) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    const auto run = [&]<class T>(T) {
        const T al = *static_cast<const T*>(alpha), be = *static_cast<const T*>(beta);
        emulated::later(h->stream, {.call = "cusparseSpMM"}, [=, a = *a, b = *b, c = *c] {
            emulated::touch(a, b, c, be != 0, buffer);
            emulated::take_time(algorithm);
            // Without its analysis the third algorithm has nothing to go by.
            const bool ready = algorithm != CUSPARSE_SPMM_CSR_ALG3 ||
                               std::memcmp(buffer, emulated::prepared_mark, sizeof emulated::prepared_mark) == 0;
            if (ready) emulated::spmm<T>(a, b, c, al, be);
        });
    };
    if (type == CUDA_R_32F)
        run(float{});
    else
        run(double{});
    return CUSPARSE_STATUS_SUCCESS;
}
