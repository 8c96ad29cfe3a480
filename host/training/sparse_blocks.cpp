#include <gnnbench/training/sparse_blocks.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/training/lines.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/usize.hpp>

#include "training/block_counts.hpp"

namespace gnnbench {
namespace {

/// The panel of each part; −1: none.
std::vector<int> panel_of_part(const IndexMap& index, std::span<const Part> panels) {
    std::vector<int> of(usize(index.parts()), -1);
    for (std::size_t k = 0; k < panels.size(); ++k) of[usize(panels[k])] = static_cast<int>(k);
    return of;
}

/// What the entries of a row of blocks are cut by.
struct Cut {
    const IndexMap& index;
    std::vector<int> panel_of;  ///< by part; −1: none

    /// Calls emit(panel, local column) if a panel has the column.
    void place(GlobalId column, auto&& emit) const {
        const std::int64_t position = index.position(column);
        const Part part = index.part_at(position);
        if (const int k = panel_of[usize(part)]; k >= 0)
            emit(k, static_cast<std::int32_t>(position - index.offset(part)));
    }
};

/// Where the next entry of the current row goes, in each block.
class RowCursors {
public:
    explicit RowCursors(const std::vector<Csr>& blocks)
        : blocks_(blocks), next_(blocks.size()), row_(blocks.size(), -1) {}
    std::size_t take(int k, std::int64_t row) {
        if (row_[usize(k)] != row) {
            row_[usize(k)] = row;
            next_[usize(k)] = blocks_[usize(k)].indptr[usize(row)];
        }
        return usize(next_[usize(k)]++);
    }

private:
    const std::vector<Csr>& blocks_;
    std::vector<std::int64_t> next_, row_;
};

/// Calls body(row) for all rows, each thread with a `body` of its own from make().
void over_rows(std::int64_t rows, int threads, auto&& make) {
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        auto body = make();
#pragma omp for schedule(dynamic, 256)
        for (std::int64_t r = 0; r < rows; ++r) body(r);
    }
}

}  // namespace

std::vector<Csr> cut_lines(const Adjacency& a, const Lines& lines, const IndexMap& columns,
                           std::span<const Part> panels) {
    SetupTimer timer(a.cost());
    const Cut by{columns, panel_of_part(columns, panels)};
    const int threads = a.threads();
    std::vector<Csr> blocks(panels.size());
    for (std::size_t k = 0; k < panels.size(); ++k) {
        blocks[k].rows = lines.size();
        blocks[k].cols = by.index.size(panels[k]);
        blocks[k].indptr.assign(usize(lines.size()) + 1, 0);
    }
    over_rows(lines.size(), threads, [&] {
        return [&](std::int64_t r) {
            lines.pattern(r, [&](GlobalId column) {
                by.place(column, [&](int k, std::int32_t) { ++blocks[usize(k)].indptr[usize(r) + 1]; });
            });
        };
    });
    for (Csr& b : blocks) {
        for (std::size_t r = 1; r < b.indptr.size(); ++r) b.indptr[r] += b.indptr[r - 1];
        b.indices.resize(usize(b.indptr.back()));
        b.values.resize(b.indices.size());
    }
    over_rows(lines.size(), threads, [&] {
        return [&, cursors = RowCursors(blocks)](std::int64_t r) mutable {
            lines.visit(r, [&](GlobalId column, double w) {
                by.place(column, [&](int k, std::int32_t local) {
                    const std::size_t at = cursors.take(k, r);
                    blocks[usize(k)].indices[at] = local;
                    blocks[usize(k)].values[at] = w;
                });
            });
        };
    });
    for (Csr& b : blocks) {
        if (!by.index.by_id()) sort_columns(b, threads);
        timer.add_bytes(b.bytes());
    }
    return blocks;
}

namespace {

/// Row pointers that are held at a time, in bytes.
constexpr std::int64_t group_bytes = std::int64_t{64} << 20;

}  // namespace

