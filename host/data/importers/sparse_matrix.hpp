#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <data/edges.hpp>
#include <data/importers/npz_file.hpp>

namespace gnnbench {

/// A sparse matrix, entry by entry, in the order of its file; rows and columns are in range.
struct SparseMatrix {
    std::string file;
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int32_t> row, col;  ///< length entries
    std::vector<float> value;            ///< length entries
};

/// From the arrays `prefix` + shape, indptr, indices and data of a matrix in compressed rows.
SparseMatrix read_csr(const NpzFile& npz, const std::string& prefix);
/// What scipy.sparse.save_npz writes: compressed rows or columns, or coordinates.
SparseMatrix read_scipy_matrix(const std::filesystem::path& path);

/// DataError unless it is a square of at least one row: a graph's adjacency.
void require_square(const SparseMatrix& matrix);
/// Removes entries whose value is 0: stored, yet no edges.
void drop_zeros(SparseMatrix& matrix);
/// An edge from row to column for each entry, without weights.
EdgeList row_to_column(SparseMatrix matrix);

}  // namespace gnnbench
