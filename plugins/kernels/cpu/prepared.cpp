#include "prepared.hpp"

#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "reordered.hpp"
#include "stored_rows.hpp"
#include "tiled.hpp"
#include "transposed.hpp"
#include "used_rows.hpp"

namespace gnnbench::cpu {
namespace {

template <class T>
class RowsMatrix final : public CpuPrepared<T> {
public:
    RowsMatrix(const Csr& a, TransposedProducts t, int threads) : stored_(a, threads) {
        if (t == TransposedProducts::wanted) runs_ = cut_into_runs(stored_.csr, nullptr, threads);
        this->format = name_of({Format::rows});
    }

    void multiply(const DenseSide<T>& d, int threads, Workspace&) const override {
        spmm_by_rows(stored_.csr, d, threads);
    }
    const FlatCsr<T>* rows_form() const override { return &stored_.csr; }
    void multiply_transposed(const DenseSide<T>& d, int threads) const override {
        spmm_transposed(stored_.csr, nullptr, runs_, d, threads);
    }

private:
    StoredRows<T> stored_;
    ColumnRuns runs_;
};

/// Rows to attend over, in the order of clusters.
template <class T>
class OrderedRowsForm final : public CpuPrepared<T> {
public:
    OrderedRowsForm(const Csr& a, ClusterOrder order, TransposedProducts t, int threads)
        : rows_(a, t, threads), order_(std::move(order.vertex_at)) {
        this->format = name_of({Format::reordered});
    }
    void multiply(const DenseSide<T>& d, int threads, Workspace& workspace) const override {
        rows_.multiply(d, threads, workspace);
    }
    void multiply_transposed(const DenseSide<T>& d, int threads) const override {
        rows_.multiply_transposed(d, threads);
    }
    const FlatCsr<T>* rows_form() const override { return rows_.rows_form(); }
    const std::int32_t* row_order() const override { return order_.data(); }

private:
    RowsMatrix<T> rows_;
    std::vector<std::int32_t> order_;
};

/// A tiled matrix in compressed rows again, for what does not go by tiles.
template <class T>
Csr rows_of(const TiledMatrix<T>& a) {
    Csr out;
    out.rows = a.rows;
    out.cols = a.cols;
    out.indptr.assign(usize(a.rows) + 1, 0);
    const auto for_entries = [&](auto&& f) {
        for (std::int64_t k = 0; k < a.chunks(); ++k)
            for (std::int64_t i = a.chunk_blocks[usize(k)]; i < a.chunk_blocks[usize(k) + 1]; ++i) {
                const TileBlock& block = a.blocks[usize(i)];
                std::int64_t entry = block.first_entry;
                for (std::int64_t s = block.first_segment; s < block.first_segment + block.segments; ++s)
                    for (int left = a.segments[usize(s)].length; left > 0; --left, ++entry)
                        f(usize(a.chunk_rows[usize(k)] + a.segments[usize(s)].row), block.tile, usize(entry));
            }
    };
    for_entries([&](std::size_t row, std::int32_t, std::size_t) { ++out.indptr[row + 1]; });
    std::partial_sum(out.indptr.begin(), out.indptr.end(), out.indptr.begin());
    out.indices.resize(usize(a.nonzeros));
    out.values.resize(usize(a.nonzeros));
    std::vector<std::int64_t> next(out.indptr.begin(), out.indptr.end() - 1);
    for_entries([&](std::size_t row, std::int32_t tile, std::size_t entry) {
        const auto to = usize(next[row]++);
        out.indices[to] = a.column_at[usize(tile * a.tile_cols + a.local_col[entry])];
        out.values[to] = static_cast<double>(a.values[entry]);
    });
    return out;
}

template <class T>
class UsedRowsForm final : public CpuPrepared<T> {
public:
    UsedRowsForm(const Csr& a, int threads) : used_(make_used_rows<T>(a, threads)) {
        this->format = name_of({Format::used_rows});
    }
    void multiply(const DenseSide<T>& d, int threads, Workspace&) const override {
        spmm_used_rows(used_, d, threads);
    }
    void multiply_transposed(const DenseSide<T>&, int) const override {
        throw LogicError("a csr of used rows is not prepared for products by its transpose");
    }

private:
    UsedRowsMatrix<T> used_;
};

template <class T>
class TiledForm final : public CpuPrepared<T> {
public:
    TiledForm(const Csr& a, const TileCut& cut, TransposedProducts t, int threads)
        : tiled_(make_tiled<T>(a, cut, threads)) {
        if (t == TransposedProducts::wanted) by_tile_ = blocks_by_tile(tiled_);
        this->format = name_of({Format::tiled, cut.tile_cols});
    }

