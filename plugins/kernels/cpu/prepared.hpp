#pragma once
#include <memory>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/error.hpp>

#include "layout.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A prepared matrix that multiplies itself.
template <class T>
class CpuPrepared : public PreparedMatrix {
public:
    virtual void multiply(const DenseSide<T>& d, int threads, Workspace& workspace) const = 0;
    /// The matrix in compressed rows, made of tiles where it is asked for; nullptr in other formats.
    virtual const FlatCsr<T>* rows_form() const { return nullptr; }
    /// The matrix in tiles; nullptr in other formats.
    virtual const TiledMatrix<T>* tiled_form() const { return nullptr; }
    /// The order in which its rows are best attended from, that of their own if null.
    virtual const std::int32_t* row_order() const { return nullptr; }
    /// By the transpose, for which it was prepared.
    virtual void multiply_transposed(const DenseSide<T>& d, int threads) const = 0;

    /// Original ids of the vertices of its rows and columns, where something is drawn for each entry; else nullptr.
    const std::int64_t *row_vertices = nullptr, *col_vertices = nullptr;
    void keep_vertices(const Csr& a) {
        for (const GlobalId v : a.row_vertices) kept_rows_.push_back(value(v));
        for (const GlobalId v : a.col_vertices) kept_columns_.push_back(value(v));
        row_vertices = kept_rows_.empty() ? nullptr : kept_rows_.data();
        col_vertices = kept_columns_.empty() ? nullptr : kept_columns_.data();
    }

private:
    std::vector<std::int64_t> kept_rows_, kept_columns_;
};

/// Rows in memory of others, to attend over.
template <class T>
class ReferredRows final : public CpuPrepared<T> {
public:
    explicit ReferredRows(const CsrView& a)
        : csr_{{a.indptr, a.indices, a.rows, a.cols}, static_cast<const T*>(a.values)} {
        this->row_vertices = a.row_vertices;
        this->col_vertices = a.col_vertices;
    }
    void multiply(const DenseSide<T>&, int, Workspace&) const override { refuse(); }
    void multiply_transposed(const DenseSide<T>&, int) const override { refuse(); }
    const FlatCsr<T>* rows_form() const override { return &csr_; }

private:
    [[noreturn]] static void refuse() {
        throw LogicError("a matrix that is referred to is for attention, and no other product");
    }
    FlatCsr<T> csr_;
};

/// For attention: compressed rows, tiles, or compressed rows with an order to go through them.
template <class T>
std::unique_ptr<CpuPrepared<T>> prepare_attended(const Csr& a, ChosenLayout chosen, TransposedProducts t,
                                                 int threads);

template <class T>
std::unique_ptr<CpuPrepared<T>> prepare_matrix(const Csr& a, ChosenLayout chosen, TransposedProducts t,
                                               int threads);

}  // namespace gnnbench::cpu
