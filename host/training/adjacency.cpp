#include <gnnbench/training/adjacency.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gnnbench/training/sparse_blocks.hpp>

namespace gnnbench {

Adjacency::Diagonal Adjacency::diagonal_of(const ModelSpec& model) {
    if (model.kind == LayerKind::gin) return {true, 1 + model.epsilon, 1 + model.epsilon};
    return {model.self_loops, 1, 0};
}

namespace {

/// Which vertices of `only` have an entry (v, v); empty if none has.
std::vector<bool> self_loops(const GraphView& graph, VertexRun only, int threads) {
    if (graph.self_loops == 0) return {};
    const std::int64_t n = graph.vertices();
    std::vector<std::uint8_t> has(usize(n));
    std::int64_t count = 0;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static) reduction(+ : count)
    for (std::int64_t v = only.first; v < only.end; ++v) {
        const auto row = graph.indices.subspan(usize(graph.indptr[usize(v)]),
                                               usize(graph.indptr[usize(v) + 1] - graph.indptr[usize(v)]));
        has[usize(v)] = std::ranges::binary_search(row, static_cast<std::int32_t>(v));
        count += has[usize(v)];
    }
    if (count == 0) return {};
    return {has.begin(), has.end()};
}

/// Σ of the weights of each row of `only`; length vertices.
std::vector<double> sums_of(const CompressedRows& rows, VertexRun only, int threads) {
    std::vector<double> sums(rows.indptr.size() - 1);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 4096)
    for (std::int64_t v = only.first; v < only.end; ++v) {
        double sum = 0;
        for (auto e = rows.indptr[usize(v)]; e < rows.indptr[usize(v) + 1]; ++e)
            sum += double{rows.weights[usize(e)]};
        sums[usize(v)] = sum;
    }
    return sums;
}

/// Σ of each column's weights where only rows are at hand: in the order of rows, so by one thread.
std::vector<double> column_sums_of(const CompressedRows& rows) {
    std::vector<double> sums(rows.indptr.size() - 1);
    for (std::size_t e = 0; e < rows.indices.size(); ++e)
        sums[usize(rows.indices[e])] += rows.weights.empty() ? 1.0 : double{rows.weights[e]};
    return sums;
}

/// Takes what [first, end) of an array in a mapped file, and what lies before it on the same page, out of this process's
/// memory. Whoever reads it again maps it again.
template <class T>
void release(std::span<const T> all, std::int64_t first, std::int64_t end) {
    if (all.empty()) return;
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto page_of = [&](std::int64_t i) {
        const auto* at = reinterpret_cast<const std::byte*>(all.data() + i);
        return const_cast<std::byte*>(at - reinterpret_cast<std::uintptr_t>(at) % page);
    };
    std::byte* const begin = page_of(first);
    madvise(begin, usize(page_of(end) - begin), MADV_DONTNEED);
}

}  // namespace

Adjacency::Adjacency(const GraphView& graph, const ModelSpec& model, int threads, SetupCost* cost,
                     SharedSetup* shared)
    : Adjacency(graph, model, {0, graph.vertices()}, threads, cost, shared) {}

Adjacency::Adjacency(const GraphView& graph, const ModelSpec& model, VertexRun only, int threads, SetupCost* cost,
                     SharedSetup* shared)
    : graph_(graph),
      columns_(graph.columns()),
      diagonal_(diagonal_of(model)),
      normalisation_(model.normalisation),
      symmetric_(graph.symmetric && model.normalisation != Normalisation::mean),
      column_sum_of_rows_(graph.symmetric),
      attends_(model.attends()),
      names_vertices_(attends_ && model.attention_dropout > 0),
      threads_(threads),
      cost_(cost),
      shared_(shared) {
    const SetupTimer timer(this->cost());
    if (graph.vertices() == 0) return;
    const bool scaled = normalisation_ != Normalisation::none;
    loops_ = self_loops(graph, only, threads);
    if (scaled && !graph.weights.empty() && graph.row_sums.empty())
        row_sum_ = sums_of(graph.rows(), only, threads);
    if (normalisation_ != Normalisation::symmetric || column_sum_of_rows_) return;
    if (!graph.column_sums.empty()) return;
    if (!reads(Direction::backward))
        column_sum_ = column_sums_of(graph.rows());
    else if (!graph.weights.empty())
        column_sum_ = sums_of(columns_, only, threads);
}

std::int64_t Adjacency::first_unscaled(std::span<const double> sums,
                                       const std::function<bool(std::int64_t)>& weighs) const {
    constexpr std::int64_t run = 1 << 20;  // 8 MiB of sums
    for (std::int64_t first = 0; first < vertices(); first += run) {
        const std::int64_t end = std::min(first + run, vertices());
        for (std::int64_t v = first; v < end; ++v)
            if (const double s = sum(sums, {}, v); s < 0 || (s == 0 && weighs(v))) return v;
        if (graph_.in_files && vertices() > run && sums.data() != row_sum_.data() &&
            sums.data() != column_sum_.data())
            release(sums, first, end);
    }
    return -1;
}

