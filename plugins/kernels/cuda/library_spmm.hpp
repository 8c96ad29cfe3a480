#pragma once
#include <cstdint>

#include <cusparse.h>

#include <gnnbench/matrix.hpp>

namespace gnnbench::cuda {

/// A CSR matrix in device memory with 32-bit row starts, as cuSPARSE takes it.
struct LibraryCsr {
    std::int64_t rows = 0, cols = 0, nonzeros = 0;
    void* indptr = nullptr;   ///< int32, length rows + 1
    void* indices = nullptr;  ///< int32
    void* values = nullptr;
    DType dtype = DType::f32;
};

/// A cuSPARSE handle on one stream.
class SparseHandle {
public:
    explicit SparseHandle(cudaStream_t stream);
    SparseHandle(const SparseHandle&) = delete;
    SparseHandle& operator=(const SparseHandle&) = delete;
    ~SparseHandle();
    cusparseHandle_t get() const { return handle_; }

private:
    cusparseHandle_t handle_ = nullptr;
};

/// One sparse matrix, prepared for products by one algorithm of cuSPARSE of matrices that lie alike.
class LibrarySpmm {
public:
    LibrarySpmm(const SparseHandle& handle, const LibraryCsr& a, cusparseSpMMAlg_t algorithm);
    LibrarySpmm(const LibrarySpmm&) = delete;
    LibrarySpmm& operator=(const LibrarySpmm&) = delete;
    ~LibrarySpmm();

    /// The buffer size of products with these shapes.
    std::size_t buffer_bytes(ConstMatrixView b, MatrixView c) const;
    /// Runs the algorithm's analysis step, if any, into `buffer`, which must outlive this. Products are then of matrices of
    /// these shapes, leading dimensions and alignments.
    void preprocess(ConstMatrixView b, MatrixView c, void* buffer);
    /// C = alpha · A · B + beta · C.
    void multiply(ConstMatrixView b, MatrixView c, double alpha, double beta) const;

private:
    const SparseHandle& handle_;
    cusparseSpMatDescr_t a_ = nullptr;
    DType dtype_;
    cusparseSpMMAlg_t algorithm_;
    void* buffer_ = nullptr;
};

}  // namespace gnnbench::cuda
