#include <gnnbench/training/halo.hpp>

#include <algorithm>

#include <gnnbench/position_set.hpp>
#include <gnnbench/training/lines.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

std::int64_t total(const std::vector<std::vector<std::int32_t>>& lists) {
    std::int64_t n = 0;
    for (const auto& list : lists) n += std::ssize(list);
    return n;
}

/// The entries of a part's lines, apart: those in its own columns, and those in others' by their positions.
struct DividedRows {
    Csr own, remote;
};

Csr empty_rows(std::int64_t rows, std::int64_t cols) {
    Csr a{.rows = rows, .cols = cols, .indptr = {}, .indices = {}, .values = {}};
    a.indptr.assign(usize(rows) + 1, 0);
    return a;
}

void make_room(Csr& a) {
    for (std::size_t r = 1; r < a.indptr.size(); ++r) a.indptr[r] += a.indptr[r - 1];
    a.indices.resize(usize(a.indptr.back()));
    a.values.resize(a.indices.size());
}

/// By part: whether its columns are multiplied here.
std::vector<bool> held_parts(const IndexMap& index, const HoldsBlock& holds) {
    std::vector<bool> held;
    for (Part j = 0; j < index.parts(); ++j) held.push_back(holds(j));
    return held;
}

DividedRows divide(const Adjacency& a, const Lines& lines, const IndexMap& index, Part i,
                   const std::vector<bool>& held) {
    const SetupTimer timer(a.cost());
    const int threads = a.threads();
    const std::int64_t rows = lines.size(), first = index.offset(i), end = index.offset(i + 1);
    DividedRows e{empty_rows(rows, index.size(i)), empty_rows(rows, index.vertices())};
    const bool own_held = held[usize(i)];
    const bool all_held = std::ranges::find(held, false) == held.end();
    // The matrix that an entry belongs to; nullptr: none.
    const auto matrix_of = [&](std::int64_t position) -> Csr* {
        if (position >= first && position < end) return own_held ? &e.own : nullptr;
        return all_held || held[usize(index.part_at(position))] ? &e.remote : nullptr;
    };
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 256)
    for (std::int64_t r = 0; r < rows; ++r)
        lines.pattern(r, [&](GlobalId column) {
            if (Csr* m = matrix_of(index.position(column))) ++m->indptr[usize(r) + 1];
        });
    make_room(e.own);
    make_room(e.remote);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 256)
    for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t next_own = e.own.indptr[usize(r)], next_remote = e.remote.indptr[usize(r)];
        lines.visit(r, [&](GlobalId column, double w) {
            const std::int64_t position = index.position(column);
            Csr* m = matrix_of(position);
            if (!m) return;
            const bool own = m == &e.own;
            const auto at = usize(own ? next_own++ : next_remote++);
            m->indices[at] = static_cast<std::int32_t>(own ? position - first : position);
            m->values[at] = w;
        });
    }
    return e;
}

/// By part: the rows of `lines` with an entry in its columns, ascending.
std::vector<std::vector<std::int32_t>> rows_for_others(const Adjacency& a, const Lines& lines,
                                                       const IndexMap& index, Part i) {
    const SetupTimer timer(a.cost());
    const int threads = a.threads();
    const auto parts = usize(index.parts());
    const std::int64_t rows = lines.size();
    // Each thread takes a run of rows; their lists follow one another.
    std::vector<std::vector<std::vector<std::int32_t>>> of_run(usize(threads));
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static, 1)
    for (int run = 0; run < threads; ++run) {
        auto& lists = of_run[usize(run)];
        lists.resize(parts);
        for (std::int64_t r = rows * run / threads; r < rows * (run + 1) / threads; ++r)
            lines.pattern(r, [&](GlobalId column) {
                auto& list = lists[usize(index.part_of(column))];
                if (list.empty() || list.back() != r) list.push_back(static_cast<std::int32_t>(r));
            });
    }
    std::vector<std::vector<std::int32_t>> sent(parts);
    for (std::size_t j = 0; j < parts; ++j)
        if (j != usize(i))
            for (const auto& lists : of_run) sent[j].insert(sent[j].end(), lists[j].begin(), lists[j].end());
    return sent;
}

