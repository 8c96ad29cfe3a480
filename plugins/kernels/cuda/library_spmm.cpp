#include "library_spmm.hpp"

#include <exception>

#include "check.hpp"

namespace gnnbench::cuda {
namespace {

cudaDataType cuda_type(DType t) { return t == DType::f32 ? CUDA_R_32F : CUDA_R_64F; }

/// cuSPARSE's word for a row-major view.
class DenseDescriptor {
public:
    DenseDescriptor(std::int64_t rows, std::int64_t cols, std::int64_t ld, void* data, DType dtype) {
        check(cusparseCreateDnMat(&d_, rows, cols, ld, data, cuda_type(dtype), CUSPARSE_ORDER_ROW),
              "cusparseCreateDnMat");
    }
    explicit DenseDescriptor(MatrixView m) : DenseDescriptor(m.rows, m.cols, m.ld, m.data, m.dtype) {}
    // cuSPARSE only reads B.
    explicit DenseDescriptor(ConstMatrixView m)
        : DenseDescriptor(m.rows, m.cols, m.ld, const_cast<void*>(m.data), m.dtype) {}
    DenseDescriptor(const DenseDescriptor&) = delete;
    DenseDescriptor& operator=(const DenseDescriptor&) = delete;
    ~DenseDescriptor() { (void)cusparseDestroyDnMat(d_); }
    cusparseDnMatDescr_t get() const { return d_; }

private:
    cusparseDnMatDescr_t d_ = nullptr;
};

/// alpha and beta in the type that is computed in.
struct Factor {
    Factor(double v, DType t) : narrow(static_cast<float>(v)), wide(v), dtype(t) {}
    const void* at() const { return dtype == DType::f32 ? static_cast<const void*>(&narrow) : &wide; }
    float narrow;
    double wide;
    DType dtype;
};

constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

SparseHandle::SparseHandle(cudaStream_t stream) {
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, stream), "cusparseSetStream");
    check(cusparseSetPointerMode(handle_, CUSPARSE_POINTER_MODE_HOST), "cusparseSetPointerMode");
}

SparseHandle::~SparseHandle() {
    // It waits for the device, which after a failure may wait for peers that never arrive.
    if (handle_ && std::uncaught_exceptions() == 0) (void)cusparseDestroy(handle_);
}

LibrarySpmm::LibrarySpmm(const SparseHandle& handle, const LibraryCsr& a, cusparseSpMMAlg_t algorithm)
    : handle_(handle), dtype_(a.dtype), algorithm_(algorithm) {
    check(cusparseCreateCsr(&a_, a.rows, a.cols, a.nonzeros, a.indptr, a.indices, a.values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type(a.dtype)),
          "cusparseCreateCsr");
}

LibrarySpmm::~LibrarySpmm() {
    if (a_) (void)cusparseDestroySpMat(a_);
}

std::size_t LibrarySpmm::buffer_bytes(ConstMatrixView b, MatrixView c) const {
    const DenseDescriptor db(b), dc(c);
    const Factor one(1, dtype_), zero(0, dtype_);
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(handle_.get(), plain, plain, one.at(), a_, db.get(), zero.at(), dc.get(),
                                  cuda_type(dtype_), algorithm_, &bytes),
          "cusparseSpMM_bufferSize");
    return bytes;
}

void LibrarySpmm::preprocess(ConstMatrixView b, MatrixView c, void* buffer) {
    buffer_ = buffer;
    // The others have none.
    if (algorithm_ == CUSPARSE_SPMM_CSR_ALG2) return;
    const DenseDescriptor db(b), dc(c);
    const Factor one(1, dtype_), zero(0, dtype_);
    check(cusparseSpMM_preprocess(handle_.get(), plain, plain, one.at(), a_, db.get(), zero.at(), dc.get(),
                                  cuda_type(dtype_), algorithm_, buffer_),
          "cusparseSpMM_preprocess");
}

void LibrarySpmm::multiply(ConstMatrixView b, MatrixView c, double alpha, double beta) const {
    const DenseDescriptor db(b), dc(c);
    const Factor a(alpha, dtype_), keep(beta, dtype_);
    check(cusparseSpMM(handle_.get(), plain, plain, a.at(), a_, db.get(), keep.at(), dc.get(), cuda_type(dtype_),
                       algorithm_, buffer_),
          "cusparseSpMM");
}

}  // namespace gnnbench::cuda
