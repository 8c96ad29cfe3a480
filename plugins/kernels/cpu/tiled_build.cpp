#include <algorithm>
#include <mutex>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "threads.hpp"
#include "tiled.hpp"

namespace gnnbench::cpu {
namespace {

/// Nonzeros of each column.
std::vector<std::int32_t> column_counts(const Csr& a, int threads) {
    std::vector<std::int32_t> count(usize(a.cols));
    std::mutex adding;
    // Each thread counts in an array of its own, so no more threads than pay for theirs.
    const std::int64_t pay = std::clamp<std::int64_t>(a.nonzeros() / (4 * a.cols + 1), 1, threads);
    parallel_ranges(static_cast<int>(pay), a.nonzeros(), 1 << 20, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int32_t> mine(usize(a.cols));
        for (auto j = usize(begin); j < usize(end); ++j) ++mine[usize(a.indices[j])];
        const std::lock_guard lock(adding);
        for (std::size_t c = 0; c < count.size(); ++c) count[c] += mine[c];
    });
    return count;
}

/// Position ÷ columns of a tile, which is a multiple of tile_step, by one multiplication: exact for every position,
/// since these are below 2^22 steps and a tile has at most 2^7.
class TileOf {
public:
    explicit TileOf(std::int64_t tile_cols)
        : factor_((std::uint64_t{1} << shift) / static_cast<std::uint64_t>(tile_cols / tile_step) + 1) {}
    std::int64_t operator()(std::int32_t position) const {
        const std::uint64_t step = static_cast<std::uint32_t>(position) / static_cast<std::uint32_t>(tile_step);
        return static_cast<std::int64_t>(step * factor_ >> shift);
    }

private:
    static constexpr int shift = 29;
    std::uint64_t factor_;
};

/// Sorts the nonzeros of one chunk into its blocks.
template <class T>
class ChunkSorter {
public:
    ChunkSorter(const Csr& a, const HostArray<std::int32_t>& position, TiledMatrix<T>& out)
        : a_(a),
          position_(position),
          out_(out),
          tile_of_(out.tile_cols),
          tiles_((a.cols + out.tile_cols - 1) / out.tile_cols) {}

    void sort(RowRange rows, std::vector<TileBlock>& blocks, std::vector<Segment>& segments) {
        const std::int64_t height = rows.end - rows.begin;
        // Row after row, so that a row's counters are in the first cache while its nonzeros are counted and placed.
        next_.assign(usize(tiles_ * height), 0);
        for_rows(rows, [&](std::int32_t* next, std::size_t, std::int64_t tile, std::int64_t) { ++next[tile]; });
        counts_to_places(height, a_.indptr[usize(rows.begin)], blocks, segments);
        const std::int64_t first = a_.indptr[usize(rows.begin)];
        std::uint16_t* const local_col = out_.local_col.data() + first;
        T* const values = out_.values.data() + first;
        for_rows(rows, [&](std::int32_t* next, std::size_t j, std::int64_t tile, std::int64_t local) {
            const std::int32_t to = next[tile]++;
            local_col[to] = static_cast<std::uint16_t>(local);
            values[to] = static_cast<T>(a_.values[j]);
        });
    }

private:
    static constexpr std::int64_t longest = 65535;

    /// Each segment's count becomes where its first nonzero goes, counted from the chunk's first.
    void counts_to_places(std::int64_t height, std::int64_t chunk_first, std::vector<TileBlock>& blocks,
                          std::vector<Segment>& segments) {
        std::int64_t at = 0;
        for (std::int64_t t = 0; t < tiles_; ++t) {
            TileBlock block{std::ssize(segments), chunk_first + at, static_cast<std::int32_t>(t), 0};
            std::int32_t* slot = next_.data() + t;
            for (std::int64_t r = 0; r < height; ++r, slot += tiles_) {
                const std::int64_t length = *slot;
                *slot = static_cast<std::int32_t>(at);
                for (std::int64_t left = length; left > 0; left -= longest)
                    segments.push_back(
                        {static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(std::min(left, longest))});
                at += length;
            }
            block.segments = static_cast<std::int32_t>(std::ssize(segments) - block.first_segment);
            if (block.segments > 0) blocks.push_back(block);
        }
    }

    /// f(its row's counters, nonzero, tile, position inside it) for each nonzero.
    void for_rows(RowRange rows, auto&& f) {
        std::int32_t* next = next_.data();
        for (std::int64_t r = rows.begin; r < rows.end; ++r, next += tiles_)
            for (auto j = usize(a_.indptr[usize(r)]); j < usize(a_.indptr[usize(r) + 1]); ++j) {
                const std::int32_t p = position_[usize(a_.indices[j])];
                const std::int64_t tile = tile_of_(p);
                f(next, j, tile, p - tile * out_.tile_cols);
            }
    }