std::vector<std::int64_t> block_nonzeros(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Direction d) {
    std::vector<std::int64_t> count(panels.size());
    if (a.shared()) {
        const auto all = counted_blocks(a, {index}, {index});
        for (std::size_t k = 0; k < panels.size(); ++k)
            for (Part p = rows.first; p < rows.first + rows.count; ++p)
                count[k] += d == Direction::forward ? all->at(p, panels[k]) : all->at(panels[k], p);
        return count;
    }
    const Lines lines(a, d, index.owned(rows.first, rows.count), Entries::columns, columns_of(index, panels));
    const Cut by{index, panel_of_part(index, panels)};
    for (std::int64_t r = 0; r < lines.size(); ++r)
        lines.pattern(r, [&](GlobalId c) { by.place(c, [&](int k, std::int32_t) { ++count[usize(k)]; }); });
    return count;
}

std::vector<Csr> sparse_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                               std::span<const Part> panels, Direction d) {
    const Lines lines(a, d, index.owned(rows.first, rows.count), Entries::values, columns_of(index, panels));
    return cut_lines(a, lines, index, panels);
}

void for_each_block(const Adjacency& a, const IndexMap& index, PartRange rows, std::span<const Part> panels,
                    Direction d, const std::function<void(std::size_t k, const Csr& block)>& use) {
    const std::vector<GlobalId> owned = index.owned(rows.first, rows.count);
    const Lines lines(a, d, owned, Entries::values, columns_of(index, panels));
    const auto at_once = usize(std::max<std::int64_t>(1, group_bytes / (8 * (lines.size() + 1))));
    for (std::size_t first = 0; first < panels.size(); first += at_once) {
        const auto group = panels.subspan(first, std::min(at_once, panels.size() - first));
        std::vector<Csr> blocks = cut_lines(a, lines, index, group);
        for (std::size_t k = 0; k < blocks.size(); ++k) {
            if (a.names_vertices()) {
                const SetupTimer timer(a.cost());
                blocks[k].row_vertices = owned;
                blocks[k].col_vertices = index.owned(group[k]);
            }
            use(first + k, blocks[k]);
            blocks[k] = Csr();
        }
    }
}

void sort_columns(Csr& a, int threads) {
    over_rows(a.rows, threads, [&] {
        return [&, row = std::vector<std::pair<std::int32_t, double>>()](std::int64_t r) mutable {
            const auto first = usize(a.indptr[usize(r)]), last = usize(a.indptr[usize(r) + 1]);
            if (std::is_sorted(a.indices.begin() + a.indptr[usize(r)], a.indices.begin() + a.indptr[usize(r) + 1]))
                return;
            row.clear();
            for (auto e = first; e < last; ++e) row.emplace_back(a.indices[e], a.values[e]);
            std::ranges::sort(row, {}, &std::pair<std::int32_t, double>::first);
            for (auto e = first; e < last; ++e) std::tie(a.indices[e], a.values[e]) = row[e - first];
        };
    });
}

std::vector<std::unique_ptr<PreparedMatrix>> prepare_blocks(const Adjacency& a, const IndexMap& index,
                                                            PartRange rows, std::span<const Part> panels,
                                                            Direction d, Backend& backend, BlockForm form) {
    std::vector<std::unique_ptr<PreparedMatrix>> prepared;
    if (backend.holds_values()) {
        for_each_block(a, index, rows, panels, d, [&](std::size_t, const Csr& block) {
            prepared.push_back(
                backend.prepare_as_sized(form.transpose ? transposed(block, a.threads()) : block, form.products));
        });
        return prepared;
    }
    const std::vector<std::int64_t> nonzeros = block_nonzeros(a, index, rows, panels, d);
    for (std::size_t k = 0; k < panels.size(); ++k) {
        SparseSize size{rows.size(index), index.size(panels[k]), nonzeros[k]};
        if (form.transpose) std::swap(size.rows, size.cols);
        prepared.push_back(backend.prepare(size, form.products));
    }
    return prepared;
}