/// Lists the positions that remote columns have, as `needed`, and numbers the columns by that list.
void number_remote(const Adjacency& a, const IndexMap& index, Halo& h) {
    const SetupTimer timer(a.cost());
    PositionSet needed(index.vertices());
    const auto nonzeros = h.remote.nonzeros();
#pragma omp parallel for num_threads(a.threads()) if (a.threads() > 1) schedule(static)
    for (std::int64_t e = 0; e < nonzeros; ++e) needed.insert(h.remote.indices[usize(e)]);
    needed.count();
    for (Part j = 0; j < index.parts(); ++j)
        h.needed.push_back(needed.members(index.offset(j), index.offset(j + 1)));
#pragma omp parallel for num_threads(a.threads()) if (a.threads() > 1) schedule(static)
    for (std::int64_t e = 0; e < nonzeros; ++e) {
        std::int32_t& column = h.remote.indices[usize(e)];
        column = static_cast<std::int32_t>(needed.rank(column));
    }
    h.remote.cols = needed.size();
    sort_columns(h.remote, a.threads());
    if (!index.by_id()) sort_columns(h.own, a.threads());
}

void name_vertices(const IndexMap& index, Part i, Halo& h) {
    h.own.row_vertices = h.own.col_vertices = h.remote.row_vertices = index.owned(i);
    for (std::size_t j = 0; j < h.needed.size(); ++j)
        for (const std::int32_t row : h.needed[j])
            h.remote.col_vertices.push_back(index.global(static_cast<Part>(j), LocalId{row}));
}

}  // namespace

std::int64_t Halo::needed_rows() const { return total(needed); }
std::int64_t Halo::sent_rows() const { return total(sent); }

void Halo::each_block(const std::function<void(Part, Csr)>& use) const {
    // By row: its first entry that no block has yet.
    std::vector<std::int64_t> next(remote.indptr.begin(), remote.indptr.end() - 1);
    std::int64_t first = 0;
    for (std::size_t j = 0; j < needed.size(); ++j) {
        const std::int64_t end = first + std::ssize(needed[j]);
        if (end == first) continue;
        Csr block = empty_rows(remote.rows, end - first);
        for (std::size_t r = 0; r < next.size(); ++r) {
            for (auto e = usize(next[r]); e < usize(remote.indptr[r + 1]) && remote.indices[e] < end; ++e) {
                block.indices.push_back(static_cast<std::int32_t>(remote.indices[e] - first));
                block.values.push_back(remote.values[e]);
                ++next[r];
            }
            block.indptr[r + 1] = block.nonzeros();
        }
        if (!remote.row_vertices.empty()) {
            block.row_vertices = remote.row_vertices;
            block.col_vertices.assign(remote.col_vertices.begin() + first, remote.col_vertices.begin() + end);
        }
        use(static_cast<Part>(j), std::move(block));
        first = end;
    }
}

Halo make_halo(const Adjacency& a, const IndexMap& index, Part i, Direction d, const HoldsBlock& holds) {
    const std::vector<bool> held = held_parts(index, holds);
    DividedRows rows = divide(a, Lines(a, d, index.owned(i), Entries::values), index, i, held);
    Halo h{.needed = {}, .sent = {}, .own = std::move(rows.own), .remote = std::move(rows.remote)};
    number_remote(a, index, h);
    if (a.names_vertices()) name_vertices(index, i, h);
    // Nonzero columns of A^d_ji are nonzero rows of its transpose, block (i, j) of the other direction.
    if (held[usize(i)])
        h.sent = rows_for_others(a, Lines(a, opposite(d), index.owned(i), Entries::columns), index, i);
    else
        h.sent.resize(held.size());
    if (SetupPart* cost = a.cost())
        cost->bytes += h.own.bytes() + h.remote.bytes() + 4 * (h.needed_rows() + h.sent_rows());
    return h;
}

BlockCounts::BlockCounts(const Adjacency& a, const IndexMap& index, Part part)
    : part_(part),
      row_(sparsity_of(a).of_line(a, index, part, Direction::forward)),
      column_(sparsity_of(a).of_line(a, index, part, Direction::backward)) {}

namespace {

/// Rows are `row_bytes` wide; in how many messages they are sent.
Traffic halo_traffic(const HaloShape& halo, BackwardExchange backward, std::int64_t row_bytes) {
    const auto& [n, i, parts, d, holds] = halo;
    Traffic t;
    for (Part j = 0; j < parts; ++j) {
        if (j == i) continue;
        std::int64_t received = 0, sent = 0;
        if (d == Direction::forward || backward == BackwardExchange::return_sums) {
            received = holds(j) ? n.nonzero_columns(i, j) : 0;  // rows of j that A_ij needs
            sent = holds(i) ? n.nonzero_columns(j, i) : 0;
            if (d == Direction::backward) std::swap(received, sent);  // partial sums travel the other way
        } else {
            received = holds(j) ? n.nonzero_rows(j, i) : 0;  // rows of j that (A_ji)ᵀ needs
            sent = holds(i) ? n.nonzero_rows(i, j) : 0;
        }
        t += {sent * row_bytes, received * row_bytes, sent > 0};
    }
    return t;
}

}  // namespace

