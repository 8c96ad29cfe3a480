#include "prepared.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <gnnbench/caches.hpp>
#include <gnnbench/error.hpp>

#include "memory.hpp"
#include "reordered.hpp"
#include "threads.hpp"
#include "tiled.hpp"
#include "transposed.hpp"
#include "used_rows.hpp"

namespace gnnbench::cpu {
namespace {

template <class T>
class RowsMatrix final : public CpuPrepared<T> {
public:
    RowsMatrix(const Csr& a, TransposedProducts t, int threads)
        : indptr_(a.indptr.size()), indices_(a.indices.size()), values_(a.values.size()) {
        std::copy(a.indptr.begin(), a.indptr.end(), indptr_.data());
        parallel_ranges(threads, a.nonzeros(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
            std::copy(a.indices.begin() + begin, a.indices.begin() + end, indices_.data() + begin);
            std::transform(a.values.begin() + begin, a.values.begin() + end, values_.data() + begin,
                           [](double v) { return static_cast<T>(v); });
        });
        csr_ = {{indptr_.data(), indices_.data(), a.rows, a.cols}, values_.data()};
        if (t == TransposedProducts::wanted) runs_ = cut_into_runs(csr_, nullptr, threads);
        this->format = "csr";
    }

    void multiply(const DenseSide<T>& d, int threads, Workspace&) const override {
        spmm_by_rows(csr_, d, threads);
    }
    void multiply_transposed(const DenseSide<T>& d, int threads) const override {
        spmm_transposed(csr_, nullptr, runs_, d, threads);
    }

private:
    HostArray<std::int64_t> indptr_;
    HostArray<std::int32_t> indices_;
    HostArray<T> values_;
    FlatCsr<T> csr_;
    ColumnRuns runs_;
};

template <class T>
class UsedRowsForm final : public CpuPrepared<T> {
public:
    UsedRowsForm(const Csr& a, int threads) : used_(make_used_rows<T>(a, threads)) {
        this->format = "csr of used rows";
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
    TiledForm(const Csr& a, std::int64_t tile_cols, TransposedProducts t, int threads)
        : tiled_(make_tiled<T>(a, tile_cols, threads)) {
        if (t == TransposedProducts::wanted) by_tile_ = blocks_by_tile(tiled_);
        this->format = "tiled " + std::to_string(tile_cols);
    }

    void multiply(const DenseSide<T>& d, int threads, Workspace& workspace) const override {
        spmm_tiled(tiled_, d, threads, workspace);
    }
    void multiply_transposed(const DenseSide<T>& d, int threads) const override {
        spmm_transposed(tiled_, by_tile_, d, threads);
    }

private:
    TiledMatrix<T> tiled_;
    BlocksByTile by_tile_;
};

template <class T>
class ReorderedForm final : public CpuPrepared<T> {
public:
    // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
    ReorderedForm(const Csr& a, ClusterOrder order, TransposedProducts t, int threads) {
        this->format =
            "csr in cluster order, " + std::to_string(static_cast<int>(100 * order.inside)) + "% inside";
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

/// Columns of a tile, so that its widest panel in float32 fills a core's own cache.
std::int64_t tile_columns() {
    const auto fit = static_cast<std::uint64_t>(second_level_cache_bytes() / (widest_panel * 4));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(fit)), 1024, 16384);
}

/// Whether a tile's rows are used often enough to be worth fetching for each chunk: many times where gathers would
/// find them in the last-level cache anyway, a few times where B (at the widest panel) is beyond that.
bool tiles_pay(const Csr& a) {
    const std::int64_t tiles = (a.cols + tile_columns() - 1) / tile_columns();
    const std::int64_t per_segment = a.nonzeros() / std::max<std::int64_t>(1, a.rows * tiles);
    const bool far = a.cols * widest_panel * 4 > last_level_cache_bytes() / 2;
    return tiles > 2 && per_segment >= (far ? 4 : 16);
}

/// Whether a search for clusters may pay: B far larger than the caches, rows long enough, no local order yet.
bool clusters_may_pay(const Csr& a) {
    const Pattern pattern{a.indptr.data(), a.indices.data(), a.rows, a.cols};
    return a.rows == a.cols && a.cols * widest_panel * 4 > 4 * last_level_cache_bytes() &&
           a.nonzeros() > 12 * a.rows && share_nearby(pattern, tile_columns(), 4096) < 0.3;
}

}  // namespace

template <class T>
std::unique_ptr<CpuPrepared<T>> prepare_matrix(const Csr& a, FormatChoice choice, TransposedProducts t,
                                               int threads) {
    const bool tiled = choice == FormatChoice::tiled || (choice == FormatChoice::automatic && tiles_pay(a));
    if (tiled) return std::make_unique<TiledForm<T>>(a, tile_columns(), t, threads);
    if (t == TransposedProducts::none &&
        (choice == FormatChoice::used_rows || (choice == FormatChoice::automatic && rows_mostly_empty(a))))
        return std::make_unique<UsedRowsForm<T>>(a, threads);
    const bool reorders =
        choice == FormatChoice::reordered || (choice == FormatChoice::automatic && clusters_may_pay(a));
    if (reorders && a.rows == a.cols) {
        ClusterOrder order = cluster_order(a, tile_columns(), threads);
        if (order.inside > 0.15 || choice == FormatChoice::reordered)
            return std::make_unique<ReorderedForm<T>>(a, std::move(order), t, threads);
    }
    return std::make_unique<RowsMatrix<T>>(a, t, threads);
}

template std::unique_ptr<CpuPrepared<float>> prepare_matrix<float>(const Csr&, FormatChoice, TransposedProducts,
                                                                   int);
template std::unique_ptr<CpuPrepared<double>> prepare_matrix<double>(const Csr&, FormatChoice, TransposedProducts,
                                                                     int);

}  // namespace gnnbench::cpu