PanelBlocks::~PanelBlocks() = default;

namespace {

/// A symmetric Â is its own transpose: its forward blocks serve both directions.
template <class Block>
struct BothWays {
    std::vector<Block> forward, backward;
    Block& at(Direction d, int k) {
        auto& blocks = d == Direction::backward && !backward.empty() ? backward : forward;
        return blocks[usize(k)];
    }
};

class KeptBlocks final : public PanelBlocks {
public:
    KeptBlocks(const Adjacency& a, const IndexMap& index, PartRange rows, std::span<const Part> panels,
               Backend& backend)
        : backend_(backend) {
        blocks_.forward = prepare_blocks(a, index, rows, panels, Direction::forward, backend);
        if (!a.symmetric())
            blocks_.backward = prepare_blocks(a, index, rows, panels, Direction::backward, backend);
    }

    bool multiply(Direction d, int k, ConstMatrixView b, MatrixView c, bool add) override {
        const PreparedMatrix& a = *blocks_.at(d, k);
        if (a.nonzeros == 0) return false;
        backend_.spmm(a, b, c, {.beta = add ? 1.0 : 0.0});
        return true;
    }

    std::string notes() const override {
        std::map<std::string, int> count;
        for (const auto* side : {&blocks_.forward, &blocks_.backward})
            for (const auto& block : *side)
                if (block->nonzeros > 0) ++count[block->format];
        std::string text = "blocks kept:";
        for (const auto& [format, blocks] : count) text += fmt::format(" {} ({})", format, blocks);
        return text;
    }

private:
    Backend& backend_;
    BothWays<std::unique_ptr<PreparedMatrix>> blocks_;
};

/// One block's CSR on the device: contents on its owner, sizes everywhere.
struct SentBlock {
    std::int64_t cols = 0, nonzeros = 0;
    Array<std::int64_t> indptr;
    Array<std::int32_t> indices;
    Matrix values;
};

class SentBlocks final : public PanelBlocks {
public:
    SentBlocks(const Adjacency& a, const IndexMap& index, PartRange rows, std::span<const Part> panels,
               Backend& backend, Communicator& line)
        : backend_(backend),
          line_(line),
          rows_(rows.size(index)),
          panels_(static_cast<std::int64_t>(panels.size())) {
        blocks_.forward = load(a, index, rows, panels, Direction::forward);
        if (!a.symmetric()) blocks_.backward = load(a, index, rows, panels, Direction::backward);
        std::int64_t most = 0;
        for (const auto* side : {&blocks_.forward, &blocks_.backward})
            for (const SentBlock& b : *side) most = std::max(most, b.nonzeros);
        if (line.size() == 1) return;
        arrived_ = room_for(most);
    }

    bool multiply(Direction d, int k, ConstMatrixView b, MatrixView c, bool add) override {
        SentBlock& mine = blocks_.at(d, k);
        if (mine.nonzeros == 0) return false;
        const int root = owner(k);
        const SentBlock& block = root == line_.rank() ? mine : arrived_;
        // Integers are broadcast as raw bytes.
        const std::int64_t starts = rows_ + 1, count = mine.nonzeros;
        line_.broadcast_now({block.indptr.data(), 1, starts, starts, DType::f64}, root, Content::metadata);
        line_.broadcast_now({block.indices.data(), 1, count, count, DType::f32}, root, Content::metadata);
        line_.broadcast_now(block.values.view().cols_from(0, count), root);
        backend_.spmm(
            CsrView{block.indptr.data(), block.indices.data(), block.values.view().data, rows_, mine.cols, count},
            b, c, {.beta = add ? 1.0 : 0.0});
        return true;
    }

    std::string notes() const override { return "blocks sent for every product: csr"; }

private:
    /// The member of the line that owns panel k.
    int owner(int k) const {
        int rank = 0;
        while (block_begin(panels_, line_.size(), rank + 1) <= k) ++rank;
        return rank;
    }

