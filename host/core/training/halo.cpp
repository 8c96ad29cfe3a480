#include <gnnbench/training/halo.hpp>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Columns with a nonzero, ascending, and the block without the other columns.
std::vector<std::int32_t> leave_out_empty_columns(Csr& block) {
    std::vector<std::int32_t> renamed(usize(block.cols), -1), kept;
    for (const std::int32_t c : block.indices) renamed[usize(c)] = 0;
    for (std::size_t c = 0; c < renamed.size(); ++c)
        if (renamed[c] == 0) {
            renamed[c] = static_cast<std::int32_t>(kept.size());
            kept.push_back(static_cast<std::int32_t>(c));
        }
    for (std::int32_t& c : block.indices) c = renamed[usize(c)];
    block.cols = std::ssize(kept);
    return kept;
}

std::vector<std::int32_t> nonempty_rows(const Csr& block) {
    std::vector<std::int32_t> rows;
    for (std::size_t r = 0; r + 1 < block.indptr.size(); ++r)
        if (block.indptr[r] < block.indptr[r + 1]) rows.push_back(static_cast<std::int32_t>(r));
    return rows;
}

std::int64_t total(const std::vector<std::vector<std::int32_t>>& lists) {
    std::int64_t n = 0;
    for (const auto& list : lists) n += std::ssize(list);
    return n;
}

Direction opposite(Direction d) { return d == Direction::forward ? Direction::backward : Direction::forward; }

}  // namespace

std::int64_t Halo::needed_rows() const { return total(needed); }
std::int64_t Halo::sent_rows() const { return total(sent); }

Csr Halo::joined() const {
    Csr all;
    all.rows = own.rows;
    all.cols = needed_rows();
    all.indptr.assign(1, 0);
    for (std::size_t r = 0; r < usize(own.rows); ++r) {
        std::int32_t before = 0;
        for (std::size_t j = 0; j < compact.size(); ++j) {
            const Csr& block = compact[j];
            for (auto e = usize(block.indptr[r]); e < usize(block.indptr[r + 1]); ++e) {
                all.indices.push_back(before + block.indices[e]);
                all.values.push_back(block.values[e]);
            }
            before += static_cast<std::int32_t>(needed[j].size());
        }
        all.indptr.push_back(std::ssize(all.indices));
    }
    return all;
}

Halo make_halo(const Adjacency& a, const IndexMap& index, Part i, Direction d, const HoldsBlock& holds) {
    const auto parts = usize(index.parts()), self = usize(i);
    Halo h;
    h.needed.resize(parts);
    h.sent.resize(parts);
    h.compact = block_row(a, index, i, d);
    for (std::size_t j = 0; j < parts; ++j) {
        Csr& block = h.compact[j];
        const bool held = holds(static_cast<Part>(j));
        if (j == self && held) h.own = block;
        if (j == self || !held) {  // nothing to receive from there
            block = Csr();
            block.rows = index.size(i);
            block.indptr.assign(usize(block.rows) + 1, 0);
        }
        h.needed[j] = leave_out_empty_columns(block);
    }
    if (!holds(i)) {
        h.own.rows = h.own.cols = index.size(i);
        h.own.indptr.assign(usize(h.own.rows) + 1, 0);
        return h;
    }
    // Nonzero columns of A^d_ji are nonzero rows of its transpose, block (i, j) of the other direction.
    const std::vector<Csr> other = block_row(a, index, i, opposite(d));
    for (std::size_t j = 0; j < parts; ++j)
        if (j != self) h.sent[j] = nonempty_rows(other[j]);
    return h;
}

BlockCounts::BlockCounts(const Adjacency& a, const IndexMap& index)
    : parts_(usize(index.parts())), columns_(parts_ * parts_), rows_(parts_ * parts_) {
    const auto n = usize(a.vertices());
    // Part by part: the last part whose rows hold a column, and the last row that held a part.
    std::vector<Part> column_seen(n, -1);
    std::vector<std::int64_t> row_seen(parts_, -1);
    for (Part i = 0; i < index.parts(); ++i)
        for (const GlobalId v : index.owned(i))
            a.row(value(v), [&](std::int64_t column, double) {
                const Part j = index.part_of(GlobalId{column});
                if (column_seen[usize(column)] != i) {
                    column_seen[usize(column)] = i;
                    ++columns_[at(i, j)];
                }
                if (row_seen[usize(j)] != value(v)) {
                    row_seen[usize(j)] = value(v);
                    ++rows_[at(i, j)];
                }
            });
}

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

void state_halo_memory(MemoryStatement& m, const HaloShape& halo, std::int64_t widest) {
    const Traffic rows = halo_traffic(halo, BackwardExchange::gather, 1);
    m.matrix(rows.sent_bytes, widest);
    m.matrix(rows.received_bytes, widest);
    m.list<std::int32_t>(rows.sent_bytes);
}

HaloExchange::HaloExchange(const Halo& halo, Backend& backend, std::int64_t widest)
    : HaloExchange(HaloRoom{halo.needed_rows(), halo.sent_rows()}, backend, widest) {
    load(halo);
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

void HaloExchange::load(const Halo& halo) {
    needed_start_.assign(1, 0);
    sent_start_.assign(1, 0);
    std::vector<std::int32_t> rows;
    for (std::size_t j = 0; j < halo.needed.size(); ++j) {
        needed_start_.push_back(needed_start_.back() + std::ssize(halo.needed[j]));
        sent_start_.push_back(sent_start_.back() + std::ssize(halo.sent[j]));
        rows.insert(rows.end(), halo.sent[j].begin(), halo.sent[j].end());
    }
    require(needed_start_.back() <= receive_.rows() && sent_start_.back() <= send_.rows(),
            "a halo has more rows than there is room for");
    if (!rows.empty()) backend_.upload_bytes(rows.data(), sent_rows_.data(), rows.size() * sizeof rows[0]);
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

}  // namespace

std::vector<RowMessage> HaloExchange::pack(ConstMatrixView b) {
    backend_.gather_rows(b, sent_rows_.data(), send_.view().reshaped(sent_start_.back(), b.cols));
    return segments(send_, sent_start_, b.cols);
}

std::vector<RowMessage> HaloExchange::receives(std::int64_t width) {
    return segments(receive_, needed_start_, width);
}

MatrixView HaloExchange::received(Part j, std::int64_t width) {
    return segment(receive_, needed_start_, usize(j), width);
}

MatrixView HaloExchange::received(std::int64_t width) {
    return receive_.view().reshaped(needed_start_.back(), width);
}

std::vector<RowMessage> HaloExchange::return_receives(std::int64_t width) {
    return segments(send_, sent_start_, width);
}

void HaloExchange::add_returned(MatrixView c) {
    // Part by part, because two parts may both have returned sums of one row.
    for (std::size_t j = 0; j + 1 < sent_start_.size(); ++j)
        backend_.scatter_add_rows(segment(send_, sent_start_, j, c.cols), sent_rows_.data() + sent_start_[j], c);
}

}  // namespace gnnbench