std::optional<Adjacency::Unscaled> Adjacency::unscaled() const {
    if (normalisation_ == Normalisation::none || row_sums().empty()) return std::nullopt;
    const auto weighs_in = [](const CompressedRows& rows) {
        return [rows](std::int64_t v) {
            const auto begin = usize(rows.indptr[usize(v)]), end = usize(rows.indptr[usize(v) + 1]);
            return std::ranges::any_of(rows.weights.subspan(begin, end - begin), [](float w) { return w != 0; });
        };
    };
    if (const std::int64_t v = first_unscaled(row_sums(), weighs_in(graph_.rows())); v >= 0)
        return Unscaled{v, sum(row_sums(), {}, v), false};
    if (normalisation_ != Normalisation::symmetric || column_sum_of_rows_) return std::nullopt;
    std::vector<bool> columns;  // that have an entry other than 0, where only rows are at hand
    if (!reads(Direction::backward)) {
        columns.resize(usize(vertices()));
        for (std::size_t e = 0; e < graph_.indices.size(); ++e)
            if (graph_.weights[e] != 0) columns[usize(graph_.indices[e])] = true;
    }
    const std::int64_t v =
        columns.empty() ? first_unscaled(column_sums(), weighs_in(columns_))
                        : first_unscaled(column_sums(), [&](std::int64_t c) { return bool{columns[usize(c)]}; });
    if (v < 0) return std::nullopt;
    return Unscaled{v, sum(column_sums(), {}, v), true};
}

std::optional<Adjacency::Unattended> Adjacency::unattended() const {
    if (!attends_ || graph_.weights.empty()) return std::nullopt;
    for (std::int64_t v = 0; v < vertices(); ++v)
        for (auto e = usize(graph_.indptr[usize(v)]); e < usize(graph_.indptr[usize(v) + 1]); ++e)
            if (!(graph_.weights[e] > 0)) return Unattended{v, graph_.indices[e], graph_.weights[e]};
    return std::nullopt;
}

std::string why_weights_unusable(const Adjacency& a, std::span<const GlobalId> ids) {
    const auto id_of = [&](std::int64_t v) { return ids.empty() ? v : value(ids[usize(v)]); };
    if (const auto found = a.unattended())
        return fmt::format(
            "layers: gat and gatv2 need positive weights, which multiply exponentials; the edge from {} to {} has "
            "{}",
            id_of(found->column), id_of(found->row), found->weight);
    const auto found = a.unscaled();
    if (!found) return {};
    const bool mean = a.normalisation() == Normalisation::mean;
    return fmt::format(
        "normalisation: {} divides by {} of weights, but the weights in {} {} of the {} add up to {}, with the "
        "self-loop that the model adds, if any; gcn with normalisation: none, and gin, take weights of either "
        "sign",
        mean ? "mean" : "symmetric", mean ? "each row's sum" : "the square root of each row's and column's sum",
        found->column ? "column" : "row", id_of(found->vertex), ids.empty() ? "graph" : "subgraph of a batch",
        found->sum);
}

TileChoice Adjacency::tiles_of(Direction d, std::span<const ColumnRange> columns) const {
    const TiledRows& tiles = tiled_rows(d);
    TileChoice choice;
    if (tiles.empty()) return choice;
    for (const auto& [first, end] : columns)
        for (std::int64_t c = first / tiles.tile_columns; c * tiles.tile_columns < end; ++c)
            if (choice.across.empty() || choice.across.back() < c) choice.across.push_back(c);
    if (std::ssize(choice.across) == tiles.across) choice.across.clear();
    return choice;
}

ColumnRange Adjacency::columns_of(Direction d, const TileChoice& from) const {
    if (from.whole_rows()) return {0, vertices()};
    const std::int64_t each = tiled_rows(d).tile_columns;
    return {from.across.front() * each, std::min((from.across.back() + 1) * each, vertices())};
}

std::int64_t Adjacency::entries_of(Direction d, std::int64_t v, const TileChoice& from) const {
    std::int64_t count = diagonal_.everywhere && !has_loop(v) ? 1 : 0;
    if (from.whole_rows()) {
        const CompressedRows rows = rows_of(d);
        return count + rows.indptr[usize(v) + 1] - rows.indptr[usize(v)];
    }
    for (const std::int64_t c : from.across) {
        const auto [begin, end] = tiled_rows(d).row(v, c);
        count += end - begin;
    }
    return count;
}

ColumnScales Adjacency::scales(Direction d, const ColumnRange& columns) const {
    ColumnScales s{columns.first, std::vector<double>(usize(columns.end - columns.first))};
#pragma omp parallel for num_threads(threads_) if (threads_ > 1) schedule(static)
    for (std::int64_t v = columns.first; v < columns.end; ++v) s.values[usize(v - columns.first)] = scale(d, v);
    return s;
}