    SentBlock room_for(std::int64_t nonzeros) const {
        SentBlock b;
        b.indptr = {backend_.allocate(usize(rows_ + 1) * sizeof(std::int64_t)), rows_ + 1};
        b.indices = {backend_.allocate(usize(nonzeros) * sizeof(std::int32_t)), nonzeros};
        b.values = backend_.matrix(1, nonzeros);
        return b;
    }

    std::vector<SentBlock> load(const Adjacency& a, const IndexMap& index, PartRange rows,
                                std::span<const Part> panels, Direction d) {
        const auto nonzeros = block_nonzeros(a, index, rows, panels, d);
        const auto first = usize(block_begin(panels_, line_.size(), line_.rank()));
        const auto count = usize(block_size(panels_, line_.size(), line_.rank()));
        std::vector<SentBlock> out(panels.size());
        for (std::size_t k = 0; k < panels.size(); ++k) {
            out[k].cols = index.size(panels[k]);
            out[k].nonzeros = nonzeros[k];
        }
        if (!backend_.holds_values()) {
            for (std::size_t k = first; k < first + count; ++k) {
                const SparseSize size{rows_, out[k].cols, out[k].nonzeros};
                out[k] = room_for(size.nonzeros);
                out[k].cols = size.cols;
                out[k].nonzeros = size.nonzeros;
            }
            return out;
        }
        const std::vector<Csr> own = sparse_blocks(a, index, rows, panels.subspan(first, count), d);
        for (std::size_t i = 0; i < count; ++i) {
            SentBlock& b = out[first + i];
            b.indptr = backend_.upload(std::span<const std::int64_t>(own[i].indptr));
            b.indices = backend_.upload(std::span<const std::int32_t>(own[i].indices));
            b.values = backend_.matrix(1, b.nonzeros);
            backend_.upload(std::span<const double>(own[i].values), b.values);
        }
        return out;
    }

    Backend& backend_;
    Communicator& line_;
    std::int64_t rows_, panels_;
    BothWays<SentBlock> blocks_;
    SentBlock arrived_;  ///< buffer for the largest block of another rank
};

}  // namespace

std::unique_ptr<PanelBlocks> keep_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Backend& backend) {
    return std::make_unique<KeptBlocks>(a, index, rows, panels, backend);
}

std::unique_ptr<PanelBlocks> send_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Backend& backend, Communicator& line) {
    return std::make_unique<SentBlocks>(a, index, rows, panels, backend, line);
}

void state_sent_blocks(VolumeStatement& v, std::int64_t rows, std::span<const std::int64_t> nonzeros, int ranks,
                       int rank) {
    const auto panels = static_cast<std::int64_t>(nonzeros.size());
    const std::int64_t first = block_begin(panels, ranks, rank), end = first + block_size(panels, ranks, rank);
    for (std::int64_t k = 0; k < panels; ++k) {
        const std::int64_t count = nonzeros[usize(k)];
        if (count == 0) continue;
        const bool is_root = k >= first && k < end;
        v.broadcast_metadata((rows + 1) * 8, ranks, is_root);
        v.broadcast_metadata(count * 4, ranks, is_root);
        v.broadcast(count, ranks, is_root);
    }
}

void state_block_memory(MemoryStatement& m, std::int64_t rows, std::int64_t nonzeros) {
    m.list<std::int64_t>(rows + 1);
    m.list<std::int32_t>(nonzeros);
    m.matrix(1, nonzeros);
}

void state_sent_blocks_memory(MemoryStatement& m, std::int64_t rows, std::span<const std::int64_t> nonzeros,
                              int ranks, int rank) {
    const auto panels = static_cast<std::int64_t>(nonzeros.size());
    const auto own =
        nonzeros.subspan(usize(block_begin(panels, ranks, rank)), usize(block_size(panels, ranks, rank)));
    for (const std::int64_t count : own) state_block_memory(m, rows, count);
}

}  // namespace gnnbench