    void multiply(const DenseSide<T>& d, int threads, Workspace& workspace) const override {
        spmm_tiled(tiled_, d, threads, workspace);
    }
    void multiply_transposed(const DenseSide<T>& d, int threads) const override {
        spmm_transposed(tiled_, by_tile_, d, threads);
    }
    const TiledMatrix<T>* tiled_form() const override { return &tiled_; }
    const FlatCsr<T>* rows_form() const override {
        std::call_once(rows_made_, [this] { rows_.emplace(rows_of(tiled_), 1); });
        return &rows_->csr;
    }

private:
    TiledMatrix<T> tiled_;
    BlocksByTile by_tile_;
    mutable std::once_flag rows_made_;
    mutable std::optional<StoredRows<T>> rows_;  ///< where something has asked for them
};

template <class T>
class ReorderedForm final : public CpuPrepared<T> {
public:
    // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
    ReorderedForm(const Csr& a, ClusterOrder order, TransposedProducts t, int threads) {
        this->format = name_of({Format::reordered}) + ", " + std::to_string(static_cast<int>(100 * order.inside)) +
                       "% inside";
        reordered_ = make_reordered<T>(a, std::move(order), threads);
        if (t == TransposedProducts::wanted)
            runs_ = cut_into_runs(reordered_.csr, reordered_.vertex_at.data(), threads);
    }

    void multiply(const DenseSide<T>& d, int threads, Workspace& workspace) const override {
        spmm_reordered(reordered_, d, threads, workspace);
    }
    void multiply_transposed(const DenseSide<T>& d, int threads) const override {
        spmm_transposed(reordered_.csr, reordered_.vertex_at.data(), runs_, d, threads);
    }

private:
    ReorderedMatrix<T> reordered_;
    ColumnRuns runs_;
};

}  // namespace

template <class T>
std::unique_ptr<CpuPrepared<T>> prepare_matrix(const Csr& a, ChosenLayout chosen, TransposedProducts t,
                                               int threads) {
    switch (chosen.layout.format) {
        case Format::tiled: {
            if (!chosen.columns) chosen.columns = columns_by_count(a, threads);
            const std::int64_t tile_cols = chosen.layout.tile_cols;
            return std::make_unique<TiledForm<T>>(
                a, TileCut{tile_cols, *chosen.columns, cut_rows(a, tile_cols, threads)}, t, threads);
        }
        case Format::used_rows:
            return std::make_unique<UsedRowsForm<T>>(a, threads);
        case Format::reordered:
            if (!chosen.clusters) chosen.clusters = cluster_order(a, cache_columns(), threads);
            return std::make_unique<ReorderedForm<T>>(a, std::move(*chosen.clusters), t, threads);
        case Format::rows:
            break;
    }
    return std::make_unique<RowsMatrix<T>>(a, t, threads);
}

template <class T>
std::unique_ptr<CpuPrepared<T>> prepare_attended(const Csr& a, ChosenLayout chosen, TransposedProducts t,
                                                 int threads) {
    if (chosen.clusters) return std::make_unique<OrderedRowsForm<T>>(a, std::move(*chosen.clusters), t, threads);
    return prepare_matrix<T>(a, std::move(chosen), t, threads);
}

template std::unique_ptr<CpuPrepared<float>> prepare_attended<float>(const Csr&, ChosenLayout, TransposedProducts,
                                                                     int);
template std::unique_ptr<CpuPrepared<double>> prepare_attended<double>(const Csr&, ChosenLayout,
                                                                       TransposedProducts, int);
template std::unique_ptr<CpuPrepared<float>> prepare_matrix<float>(const Csr&, ChosenLayout, TransposedProducts,
                                                                   int);
template std::unique_ptr<CpuPrepared<double>> prepare_matrix<double>(const Csr&, ChosenLayout, TransposedProducts,
                                                                     int);

}  // namespace gnnbench::cpu
