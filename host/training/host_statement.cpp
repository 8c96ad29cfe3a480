#include <gnnbench/training/host_statement.hpp>

#include <numeric>

#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/usize.hpp>

#include "training/block_counts.hpp"

namespace gnnbench {
namespace {

/// Linux maps what is in its cache of the 64 KiB around a fault.
constexpr std::int64_t pages_per_fault_bytes = std::int64_t{64} << 10;

/// Rows of which the scales of a few columns are read before their row starts are let go: Adjacency::scales.
constexpr std::int64_t scale_run = 1 << 20;

std::vector<Part> all_parts(const IndexMap& index) {
    std::vector<Part> all(usize(index.parts()));
    std::iota(all.begin(), all.end(), Part{0});
    return all;
}

/// Rows are cut in blocks by panel; each is let go once it is prepared.
void cut_blocks(HostStatement& m, const Problem& p, const Adjacency& a, PartRange rows,
                std::span<const Part> panels, Direction d, bool transpose) {
    const std::vector<GlobalId> owned = p.index.owned(rows.first, rows.count);
    const std::int64_t n = std::ssize(owned), ids = host_bytes::owned_id * n;
    m.take(ids);
    const std::int64_t scales = m.reads_rows(a, d, owned, columns_of(p.index, panels), Entries::values);
    m.take(scales);
    const std::vector<std::int64_t> nonzeros = block_nonzeros(a, p.index, rows, panels, d);
    for (const std::int64_t count : nonzeros) m.take(host_bytes::cut(n, count));
    for (std::size_t k = 0; k < nonzeros.size(); ++k) {
        const std::int64_t cols = p.index.size(panels[k]);
        const std::int64_t other = transpose ? host_bytes::cut(cols, nonzeros[k]) : 0;
        m.take(other);
        transpose ? m.prepares(cols, n, nonzeros[k]) : m.prepares(n, cols, nonzeros[k]);
        m.let_go(other + host_bytes::cut(n, nonzeros[k]));
    }
    m.let_go(ids + scales);
}

}  // namespace

void MappedPages::read(std::int64_t first_byte, std::int64_t end_byte) {
    if (first_byte >= end_byte) return;
    const std::int64_t first = first_byte / pages_per_fault_bytes, last = (end_byte - 1) / pages_per_fault_bytes;
    if (std::ssize(seen_) <= last) seen_.resize(usize(last) + 1);
    for (std::int64_t i = first; i <= last; ++i) {
        if (seen_[usize(i)]) continue;
        seen_[usize(i)] = true;
        bytes_ += pages_per_fault_bytes;
    }
}

HostStatement::HostStatement(const Problem& problem, std::int64_t element_bytes, bool device_on_host)
    : problem_(problem), element_bytes_(element_bytes), device_on_host_(device_on_host) {
    const GraphView& graph = problem.dataset.graph;
    if (graph.self_loops == 0) return;
    // Adjacency looks for the diagonal entry of every row.
    rows_[0].read(0, graph.edges() * 4);
    reads_row_starts(Direction::forward, 0, graph.vertices());
    take(graph.vertices() / 8);
}

void HostStatement::prepares(std::int64_t rows, std::int64_t cols, std::int64_t nonzeros) {
    if (device_on_host_) {
        const bool packs = nonzeros >= host_bytes::packed_from * cols;
        // Attention packs twice as many columns of its operand, and four numbers a head beside them.
        const std::int64_t heads = problem_.model.most_heads();
        const std::int64_t columns =
            heads > 0 ? 2 * host_bytes::packed_columns + 4 * heads : host_bytes::packed_columns;
        const std::int64_t packed = packs ? columns * cols * element_bytes_ : 0;
        packed_ = std::max(packed_, packed);
        take(2 * packed);
        let_go(2 * packed);
        take(host_bytes::prepared_entry(element_bytes_) * nonzeros + host_bytes::row_pointer * (rows + 1));
        return;
    }
    take(element_bytes_ * nonzeros);  // values in the device's type, on their way
    let_go(element_bytes_ * nonzeros);
}

void HostStatement::loads(std::int64_t bytes) {
    if (!device_on_host_) return;
    loaded_ += bytes;
    take(bytes);
}

void HostStatement::reads_features(std::span<const GlobalId> vertices, std::int64_t columns) {
    const std::int64_t row = 4 * problem_.dataset.feature_count;
    for (const GlobalId v : vertices) features_.read(value(v) * row, (value(v) + 1) * row);
    loads(std::ssize(vertices) * columns * element_bytes_);
}

void HostStatement::reads_features(VertexRun run) {
    const std::int64_t row = 4 * problem_.dataset.feature_count;
    features_.read(run.first * row, run.end * row);
}

void HostStatement::loads_features(std::int64_t rows, std::int64_t columns) {
    loads(rows * columns * element_bytes_);
}

void HostStatement::reads_labels(std::span<const GlobalId> vertices) {
    const bool several = problem_.dataset.multi_label();
    const std::int64_t label = several ? problem_.dataset.classes : 4;
    for (const GlobalId v : vertices) labels_.read(value(v) * label, (value(v) + 1) * label);
    loads(std::ssize(vertices) * (several ? host_bytes::vertex_data - 4 + label : host_bytes::vertex_data));
}

void HostStatement::reads_row_starts(Direction d, std::int64_t first, std::int64_t end) {
    const GraphView& graph = problem_.dataset.graph;
    const std::size_t side = d == Direction::forward || graph.symmetric ? 0 : 1;
    row_starts_[side].read(first * host_bytes::row_pointer, (end + 1) * host_bytes::row_pointer);
}

std::int64_t HostStatement::reads_rows(const Adjacency& a, Direction d, std::span<const GlobalId> vertices,
                                       std::span<const ColumnRange> columns, Entries entries) {
    const GraphView& graph = problem_.dataset.graph;
    const std::size_t side = d == Direction::forward || graph.symmetric ? 0 : 1;
    const CompressedRows rows = side == 0 ? graph.rows() : graph.transpose;
    const std::int64_t entry = host_bytes::stored_entry(!graph.weights.empty());
    if (!a.reads(d)) {  // one walk over all of the graph
        rows_[0].read(0, graph.edges() * entry);
        return host_bytes::index_map / 2 * graph.vertices();
    }
    const TileChoice from = a.tiles_of(d, columns);
    std::int64_t count = 0;
    for (const GlobalId v : vertices) {
        count += a.entries_of(d, value(v), from);
        if (from.whole_rows()) {
            rows_[side].read(rows.indptr[usize(value(v))] * entry, rows.indptr[usize(value(v)) + 1] * entry);
            reads_row_starts(d, value(v), value(v));
            continue;
        }
        for (const std::int64_t c : from.across) {
            const auto [begin, end] = (side == 0 ? graph.tiles : graph.transpose_tiles).row(value(v), c);
            tiles_[side].read(begin * entry, end * entry);
        }
    }
    if (entries == Entries::columns || !a.scales_columns(d)) return 0;
    const ColumnRange scaled = a.columns_of(d, from);
    const std::int64_t n = a.vertices();
    if (count > scaled.end - scaled.first) {
        reads_row_starts(opposite(d), scaled.first, scaled.end);
        return host_bytes::scale * (scaled.end - scaled.first);
    }
    if (!graph.in_files || n <= scale_run) reads_row_starts(opposite(d), 0, n);
    return host_bytes::scale * std::min(count, n) + host_bytes::position_set(n);
}

void HostStatement::reads_rows(VertexRun run) {
    const GraphView& graph = problem_.dataset.graph;
    const std::int64_t entry = host_bytes::stored_entry(!graph.weights.empty());
    rows_[0].read(graph.indptr[usize(run.first)] * entry, graph.indptr[usize(run.end)] * entry);
    for (const Direction d : {Direction::forward, Direction::backward}) reads_row_starts(d, run.first, run.end);
}

void HostStatement::reads_entries() {
    const GraphView& graph = problem_.dataset.graph;
    rows_[0].read(0, graph.edges() * host_bytes::stored_entry(!graph.weights.empty()));
    reads_row_starts(Direction::forward, 0, graph.vertices());
}

void HostStatement::reads_everything() {
    const GraphView& graph = problem_.dataset.graph;
    reads_entries();
    if (!graph.symmetric) {
        rows_[1].read(0, graph.edges() * host_bytes::stored_entry(!graph.weights.empty()));
        reads_row_starts(Direction::backward, 0, graph.vertices());
    }
    features_.read(0, graph.vertices() * problem_.dataset.feature_count * 4);
    labels_.read(0, graph.vertices() * (problem_.dataset.multi_label() ? problem_.dataset.classes : 4));
}

HostMemory HostStatement::most(std::int64_t device_bytes) const {
    const std::int64_t training = held_ + (device_on_host_ ? device_bytes - loaded_ + packed_ : 0);
    std::int64_t mapped = features_.bytes() + labels_.bytes() + problem_.dataset.graph.vertices();  // all splits
    for (const auto* pages : {&rows_, &row_starts_, &tiles_})
        for (const MappedPages& p : *pages) mapped += p.bytes();
    // Positions are looked up everywhere, and vertices of one part.
    if (!problem_.index.identity()) mapped += host_bytes::index_map * problem_.index.vertices();
    mapped += host_bytes::entry_part * std::ssize(problem_.index.part_of_entry());
    return {std::max(most_, training), mapped};
}

void state_owned_rows(HostStatement& m, const Problem& p, Part part) {
    const std::vector<GlobalId> owned = p.index.owned(part);
    m.take(host_bytes::owned_id * std::ssize(owned));
    m.reads_features(owned, p.dataset.feature_count);
    m.reads_labels(owned);
}

void state_block_cuts(HostStatement& m, const Problem& p, Part i, BlockLine line, const HoldsBlock& holds,
                      ProductDirections directions) {
    const Adjacency a = adjacency_of(p);
    std::vector<Part> held;
    for (Part j = 0; j < p.index.parts(); ++j)
        if (holds(j)) held.push_back(j);
    const bool by_column = line == BlockLine::column;
    for (const Direction d : {Direction::forward, Direction::backward}) {
        if (d == Direction::backward && (a.symmetric() || directions != ProductDirections::both)) continue;
        cut_blocks(m, p, a, {.first = i, .count = 1}, held, by_column ? opposite(d) : d, by_column);
    }
    if (directions == ProductDirections::forward_and_transposed_blocks)
        cut_blocks(m, p, a, {.first = i, .count = 1}, held, by_column ? Direction::backward : Direction::forward,
                   !by_column);
}

void state_halo_cuts(HostStatement& m, const Problem& p, Part i, Direction d, const HoldsBlock& holds,
                     bool also_transposed) {
    const Adjacency a = adjacency_of(p);
    const IndexMap& index = p.index;
    const std::vector<GlobalId> owned = index.owned(i);
    const std::vector<Part> parts = all_parts(index);
    const BlockCounts counts(a, index, i);
    const std::vector<std::int64_t> nonzeros = block_nonzeros(a, index, {.first = i, .count = 1}, parts, d);
    std::int64_t own = 0, remote = 0, needed = 0, sent = 0;
    for (const Part j : parts) {
        if (j == i) {
            own = holds(i) ? nonzeros[usize(i)] : 0;
            continue;
        }
        const bool forward = d == Direction::forward;
        if (holds(j)) {
            remote += nonzeros[usize(j)];
            needed += forward ? counts.nonzero_columns(i, j) : counts.nonzero_rows(j, i);
        }
        if (holds(i)) sent += forward ? counts.nonzero_columns(j, i) : counts.nonzero_rows(i, j);
    }
    const std::int64_t n = std::ssize(owned), ids = host_bytes::owned_id * n;
    const std::vector<ColumnRange> everywhere{{0, a.vertices()}};
    const std::int64_t scales = m.reads_rows(a, d, owned, everywhere, Entries::values);
    const std::int64_t both = host_bytes::cut(n, own) + host_bytes::cut(n, remote);
    m.take(ids + scales + both);
    m.let_go(ids + scales);
    const std::int64_t positions = host_bytes::position_set(a.vertices());
    m.take(positions + host_bytes::listed_row * needed);
    m.let_go(positions);
    m.reads_rows(a, opposite(d), owned, everywhere, Entries::columns);
    m.take(2 * host_bytes::listed_row * sent);  // of each thread, then one after the other
    m.let_go(host_bytes::listed_row * sent);
    m.prepares(n, n, own);
    m.prepares(n, needed, remote);
    if (also_transposed) {
        for (const auto& [rows, count] : {std::pair{n, own}, std::pair{needed, remote}}) {
            m.take(host_bytes::cut(rows, count));
            m.prepares(rows, n, count);
            m.let_go(host_bytes::cut(rows, count));
        }
    }
    m.let_go(both + host_bytes::listed_row * (needed + sent));
}

void state_panel_cuts(HostStatement& m, const Problem& p, PartRange rows, std::span<const Part> panels) {
    const Adjacency a = adjacency_of(p);
    for (const Direction d : {Direction::forward, Direction::backward})
        if (d == Direction::forward || !a.symmetric()) cut_blocks(m, p, a, rows, panels, d, false);
}

void state_sent_panel_cuts(HostStatement& m, const Problem& p, PartRange rows, std::span<const Part> panels) {
    const Adjacency a = adjacency_of(p);
    const std::vector<GlobalId> owned = p.index.owned(rows.first, rows.count);
    for (const Direction d : {Direction::forward, Direction::backward}) {
        if (d == Direction::backward && a.symmetric()) continue;
        std::int64_t bytes = m.reads_rows(a, d, owned, columns_of(p.index, panels), Entries::values);
        for (const std::int64_t count : block_nonzeros(a, p.index, rows, panels, d))
            bytes += host_bytes::cut(std::ssize(owned), count);
        m.take(bytes);
        m.let_go(bytes);
    }
}

namespace {

void state_as_assumed(HostStatement& m, const Strategy& strategy, const Problem& p, int rank) {
    if (strategy.trains_on_batches()) {
        // Any worker may draw any batch; one is prepared while another trains.
        m.reads_everything();
        m.take(strategy.stated_memory(p, rank, sizeof(float)));
        return;
    }
    const Part part = std::min<Part>(rank, p.index.parts() - 1);
    state_owned_rows(m, p, part);
    state_block_cuts(m, p, part, BlockLine::row, every_block);
}

}  // namespace

StatesHostMemory::~StatesHostMemory() = default;

HostMemory host_memory(const Strategy& strategy, const Problem& p, int rank, std::int64_t element_bytes,
                       std::int64_t device_bytes, bool device_on_host) {
    HostStatement m(p, element_bytes, device_on_host);
    m.take(host_bytes::idle_worker);
    if (rank == 0 && !p.index.identity()) {  // the partition, and the index map before it is shared
        const std::int64_t made = (4 + host_bytes::index_map) * p.index.vertices() +
                                  2 * host_bytes::entry_part * std::ssize(p.index.part_of_entry());
        m.take(made);
        m.let_go(made);
    }
    if (const auto* states = dynamic_cast<const StatesHostMemory*>(&strategy))
        states->state_host_memory(m, p, rank);
    else
        state_as_assumed(m, strategy, p, rank);
    return m.most(device_bytes);
}

}  // namespace gnnbench
