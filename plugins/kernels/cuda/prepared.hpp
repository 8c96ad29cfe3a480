#pragma once
#include <compare>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gnnbench/backend.hpp>

#include "launch.hpp"
#include "library_spmm.hpp"
#include "work_items.hpp"

namespace gnnbench::cuda {

/// The implementation: our kernel row by row, by work items, or in panels of columns (by work items where the matrix has
/// them), or cuSPARSE with one of three algorithms.
enum class Product { rows, balanced, panels, library_1, library_2, library_3 };
const char* name_of(Product p);
inline bool is_of_library(Product p) { return p >= Product::library_1; }
inline cusparseSpMMAlg_t algorithm_of(Product p) {
    if (p == Product::library_2) return CUSPARSE_SPMM_CSR_ALG2;
    return p == Product::library_3 ? CUSPARSE_SPMM_CSR_ALG3 : CUSPARSE_SPMM_CSR_ALG1;
}

/// A matrix whose rows attention can go over.
class AttendedMatrix : public PreparedMatrix {
public:
    /// All of its rows.
    virtual CsrView attended() const = 0;
};

/// Rows in memory of others.
class ReferredRows final : public AttendedMatrix {
public:
    explicit ReferredRows(const CsrView& a) : rows_(a) {}
    CsrView attended() const override { return rows_; }

private:
    CsrView rows_;
};

/// What a preparation of cuSPARSE's is for. It may rely on how rows lie in memory: which loads they allow.
struct PlanKey {
    PlanKey(Product product, ConstMatrixView b, MatrixView c);
    Product how;
    std::int64_t width, ldb, ldc;
    std::size_t b_alignment, c_alignment;  ///< of the first elements, in bytes, 16 at most
    auto operator<=>(const PlanKey&) const = default;
};

/// A CSR matrix in device memory, with the data that the implementations of its product need.
class CudaMatrix final : public AttendedMatrix {
public:
    Array<std::int64_t> indptr;  ///< of the rows that are stored: all, or those in use
    Array<std::int32_t> row_at;  ///< where only those in use are stored
    bool only_used = false;
    Array<std::int32_t> indices;
    Matrix values;          ///< [1 × nonzeros]
    Array<WorkItem> items;  ///< if rows differ much in length, or if items were requested
    Array<SplitRow> split;
    std::int64_t slots = 0;
    Array<std::int64_t> row_vertices, col_vertices;  ///< as in Csr, by their values
    Array<std::int32_t> narrow_indptr;               ///< for cuSPARSE; empty where nonzeros need 64 bits

    Product usual = Product::rows;          ///< where no trial was run
    std::map<std::int64_t, Product> tried;  ///< by width: what a trial found fastest

    CsrView attended() const override;
    /// By the width nearest to those that were tried.
    Product product(std::int64_t width) const;
    bool has_items() const { return items.size() > 0; }
    bool serves_library() const { return narrow_indptr.size() > 0; }
    LibraryCsr for_library(DType dtype) const;

    /// cuSPARSE's preparations, with the buffer of each.
    struct Planned {
        std::unique_ptr<LibrarySpmm> product;
        std::shared_ptr<void> buffer;
    };
    mutable std::map<PlanKey, Planned> planned;

    /// The transpose, where products by it are wanted and it is another matrix; else null.
    std::unique_ptr<CudaMatrix> transpose;
};

/// What a matrix is uploaded for.
struct UploadFor {
    bool always_items = false;  ///< else where rows are uneven
    bool library = false;       ///< row starts for cuSPARSE, where it can serve
    bool only_used = false;     ///< rows in use alone, where most are empty: no library serves such a matrix
};
std::unique_ptr<CudaMatrix> upload_matrix(const Csr& a, Backend& backend, UploadFor what);

/// Aᵀ without the vertices of its rows and columns, columns of each row ascending.
Csr transpose_of(const Csr& a);
/// Whether A is its own transpose `t`.
bool is_symmetric(const Csr& a, const Csr& t);

/// A call of our kernels, without operands and epilogue.
template <class T>
SpmmCall<T> call_for(const CudaMatrix& a, bool by_items) {
    SpmmCall<T> call;
    call.indptr = a.indptr.data();
    call.indices = a.indices.data();
    call.values = static_cast<const T*>(a.values.view().data);
    call.rows = a.rows;
    call.stored = a.only_used ? a.row_at.size() : a.rows;
    call.row_at = a.row_at.data();
    call.units = by_items ? a.items.size() : call.stored;
    if (by_items) {
        call.items = a.items.data();
        call.split = a.split.data();
        call.split_rows = a.split.size();
    }
    return call;
}

}  // namespace gnnbench::cuda