FewScales Adjacency::scales(Direction d, PositionSet columns) const {
    constexpr std::int64_t run = 1 << 20;  // 8 MiB of row pointers
    FewScales s{std::move(columns), {}};
    s.values.reserve(usize(s.columns.size()));
    for (std::int64_t first = 0; first < vertices(); first += run) {
        const std::int64_t end = std::min(first + run, vertices());
        for (const std::int32_t c : s.columns.members(first, end)) s.values.push_back(scale(d, first + c));
        if (!graph_.in_files || vertices() <= run) continue;
        release(graph_.indptr, first, end);
        release(columns_.indptr, first, end);
        release(graph_.row_sums, first, end);
        release(graph_.column_sums, first, end);
    }
    return s;
}

std::int64_t Adjacency::nonzeros() const {
    if (!diagonal_.everywhere) return graph_.edges();
    return graph_.edges() + vertices() - std::ranges::count(loops_, true);
}

std::vector<Csr> block_row(const Adjacency& a, const IndexMap& index, Part p, Direction d) {
    std::vector<Part> all(usize(index.parts()));
    std::iota(all.begin(), all.end(), Part{0});
    return sparse_blocks(a, index, {.first = p, .count = 1}, all, d);
}

std::vector<Csr> block_column(const Adjacency& a, const IndexMap& index, Part p, Direction d) {
    // (A_ip)ᵀ is block (p, i) of Aᵀ.
    std::vector<Csr> blocks = block_row(a, index, p, opposite(d));
    for (Csr& block : blocks) block = transposed(block);
    return blocks;
}

Csr transposed(const Csr& a, int threads) {
    Csr t;
    t.rows = a.cols;
    t.cols = a.rows;
    t.indptr.assign(usize(t.rows) + 1, 0);
    t.indices.resize(a.indices.size());
    t.values.resize(a.values.size());
    t.row_vertices = a.col_vertices;
    t.col_vertices = a.row_vertices;
    // Each run of rows has counters of its own for all columns, which pay where there are more entries.
    const auto runs = a.nonzeros() > threads * a.cols ? usize(threads) : 1;
    const auto first_row = [&](std::size_t run) { return usize(a.rows) * run / runs; };
    std::vector<std::vector<std::int64_t>> next(runs);
#pragma omp parallel for num_threads(static_cast<int>(runs)) if (runs > 1) schedule(static, 1)
    for (std::size_t run = 0; run < runs; ++run) {
        next[run].assign(usize(a.cols), 0);
        for (auto e = usize(a.indptr[first_row(run)]); e < usize(a.indptr[first_row(run + 1)]); ++e)
            ++next[run][usize(a.indices[e])];
    }
    std::int64_t before = 0;
    for (std::size_t c = 0; c < usize(a.cols); ++c) {
        for (auto& of_run : next) before += std::exchange(of_run[c], before);
        t.indptr[c + 1] = before;
    }
#pragma omp parallel for num_threads(static_cast<int>(runs)) if (runs > 1) schedule(static, 1)
    for (std::size_t run = 0; run < runs; ++run)
        for (std::size_t r = first_row(run); r < first_row(run + 1); ++r)
            for (auto e = usize(a.indptr[r]); e < usize(a.indptr[r + 1]); ++e) {
                const auto to = usize(next[run][usize(a.indices[e])]++);
                t.indices[to] = static_cast<std::int32_t>(r);
                t.values[to] = a.values[e];
            }
    return t;
}

PreparedBlocks::PreparedBlocks(const Adjacency& a, const IndexMap& index, Part p, Backend& backend,
                               const HoldsBlock& holds, BlockLine line, ProductDirections directions) {
    const auto transposes = directions == ProductDirections::forward_and_its_transposes
                                ? TransposedProducts::wanted
                                : TransposedProducts::none;
    std::vector<Part> held;
    for (Part j = 0; j < index.parts(); ++j)
        if (holds(j)) held.push_back(j);
    const bool by_column = line == BlockLine::column;
    const auto prepare_cut = [&](Direction d, bool transpose) {
        std::vector<std::unique_ptr<PreparedMatrix>> blocks =
            prepare_blocks(a, index, {.first = p, .count = 1}, held, d, backend,
                           {.transpose = transpose, .products = transposes});
        std::vector<std::unique_ptr<PreparedMatrix>> prepared(usize(index.parts()));
        for (std::size_t k = 0; k < held.size(); ++k) prepared[usize(held[k])] = std::move(blocks[k]);
        return prepared;
    };
    // Block (i, p) is the transpose of block (p, i) of the other direction's matrix.
    const auto prepare_all = [&](Direction d) { return prepare_cut(by_column ? opposite(d) : d, by_column); };
    forward_ = prepare_all(Direction::forward);
    if (directions == ProductDirections::both && !a.symmetric()) backward_ = prepare_all(Direction::backward);
    if (directions == ProductDirections::forward_and_transposed_blocks)
        backward_ = prepare_cut(by_column ? Direction::backward : Direction::forward, !by_column);
}

std::string PreparedBlocks::formats() const {
    std::map<std::string, int> count;
    for (const auto* side : {&forward_, &backward_})
        for (const auto& block : *side)
            if (block && block->nonzeros > 0) ++count[block->format];
    std::string text;
    for (const auto& [format, blocks] : count)
        text += fmt::format("{}{} ({} block{})", text.empty() ? "" : ", ", format, blocks, blocks == 1 ? "" : "s");
    return text;
}

}  // namespace gnnbench
