#include <algorithm>
#include <bit>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "threads.hpp"
#include "tiled.hpp"

namespace gnnbench::cpu {
namespace {

/// Columns by falling count, ties in their own order.
HostArray<std::int32_t> columns_by_count(const Csr& a) {
    std::vector<std::int32_t> count(usize(a.cols));
    for (const std::int32_t c : a.indices) ++count[usize(c)];
    const std::int32_t most = count.empty() ? 0 : *std::max_element(count.begin(), count.end());
    // A counting sort; bucket k holds the columns with most − k entries.
    std::vector<std::int64_t> at(usize(most) + 2);
    for (const std::int32_t n : count) ++at[usize(most - n) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    HostArray<std::int32_t> order(count.size());
    for (std::size_t c = 0; c < count.size(); ++c)
        order[usize(at[usize(most - count[c])]++)] = static_cast<std::int32_t>(c);
    return order;
}

/// Chunks of about equal work, none taller than what 16 bits and the caches hold.
std::vector<std::int64_t> cut_rows(const Csr& a, std::int64_t tallest, int threads) {
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

/// Sorts the nonzeros of one chunk into its blocks.
template <class T>
class ChunkSorter {
public:
    ChunkSorter(const Csr& a, const std::vector<std::int32_t>& position, TiledMatrix<T>& out)
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
    const std::vector<std::int32_t>& position_;
    TiledMatrix<T>& out_;
    int shift_;
    std::int64_t tiles_;
    std::vector<std::int64_t> next_;
};

}  // namespace

template <class T>
TiledMatrix<T> make_tiled(const Csr& a, std::int64_t tile_cols, int threads) {
    TiledMatrix<T> out;
    out.rows = a.rows;
    out.cols = a.cols;
    out.nonzeros = a.nonzeros();
    out.tile_cols = tile_cols;
    out.column_at = columns_by_count(a);
    std::vector<std::int32_t> position(usize(a.cols));
    for (std::size_t p = 0; p < position.size(); ++p)
        position[usize(out.column_at[p])] = static_cast<std::int32_t>(p);
    out.chunk_rows = cut_rows(a, std::min<std::int64_t>(65536, std::max<std::int64_t>(8192, tile_cols)), threads);
    out.local_col = HostArray<std::uint16_t>(a.indices.size());
    out.values = HostArray<T>(a.indices.size());

    const auto chunks = usize(out.chunks());
    std::vector<std::vector<TileBlock>> blocks(chunks);
    std::vector<std::vector<Segment>> segments(chunks);
#pragma omp parallel num_threads(threads)
    {
        ChunkSorter<T> sorter(a, position, out);
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

template TiledMatrix<float> make_tiled<float>(const Csr&, std::int64_t, int);
template TiledMatrix<double> make_tiled<double>(const Csr&, std::int64_t, int);

}  // namespace gnnbench::cpu
