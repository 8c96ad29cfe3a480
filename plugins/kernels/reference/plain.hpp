#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/backend.hpp>

namespace gnnbench::reference {

/// An element of a view; T is the kernel's element type.
template <class T>
T& at(MatrixView m, std::int64_t r, std::int64_t c) {
    return static_cast<T*>(m.data)[r * m.ld + c];
}
template <class T>
const T& at(ConstMatrixView m, std::int64_t r, std::int64_t c) {
    return static_cast<const T*>(m.data)[r * m.ld + c];
}

/// The given Csr, in the kernel's element type.
template <class T>
struct PlainMatrix final : PreparedMatrix {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<T> values;
    std::vector<GlobalId> row_vertices, col_vertices;  ///< as in Csr
};

}  // namespace gnnbench::reference
