#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Element type of every dense value a back end holds.
enum class DType : std::uint8_t { f32, f64 };

constexpr std::size_t size_of(DType t) { return t == DType::f32 ? 4 : 8; }

/// A vertex by its id in the dataset's own order, before any permutation.
enum class GlobalId : std::int64_t {};
/// A vertex by its position among the rows of one rank.
enum class LocalId : std::int32_t {};

constexpr std::int64_t value(GlobalId v) { return static_cast<std::int64_t>(v); }
constexpr std::int32_t value(LocalId v) { return static_cast<std::int32_t>(v); }

/// A non-owning view of a row-major dense matrix: element (r, c) is at data[r * ld + c], in the memory
/// of the back end that made it. [rows × cols], ld ≥ cols, in elements.
struct ConstMatrixView {
    const void* data = nullptr;
    std::int64_t rows = 0, cols = 0, ld = 0;
    DType dtype = DType::f32;

    std::size_t bytes() const { return usize(rows * cols) * size_of(dtype); }
    bool contiguous() const { return ld == cols || rows <= 1; }
    bool empty() const { return rows == 0 || cols == 0; }
    /// Rows [first, first + count).
    ConstMatrixView rows_from(std::int64_t first, std::int64_t count) const {
        require(first >= 0 && count >= 0 && first + count <= rows, "row range outside the matrix");
        auto p = static_cast<const std::byte*>(data);
        return {p ? p + usize(first * ld) * size_of(dtype) : p, count, cols, ld, dtype};
    }
};

struct MatrixView {
    void* data = nullptr;
    std::int64_t rows = 0, cols = 0, ld = 0;
    DType dtype = DType::f32;

    operator ConstMatrixView() const { return {data, rows, cols, ld, dtype}; }
    std::size_t bytes() const { return usize(rows * cols) * size_of(dtype); }
    bool contiguous() const { return ld == cols || rows <= 1; }
    bool empty() const { return rows == 0 || cols == 0; }
    MatrixView rows_from(std::int64_t first, std::int64_t count) const {
        require(first >= 0 && count >= 0 && first + count <= rows, "row range outside the matrix");
        auto p = static_cast<std::byte*>(data);
        return {p ? p + usize(first * ld) * size_of(dtype) : p, count, cols, ld, dtype};
    }
    /// Columns [first, first + count): same number of rows, same ld.
    MatrixView cols_from(std::int64_t first, std::int64_t count) const {
        require(first >= 0 && count >= 0 && first + count <= cols, "column range outside the matrix");
        auto p = static_cast<std::byte*>(data);
        return {p ? p + usize(first) * size_of(dtype) : p, rows, count, ld, dtype};
    }
    /// The same memory as a contiguous matrix [r × c] that fits in it.
    MatrixView reshaped(std::int64_t r, std::int64_t c) const {
        require(contiguous() && r * c <= rows * cols, "a reshaped view must fit its contiguous memory");
        return {data, r, c, c, dtype};
    }
};

/// A sparse matrix in compressed rows on the host: row r holds entries [indptr[r], indptr[r+1]) of
/// `indices` (column, ascending) and `values`. [rows × cols].
struct Csr {
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int64_t> indptr{0};  ///< length rows + 1
    std::vector<std::int32_t> indices;    ///< length nnz
    std::vector<double> values;           ///< length nnz
    /// The original ids of the vertices of its rows and columns, where something is drawn for each entry; else empty.
    std::vector<GlobalId> row_vertices = {}, col_vertices = {};

    std::int64_t nonzeros() const { return static_cast<std::int64_t>(indices.size()); }
    /// Size of its arrays.
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(indptr.size() * sizeof(std::int64_t) +
                                         indices.size() * (sizeof(std::int32_t) + sizeof(double)) +
                                         (row_vertices.size() + col_vertices.size()) * sizeof(GlobalId));
    }
    bool operator==(const Csr&) const = default;
};

/// A hash of the positions of the entries. Tells matrices of one process apart.
std::uint64_t hash_of_pattern(const Csr& a);

/// A sparse matrix of which only the size is known.
struct SparseSize {
    std::int64_t rows = 0, cols = 0, nonzeros = 0;
};

/// A dense matrix on the host in float64, row-major [rows × cols]: references, exported weights, tests.
struct HostMatrix {
    std::int64_t rows = 0, cols = 0;
    std::vector<double> values;  ///< length rows × cols

    HostMatrix() = default;
    HostMatrix(std::int64_t r, std::int64_t c) : rows(r), cols(c), values(usize(r * c)) {}
    double& operator()(std::int64_t r, std::int64_t c) { return values[usize(r * cols + c)]; }
    double operator()(std::int64_t r, std::int64_t c) const { return values[usize(r * cols + c)]; }
};

}  // namespace gnnbench
