#include <algorithm>
#include <bit>
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

/// Sorts the nonzeros of one chunk into its blocks.
template <class T>
class ChunkSorter {
public:
    ChunkSorter(const Csr& a, const HostArray<std::int32_t>& position, TiledMatrix<T>& out)
        : a_(a),
          position_(position),
          out_(out),
          shift_(std::countr_zero(static_cast<std::uint64_t>(out.tile_cols))),
          tiles_((a.cols + out.tile_cols - 1) / out.tile_cols) {}

    void sort(RowRange rows, std::vector<TileBlock>& blocks, std::vector<Segment>& segments) {
        const std::int64_t height = rows.end - rows.begin;
        next_.assign(usize(tiles_ * height), 0);
        for_entries(rows, [&](std::int64_t slot, std::int32_t, std::size_t) { ++next_[usize(slot)]; });
        // Counts become where each segment's next entry goes.
        std::int64_t at = a_.indptr[usize(rows.begin)];
        for (std::int64_t t = 0; t < tiles_; ++t) {
            TileBlock block{static_cast<std::int64_t>(segments.size()), at, static_cast<std::int32_t>(t), 0};
            for (std::int64_t r = 0; r < height; ++r) {
                std::int64_t& slot = next_[usize(t * height + r)];
                const std::int64_t length = slot;
                slot = at;
                for (std::int64_t left = length; left > 0; left -= longest) {
                    segments.push_back(
                        {static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(std::min(left, longest))});
                    ++block.segments;
                }
                at += length;
            }
            if (block.segments > 0) blocks.push_back(block);
        }
        for_entries(rows, [&](std::int64_t slot, std::int32_t position, std::size_t j) {
            const auto to = usize(next_[usize(slot)]++);
            out_.local_col[to] = static_cast<std::uint16_t>(position & (out_.tile_cols - 1));
            out_.values[to] = static_cast<T>(a_.values[j]);
        });
    }

private:
    static constexpr std::int64_t longest = 65535;

    void for_entries(RowRange rows, auto&& f) const {
        const std::int64_t height = rows.end - rows.begin;
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            for (auto j = usize(a_.indptr[usize(r)]); j < usize(a_.indptr[usize(r) + 1]); ++j) {
                const std::int32_t p = position_[usize(a_.indices[j])];
                f((p >> shift_) * height + (r - rows.begin), p, j);
            }
    }

    const Csr& a_;
    const HostArray<std::int32_t>& position_;
    TiledMatrix<T>& out_;
    int shift_;
    std::int64_t tiles_;
    std::vector<std::int64_t> next_;
};

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
    const std::int64_t wanted =
        std::max<std::int64_t>((a.rows + tallest - 1) / tallest, std::int64_t{12} * threads);
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
    out.local_col = HostArray<std::uint16_t>(a.indices.size());
    out.values = HostArray<T>(a.indices.size());

    const auto chunks = usize(out.chunks());
    std::vector<std::vector<TileBlock>> blocks(chunks);
    std::vector<std::vector<Segment>> segments(chunks);
#pragma omp parallel num_threads(threads)
    {
        ChunkSorter<T> sorter(a, cut.columns.position, out);
#pragma omp for schedule(dynamic)
        for (std::size_t k = 0; k < chunks; ++k)
            sorter.sort({out.chunk_rows[k], out.chunk_rows[k + 1]}, blocks[k], segments[k]);
    }
    std::size_t count = 0;
    for (const auto& some : segments) count += some.size();
    out.segments = HostArray<Segment>(count);
    out.chunk_blocks = {0};
    std::int64_t at = 0;
    for (std::size_t k = 0; k < chunks; ++k) {
        std::copy(segments[k].begin(), segments[k].end(), out.segments.data() + at);
        for (TileBlock& block : blocks[k]) {
            block.first_segment += at;
            out.blocks.push_back(block);
        }
        at += static_cast<std::int64_t>(segments[k].size());
        out.chunk_blocks.push_back(static_cast<std::int64_t>(out.blocks.size()));
        out.widest_chunk = std::max(out.widest_chunk, out.chunk_rows[k + 1] - out.chunk_rows[k]);
    }
    return out;
}

template TiledMatrix<float> make_tiled<float>(const Csr&, const TileCut&, int);
template TiledMatrix<double> make_tiled<double>(const Csr&, const TileCut&, int);

}  // namespace gnnbench::cpu