Volume halo_volume(const HaloShape& halo, BackwardExchange backward, CommOp op, std::int64_t row_bytes) {
    Volume v;
    const Traffic t = halo_traffic(halo, backward, row_bytes);
    if (t != Traffic{}) v[{op, Content::payload}] = t;
    return v;
}

HaloRoom rows_of(const HaloShape& halo) {
    const Traffic rows = halo_traffic(halo, BackwardExchange::gather, 1);
    return {rows.received_bytes, rows.sent_bytes};
}

void state_halo_memory(MemoryStatement& m, const HaloShape& halo, std::int64_t widest) {
    HaloExchange::state_memory(m, rows_of(halo), widest);
}

HaloExchange::HaloExchange(const Halo& halo, Backend& backend, std::int64_t widest)
    : HaloExchange(HaloRoom{halo.needed_rows(), halo.sent_rows()}, backend, widest) {
    load(halo);
}

HaloExchange::HaloExchange(const HaloBlocks& halo, Backend& backend, std::int64_t widest)
    : HaloExchange(HaloRoom{halo.needed_rows(), halo.sent_rows()}, backend, widest) {
    if (halo.halo_)
        load(*halo.halo_);
    else
        start_from(halo.needed(), halo.sent());
}

HaloExchange::HaloExchange(const HaloRoom& room, Backend& backend, std::int64_t widest)
    : needed_start_{0},
      sent_start_{0},
      backend_(backend),
      send_(backend.matrix(room.sent_rows, widest)),
      receive_(backend.matrix(room.needed_rows, widest)),
      sent_rows_(backend.allocate(usize(room.sent_rows) * sizeof(std::int32_t)), room.sent_rows) {}

void HaloExchange::state_memory(MemoryStatement& m, const HaloRoom& room, std::int64_t widest) {
    m.matrix(room.needed_rows + room.sent_rows, widest);
    m.list<std::int32_t>(room.sent_rows);
}

void HaloExchange::start_from(const std::vector<std::int64_t>& needed, const std::vector<std::int64_t>& sent) {
    needed_start_.assign(1, 0);
    sent_start_.assign(1, 0);
    needed_.clear();
    sent_.clear();
    for (std::size_t j = 0; j < needed.size(); ++j) {
        needed_start_.push_back(needed_start_.back() + needed[j]);
        sent_start_.push_back(sent_start_.back() + sent[j]);
    }
    require(needed_start_.back() <= receive_.rows() && sent_start_.back() <= send_.rows(),
            "a halo has more rows than there is room for");
}

void HaloExchange::load(const Halo& halo) {
    std::vector<std::int64_t> needed, sent;
    for (std::size_t j = 0; j < halo.needed.size(); ++j) {
        needed.push_back(std::ssize(halo.needed[j]));
        sent.push_back(std::ssize(halo.sent[j]));
    }
    start_from(needed, sent);
    for (const auto& rows : halo.needed) needed_.insert(needed_.end(), rows.begin(), rows.end());
    for (const auto& rows : halo.sent) sent_.insert(sent_.end(), rows.begin(), rows.end());
    if (!sent_.empty()) backend_.upload_bytes(sent_.data(), sent_rows_.data(), sent_.size() * sizeof sent_[0]);
}

namespace {

/// Segment j of a buffer whose rows are `width` wide now.
MatrixView segment(const Matrix& buffer, const std::vector<std::int64_t>& start, std::size_t j,
                   std::int64_t width) {
    return buffer.view().reshaped(start.back(), width).rows_from(start[j], start[j + 1] - start[j]);
}

std::vector<RowMessage> segments(const Matrix& buffer, const std::vector<std::int64_t>& start,
                                 std::int64_t width) {
    std::vector<RowMessage> messages;
    for (std::size_t j = 0; j + 1 < start.size(); ++j)
        if (start[j] < start[j + 1]) messages.push_back({static_cast<int>(j), segment(buffer, start, j, width)});
    return messages;
}

/// Segment j of a list.
RowNumbers segment(const std::vector<std::int32_t>& list, const std::vector<std::int64_t>& start, std::size_t j) {
    return {start[j + 1] - start[j], list.empty() ? nullptr : list.data() + start[j]};
}

}  // namespace

