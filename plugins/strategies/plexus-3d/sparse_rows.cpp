#include "sparse_rows.hpp"

#include <gnnbench/training/lines.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {

SparseRows::SparseRows(const Adjacency& a, const VertexBlocks& vertices, const Layout& layout, int l) {
    const auto [o, i, d] = layout.layer(l).roles;
    const int ranks = layout.extent(d);
    const IndexMap &rows = vertices.rows(l), &columns = vertices.columns(l);
    const std::int64_t n_o = layout.layer(l).n_o;
    own = layout.at(d);
    own_begin = block_begin(n_o, ranks, own);
    own_count = block_size(n_o, ranks, own);
    given.resize(usize(ranks));
    const std::vector<GlobalId> block = columns.owned(layout.at(o));
    const auto first = block.begin() + own_begin;
    // Ranks along d share this rank's columns and split the rows: rank j needs those with an entry in its rows.
    const Lines my_columns(a, Direction::backward, {first, first + own_count}, Entries::columns);
    for (std::int64_t r = 0; r < own_count; ++r)
        my_columns.pattern(r, [&](GlobalId row) {
            const Part j = rows.part_of(row);
            if (j != own && (given[usize(j)].empty() || given[usize(j)].back() != r))
                given[usize(j)].push_back(static_cast<std::int32_t>(r));
        });
    const Part mine_alone[] = {layout.at(o)};
    const Lines my_rows(a, Direction::forward, rows.owned(own), Entries::columns, columns_of(columns, mine_alone));
    std::vector<bool> mine(usize(n_o));
    for (std::int64_t r = 0; r < my_rows.size(); ++r)
        my_rows.pattern(r, [&](GlobalId c) {
            if (columns.part_of(c) == layout.at(o)) mine[usize(value(columns.local(c)))] = true;
        });
    compact.assign(usize(n_o), -1);
    std::int64_t next = 0;
    for (int owner = 0; owner < ranks; ++owner) {
        segment.push_back(next);
        const std::int64_t begin = block_begin(n_o, ranks, owner);
        for (std::int64_t r = begin; r < begin + block_size(n_o, ranks, owner); ++r)
            if (owner == own || mine[usize(r)]) compact[usize(r)] = static_cast<std::int32_t>(next++);
    }
    segment.push_back(next);
}

RowTraffic SparseRows::traffic() const {
    RowTraffic t;
    for (std::size_t j = 0; j < given.size(); ++j) {
        t.sent.push_back(std::ssize(given[j]));
        t.received.push_back(static_cast<int>(j) == own ? 0 : segment[j + 1] - segment[j]);
    }
    return t;
}

SparsePlan::SparsePlan(const Adjacency& a, const VertexBlocks& vertices, const Layout& layout) {
    for (int l = 0; l < layout.layers(); ++l) {
        const bool dense = l == 0 || layout.extent(layout.layer(l).roles.d) == 1;
        const int key = dense ? -1 : vertices.shard(l);
        of_layer_.push_back(key);
        if (!dense && !rows_.contains(key)) rows_.emplace(key, SparseRows(a, vertices, layout, l));
    }
}

const SparseRows* SparsePlan::input(int l) const {
    if (of_layer_.empty() || of_layer_[usize(l)] < 0) return nullptr;
    return &rows_.at(of_layer_[usize(l)]);
}

std::vector<RowTraffic> SparsePlan::traffic(int layers) const {
    std::vector<RowTraffic> all;
    for (int l = 0; l < layers; ++l) all.push_back(input(l) ? input(l)->traffic() : RowTraffic());
    return all;
}

RowExchange::RowExchange(const SparseRows& rows, std::int64_t widest, Backend& backend)
    : backend_(backend), own_(usize(rows.own)), segment_(rows.segment), start_{0} {
    std::vector<std::int32_t> all;
    for (const auto& to : rows.given) {
        all.insert(all.end(), to.begin(), to.end());
        start_.push_back(std::ssize(all));
    }
    given_ = backend.upload(std::span<const std::int32_t>(all));
    packed_ = backend.matrix(start_.back(), widest);
}

std::vector<RowMessage> RowExchange::segments(MatrixView compact) const {
    std::vector<RowMessage> out;
    for (std::size_t j = 0; j + 1 < segment_.size(); ++j)
        if (j != own_) out.push_back({static_cast<int>(j), segment_of(compact, j)});
    return out;
}

std::vector<RowMessage> RowExchange::parts(std::int64_t width) const {
    std::vector<RowMessage> out;
    for (std::size_t j = 0; j + 1 < start_.size(); ++j)
        if (j != own_) out.push_back({static_cast<int>(j), part(j, width)});
    return out;
}

void RowExchange::gather(MatrixView f, Communicator& line) {
    backend_.gather_rows(own(f), given_.data(), packed_.view().reshaped(start_.back(), f.cols));
    line.all_to_all_now(parts(f.cols), segments(f));
}

void RowExchange::reduce(MatrixView df, Communicator& line) {
    line.all_to_all_now(segments(df), parts(df.cols));
    for (std::size_t j = 0; j + 1 < start_.size(); ++j)
        backend_.scatter_add_rows(part(j, df.cols), given_.data() + start_[j], own(df));
}

}  // namespace gnnbench::plexus
