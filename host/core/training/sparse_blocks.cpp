#include <gnnbench/training/sparse_blocks.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// The panel of each part; −1: none.
std::vector<int> panel_of_part(const IndexMap& index, std::span<const Part> panels) {
    std::vector<int> of(usize(index.parts()), -1);
    for (std::size_t k = 0; k < panels.size(); ++k) of[usize(panels[k])] = static_cast<int>(k);
    return of;
}

/// Calls emit(panel, row, column, value) for every entry of the blocks, columns of a row in the order of original ids:
/// ascending, unless the partition has an order inside parts.
void visit(const Adjacency& a, const IndexMap& index, PartRange rows, std::span<const Part> panels, Direction d,
           auto&& emit) {
    const std::vector<int> panel_of = panel_of_part(index, panels);
    const auto panel = [&](GlobalId v) { return panel_of[usize(index.part_of(v))]; };
    const std::int64_t first = index.offset(rows.first);
    const auto row = [&](GlobalId v) { return index.offset(index.part_of(v)) + value(index.local(v)) - first; };
    if (d == Direction::forward) {
        for (Part p = rows.first; p < rows.first + rows.count; ++p)
            for (const GlobalId v : index.owned(p))
                a.row(value(v), [&](std::int64_t j, double w) {
                    const GlobalId column{j};
                    if (const int k = panel(column); k >= 0) emit(k, row(v), value(index.local(column)), w);
                });
        return;
    }
    // Row j of Âᵀ is column j of Â.
    for (std::int64_t v = 0; v < a.vertices(); ++v) {
        const GlobalId source{v};
        const int k = panel(source);
        if (k < 0) continue;
        a.row(v, [&](std::int64_t j, double w) {
            const GlobalId owned{j};
            if (rows.contains(index.part_of(owned))) emit(k, row(owned), value(index.local(source)), w);
        });
    }
}

bool columns_ascend(const Csr& a) {
    for (std::size_t r = 0; r + 1 < a.indptr.size(); ++r)
        if (!std::is_sorted(a.indices.begin() + a.indptr[r], a.indices.begin() + a.indptr[r + 1])) return false;
    return true;
}

}  // namespace

std::vector<std::int64_t> block_nonzeros(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Direction d) {
    std::vector<std::int64_t> count(panels.size());
    visit(a, index, rows, panels, d, [&](int k, std::int64_t, std::int32_t, double) { ++count[usize(k)]; });
    return count;
}

std::vector<Csr> sparse_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                               std::span<const Part> panels, Direction d) {
    std::vector<Csr> blocks(panels.size());
    for (std::size_t k = 0; k < panels.size(); ++k) {
        blocks[k].rows = rows.size(index);
        blocks[k].cols = index.size(panels[k]);
        blocks[k].indptr.assign(usize(blocks[k].rows) + 1, 0);
    }
    visit(a, index, rows, panels, d,
          [&](int k, std::int64_t r, std::int32_t, double) { ++blocks[usize(k)].indptr[usize(r) + 1]; });
    std::vector<std::vector<std::int64_t>> next;
    for (Csr& b : blocks) {
        for (std::size_t r = 1; r < b.indptr.size(); ++r) b.indptr[r] += b.indptr[r - 1];
        b.indices.resize(usize(b.indptr.back()));
        b.values.resize(b.indices.size());
        next.emplace_back(b.indptr.begin(), b.indptr.end() - 1);
    }
    visit(a, index, rows, panels, d, [&](int k, std::int64_t r, std::int32_t c, double w) {
        Csr& b = blocks[usize(k)];
        const auto at = usize(next[usize(k)][usize(r)]++);
        b.indices[at] = c;
        b.values[at] = w;
    });
    for (Csr& b : blocks)
        if (!columns_ascend(b)) b = transposed(transposed(b));
    return blocks;
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
        const auto prepare = [&](Direction d) {
            std::vector<std::unique_ptr<PreparedMatrix>> prepared;
            for (Csr& block : sparse_blocks(a, index, rows, panels, d)) {
                prepared.push_back(backend.prepare(block));
                block = Csr();  // the back end has its own copy; free this one before the next block
            }
            return prepared;
        };
        blocks_.forward = prepare(Direction::forward);
        if (!a.symmetric()) blocks_.backward = prepare(Direction::backward);
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
        arrived_.indptr =
            backend.upload(std::span<const std::int64_t>(std::vector<std::int64_t>(usize(rows_) + 1)));
        arrived_.indices = backend.upload(std::span<const std::int32_t>(std::vector<std::int32_t>(usize(most))));
        arrived_.values = backend.matrix(1, most);
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