std::vector<RowSet> HaloExchange::needed_sets(std::int64_t width) {
    std::vector<RowSet> sets;
    for (std::size_t j = 0; j + 1 < needed_start_.size(); ++j)
        if (needed_start_[j] < needed_start_[j + 1])
            sets.push_back({static_cast<int>(j), segment(needed_, needed_start_, j),
                            segment(receive_, needed_start_, j, width)});
    return sets;
}

std::vector<RowSet> HaloExchange::sent_sets() const {
    std::vector<RowSet> sets;
    for (std::size_t j = 0; j + 1 < sent_start_.size(); ++j)
        if (sent_start_[j] < sent_start_[j + 1])
            sets.push_back({static_cast<int>(j), segment(sent_, sent_start_, j)});
    return sets;
}

void HaloExchange::gather_now(Communicator& world, ConstMatrixView b) {
    if (world.reads_rows()) return backend_.wait(StreamRole::compute, gather(world, b));
    const auto sends = pack(b);
    world.all_to_all_now(sends, receives(b.cols));
}

Event HaloExchange::gather(Communicator& world, ConstMatrixView b) {
    if (world.reads_rows())
        return world.read_rows(CommOp::all_to_all, b, sent_sets(), needed_sets(b.cols)).front();
    const auto sends = pack(b);
    return world.all_to_all(sends, receives(b.cols));
}

std::vector<Event> HaloExchange::gather_each(Communicator& world, ConstMatrixView b) {
    if (world.reads_rows()) return world.read_rows(CommOp::point_to_point, b, sent_sets(), needed_sets(b.cols));
    const auto sends = pack(b);
    return world.exchange_each(sends, receives(b.cols));
}

Event HaloExchange::start_return(Communicator& world, std::int64_t width) {
    if (world.reads_rows()) return {};  // rows are added where they lie, once c is there
    const auto sends = return_sends(width);
    return world.all_to_all(sends, return_receives(width));
}

void HaloExchange::finish_return(Communicator& world, const Event& started, MatrixView c) {
    if (world.reads_rows())
        return backend_.wait(StreamRole::compute, world.add_rows(c, return_sends(c.cols), sent_sets()));
    backend_.wait(StreamRole::compute, started);
    add_returned(c);
}

void HaloExchange::return_now(Communicator& world, MatrixView c) {
    if (world.reads_rows()) return finish_return(world, {}, c);
    const auto sends = return_sends(c.cols);
    world.all_to_all_now(sends, return_receives(c.cols));
    add_returned(c);
}

void HaloExchange::return_sums(Communicator& world, ReturnedSum& sum, const ReturnedSum::Block& own,
                               const ReturnedSum::Block& remote, const Matrix& room) {
    gather_now(world, sum.again());
    sum.sum_for(remote, received(sum.again().cols), room.view().reshaped(rows().needed_rows, sum.room_columns()),
                received(sum.sums().cols));
    sum.add_own(own);
    return_now(world, sum.sums());
}

std::vector<RowMessage> HaloExchange::pack(ConstMatrixView b) { return pack(b, send_); }

std::vector<RowMessage> HaloExchange::pack(ConstMatrixView b, const Matrix& sent) const {
    backend_.gather_rows(b, sent_rows_.data(), sent.view().reshaped(sent_start_.back(), b.cols));
    return sent_messages(sent, b.cols);
}

std::vector<RowMessage> HaloExchange::sent_messages(const Matrix& sent, std::int64_t width) const {
    return segments(sent, sent_start_, width);
}

std::vector<RowMessage> HaloExchange::needed_messages(const Matrix& needed, std::int64_t width) const {
    return segments(needed, needed_start_, width);
}

std::vector<RowMessage> HaloExchange::receives(std::int64_t width) { return needed_messages(receive_, width); }

MatrixView HaloExchange::received(Part j, std::int64_t width) {
    return segment(receive_, needed_start_, usize(j), width);
}

MatrixView HaloExchange::received(std::int64_t width) {
    return receive_.view().reshaped(needed_start_.back(), width);
}

std::vector<RowMessage> HaloExchange::return_receives(std::int64_t width) { return sent_messages(send_, width); }

void HaloExchange::add_returned(MatrixView c) { add_returned(send_, c); }

void HaloExchange::add_returned(const Matrix& sent, MatrixView c) const {
    // Part by part, because two parts may both have returned sums of one row.
    for (std::size_t j = 0; j + 1 < sent_start_.size(); ++j)
        backend_.scatter_add_rows(segment(sent, sent_start_, j, c.cols), sent_rows_.data() + sent_start_[j], c);
}

}  // namespace gnnbench
