#pragma once
#include <memory>
#include <vector>

#include <gnnbench/backend.hpp>

#include "layout.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A prepared matrix that multiplies itself.
template <class T>
class CpuPrepared : public PreparedMatrix {
public:
    virtual void multiply(const DenseSide<T>& d, int threads, Workspace& workspace) const = 0;
    /// The matrix in compressed rows; nullptr in other formats.
    virtual const FlatCsr<T>* rows_form() const { return nullptr; }
    /// By the transpose, for which it was prepared.
    virtual void multiply_transposed(const DenseSide<T>& d, int threads) const = 0;

    std::vector<GlobalId> row_vertices, col_vertices;  ///< as in Csr
};

template <class T>
std::unique_ptr<CpuPrepared<T>> prepare_matrix(const Csr& a, ChosenLayout chosen, TransposedProducts t,
                                               int threads);

}  // namespace gnnbench::cpu