    const Csr& a_;
    const HostArray<std::int32_t>& position_;
    TiledMatrix<T>& out_;
    TileOf tile_of_;
    std::int64_t tiles_;
    std::vector<std::int32_t> next_;  ///< [chunk rows × tiles]
};

/// Every chunk's segments and blocks in one array each.
template <class T>
void join(TiledMatrix<T>& out, std::vector<std::vector<TileBlock>>& blocks,
          const std::vector<std::vector<Segment>>& segments, int threads) {
    std::vector<std::int64_t> first{0};
    for (const auto& some : segments) first.push_back(first.back() + std::ssize(some));
    out.segments = HostArray<Segment>(usize(first.back()) + out.read_ahead);
    std::fill_n(out.segments.data() + first.back(), out.read_ahead, Segment{});
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (std::size_t k = 0; k < segments.size(); ++k)
        std::ranges::copy(segments[k], out.segments.data() + first[k]);
    out.chunk_blocks = {0};
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        for (TileBlock& block : blocks[k]) block.first_segment += first[k];
        out.blocks.insert(out.blocks.end(), blocks[k].begin(), blocks[k].end());
        out.chunk_blocks.push_back(std::ssize(out.blocks));
        out.widest_chunk = std::max(out.widest_chunk, out.chunk_rows[k + 1] - out.chunk_rows[k]);
    }
}

}  // namespace

std::int64_t tallest_chunk(std::int64_t tile_cols) {
    return std::min<std::int64_t>(65536, std::max<std::int64_t>(8192, tile_cols));
}

ColumnOrder columns_by_count(const Csr& a, int threads) {
    const std::vector<std::int32_t> count = column_counts(a, threads);
    const std::int32_t most = count.empty() ? 0 : *std::max_element(count.begin(), count.end());
    // A counting sort; bucket k holds the columns with most − k entries.
    std::vector<std::int64_t> at(usize(most) + 2);
    for (const std::int32_t n : count) ++at[usize(most - n) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    ColumnOrder order{HostArray<std::int32_t>(count.size()), HostArray<std::int32_t>(count.size())};
    for (std::size_t c = 0; c < count.size(); ++c) {
        const std::int64_t p = at[usize(most - count[c])]++;
        order.column_at[usize(p)] = static_cast<std::int32_t>(c);
        order.position[c] = static_cast<std::int32_t>(p);
    }
    return order;
}

std::vector<std::int64_t> cut_rows(const Csr& a, std::int64_t tile_cols, int threads) {
    const std::int64_t tallest = tallest_chunk(tile_cols);
    const std::int64_t work = a.nonzeros() + 4 * a.rows;
    // As many for each thread.
    const std::int64_t of_thread =
        std::max<std::int64_t>((a.rows + tallest * threads - 1) / (tallest * threads), 12);
    const std::int64_t wanted = of_thread * threads;
    const std::int64_t share = std::max<std::int64_t>(1, work / std::max<std::int64_t>(1, wanted));
    std::vector<std::int64_t> cuts{0};
    for (std::int64_t r = 0, done = 0; r < a.rows; ++r) {
        done += a.indptr[usize(r) + 1] - a.indptr[usize(r)] + 4;
        if (done >= share || r + 1 - cuts.back() >= tallest) {
            cuts.push_back(r + 1);
            done = 0;
        }
    }
    if (cuts.back() < a.rows) cuts.push_back(a.rows);
    return cuts;
}

template <class T>
TiledMatrix<T> make_tiled(const Csr& a, const TileCut& cut, int threads) {
    TiledMatrix<T> out;
    out.rows = a.rows;
    out.cols = a.cols;
    out.nonzeros = a.nonzeros();
    out.tile_cols = cut.tile_cols;
    out.column_at = HostArray<std::int32_t>(usize(a.cols));
    std::copy_n(cut.columns.column_at.data(), a.cols, out.column_at.data());
    out.chunk_rows = cut.chunk_rows;
    out.local_col = HostArray<std::uint16_t>(a.indices.size() + out.read_ahead);
    std::fill_n(out.local_col.data() + a.indices.size(), out.read_ahead, std::uint16_t{0});
    out.values = HostArray<T>(a.indices.size());

    const auto chunks = usize(out.chunks());
    std::vector<std::vector<TileBlock>> blocks(chunks);
    std::vector<std::vector<Segment>> segments(chunks);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        ChunkSorter<T> sorter(a, cut.columns.position, out);
#pragma omp for schedule(dynamic)
        for (std::size_t k = 0; k < chunks; ++k)
            sorter.sort({out.chunk_rows[k], out.chunk_rows[k + 1]}, blocks[k], segments[k]);
    }
    join(out, blocks, segments, threads);
    return out;
}

template TiledMatrix<float> make_tiled<float>(const Csr&, const TileCut&, int);
template TiledMatrix<double> make_tiled<double>(const Csr&, const TileCut&, int);

}  // namespace gnnbench::cpu
