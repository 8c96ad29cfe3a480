#include <data/importers/sparse_matrix.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

SparseMatrix sized_matrix(const NpzFile& npz, const std::string& prefix) {
    auto shape = npz.shaped(prefix + "shape", {2}).as<std::int64_t>();
    if (shape[0] < 0 || shape[0] > INT32_MAX || shape[1] < 0 || shape[1] > INT32_MAX)
        throw DataError(fmt::format("{}: '{}shape' is ({}, {}), allowed are 0 to {} rows and columns", npz.file(),
                                    prefix, shape[0], shape[1], INT32_MAX));
    SparseMatrix matrix;
    matrix.file = npz.file();
    matrix.rows = shape[0];
    matrix.cols = shape[1];
    return matrix;
}

void check_range(const SparseMatrix& matrix, const std::vector<std::int32_t>& ids, std::int64_t end,
                 const std::string& array) {
    for (std::size_t e = 0; e < ids.size(); ++e)
        if (ids[e] < 0 || ids[e] >= end)
            throw DataError(fmt::format("{}: '{}' has {} at position {}, allowed are 0 to {}", matrix.file, array,
                                        ids[e], e, end - 1));
}

/// The row of every entry, of the pointers to where rows begin.
std::vector<std::int32_t> expanded(const std::vector<std::int64_t>& indptr, std::int64_t entries,
                                   const std::string& array) {
    if (indptr.front() != 0 || indptr.back() != entries || !std::ranges::is_sorted(indptr))
        throw DataError(fmt::format("{} must rise from 0 to {}", array, entries));
    std::vector<std::int32_t> row(usize(entries));
    for (std::size_t r = 0; r + 1 < indptr.size(); ++r)
        std::fill(row.begin() + indptr[r], row.begin() + indptr[r + 1], static_cast<std::int32_t>(r));
    return row;
}

}  // namespace

SparseMatrix read_csr(const NpzFile& npz, const std::string& prefix) {
    auto matrix = sized_matrix(npz, prefix);
    matrix.col = npz.shaped(prefix + "indices", {-1}).as<std::int32_t>();
    check_range(matrix, matrix.col, matrix.cols, prefix + "indices");
    matrix.row = expanded(npz.shaped(prefix + "indptr", {matrix.rows + 1}).as<std::int64_t>(),
                          std::ssize(matrix.col), fmt::format("{}: '{}indptr'", npz.file(), prefix));
    matrix.value = npz.shaped(prefix + "data", {std::ssize(matrix.col)}).as<float>();
    return matrix;
}

SparseMatrix read_scipy_matrix(const std::filesystem::path& path) {
    const NpzFile npz(path, {"format", "shape", "data", "indices", "indptr", "row", "col"});
    const auto format = npz.at("format").text();
    if (format == "csr") return read_csr(npz, "");
    if (format != "csc" && format != "coo")
        throw DataError(
            fmt::format("{}: a sparse matrix of SciPy's format '{}' is not read; allowed are csr, csc "
                        "and coo: convert it with .tocsr()",
                        npz.file(), format));
    auto matrix = sized_matrix(npz, "");
    matrix.row = npz.shaped(format == "csc" ? "indices" : "row", {-1}).as<std::int32_t>();
    check_range(matrix, matrix.row, matrix.rows, format == "csc" ? "indices" : "row");
    const auto entries = std::ssize(matrix.row);
    if (format == "csc")
        matrix.col = expanded(npz.shaped("indptr", {matrix.cols + 1}).as<std::int64_t>(), entries,
                              fmt::format("{}: 'indptr'", npz.file()));
    else
        matrix.col = npz.shaped("col", {entries}).as<std::int32_t>();
    check_range(matrix, matrix.col, matrix.cols, "col");
    matrix.value = npz.shaped("data", {entries}).as<float>();
    return matrix;
}

void require_square(const SparseMatrix& matrix) {
    if (matrix.rows != matrix.cols || matrix.rows < 1)
        throw DataError(
            fmt::format("{}: the adjacency is {} × {}, expected a square", matrix.file, matrix.rows, matrix.cols));
}

void drop_zeros(SparseMatrix& matrix) {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < matrix.value.size(); ++e) {
        if (matrix.value[e] == 0) continue;
        matrix.row[kept] = matrix.row[e];
        matrix.col[kept] = matrix.col[e];
        matrix.value[kept++] = matrix.value[e];
    }
    matrix.row.resize(kept);
    matrix.col.resize(kept);
    matrix.value.resize(kept);
}

EdgeList row_to_column(SparseMatrix matrix) {
    EdgeList edges;
    edges.file = std::move(matrix.file);
    edges.vertices = matrix.rows;
    edges.source = std::move(matrix.row);
    edges.target = std::move(matrix.col);
    return edges;
}

}  // namespace gnnbench
