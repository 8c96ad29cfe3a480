#include "share.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <gnnbench/batches/batch.hpp>
#include <gnnbench/batches/batch_training.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/training/problem.hpp>

namespace gnnbench::minibatch {
namespace {

/// `batch`: its vertices, by whose positions blocks name theirs.
void append(PackedBlocks& to, const Csr& block, std::span<const GlobalId> batch) {
    to.blocks.push_back({.row_start = std::ssize(to.indptr),
                         .entry_start = std::ssize(to.indices),
                         .column_start = std::ssize(to.columns),
                         .cols = block.cols,
                         .nonzeros = block.nonzeros()});
    to.indptr.insert(to.indptr.end(), block.indptr.begin(), block.indptr.end());
    to.indices.insert(to.indices.end(), block.indices.begin(), block.indices.end());
    to.values.insert(to.values.end(), block.values.begin(), block.values.end());
    for (const GlobalId b : block.col_vertices) to.columns.push_back(value(batch[usize(value(b))]));
}

ShareSide make_side(const Adjacency& a, const DividedBatch& batch, Part part, Direction d) {
    ShareSide side{make_halo(a, batch.index, part, d, every_block), {}};
    append(side.blocks, side.halo.own, batch.subgraph.vertices);
    side.halo.each_block([&](Part j, const Csr& block) {
        side.blocks.peers.push_back(j);
        append(side.blocks, block, batch.subgraph.vertices);
    });
    side.halo.own = {};
    side.halo.remote = {};
    return side;
}

/// Entries of each owned row of A, or of Aᵀ.
std::vector<std::int64_t> degrees(const GraphView& graph, std::span<const GlobalId> owned, Direction d) {
    std::vector<std::int64_t> in_columns;
    if (d == Direction::backward) {
        in_columns.resize(usize(graph.vertices()));
        for (const std::int32_t j : graph.indices) ++in_columns[usize(j)];
    }
    std::vector<std::int64_t> of_owned;
    for (const GlobalId v : owned) {
        const auto i = usize(value(v));
        of_owned.push_back(d == Direction::backward ? in_columns[i] : graph.indptr[i + 1] - graph.indptr[i]);
    }
    return of_owned;
}

}  // namespace

DividedBatch divide(Subgraph subgraph, const IndexMap& whole) {
    Partition divided{.parts = whole.parts(), .part_of = {}, .column_part_of = {}};
    for (const GlobalId v : subgraph.vertices) divided.part_of.push_back(whole.part_of(v));
    return {std::move(subgraph), IndexMap(divided)};
}

ShareRoom share_room(const Problem& p, Part i, const BatchSource& source) {
    const BlockCounts whole(adjacency_of(p), p.index, i);
    const std::int64_t most = source.most_vertices();
    ShareRoom room{
        .rows = std::min(p.index.size(i), most), .parts = p.index.parts(), .forward = {}, .backward = {}};
    const auto side = [&](Direction d) {
        SideRoom s;
        for (Part j = 0; j < room.parts; ++j) {
            if (j == i) continue;
            const bool forward = d == Direction::forward;
            const std::int64_t needed = forward ? whole.nonzero_columns(i, j) : whole.nonzero_rows(j, i),
                               sent = forward ? whole.nonzero_columns(j, i) : whole.nonzero_rows(i, j);
            s.halo.needed_rows += std::min(needed, most);
            s.halo.sent_rows += std::min(sent, room.rows);
        }
        s.halo.needed_rows = std::min(s.halo.needed_rows, most);
        s.nonzeros = most_entries(degrees(p.dataset.graph, p.index.owned(i), d), room.rows, most) +
                     room.rows;  // and the diagonal
        if (p.model.attention_dropout > 0) s.columns = room.rows + s.halo.needed_rows;
        return s;
    };
    room.forward = side(Direction::forward);
    if (!symmetric_batches(p)) room.backward = side(Direction::backward);
    return room;
}

ShareMaker::ShareMaker(const Problem& problem, const BatchSource& source, Part part)
    : data_(problem.dataset),
      model_(problem.model),
      whole_(problem.index),
      source_(source),
      part_(part),
      subgraphs_(problem.dataset.graph) {}

std::int64_t ShareMaker::samples(const std::vector<GlobalId>& counting) const {
    return std::ranges::count_if(counting,
                                 [&](GlobalId v) { return data_.split[usize(value(v))] == Split::train; });
}

std::unique_ptr<BatchShare> ShareMaker::make(std::int64_t item) {
    const DividedBatch batch = divide(subgraphs_.induced(source_.vertices(item)), whole_);
    const Adjacency adjacency(batch.subgraph.view(), model_);
    if (const std::string why = why_weights_unusable(adjacency, batch.subgraph.vertices); !why.empty())
        throw Unsupported(why);
    const auto seeds = source_.seeds(item);
    std::vector<GlobalId> mine;
    for (const GlobalId b : batch.index.owned(part_)) mine.push_back(batch.subgraph.vertices[usize(value(b))]);

    auto share = std::make_unique<BatchShare>();
    share->item = item;
    share->vertices = gather_vertices(data_, model_, std::move(mine), seeds);
    share->samples = samples(seeds ? *seeds : batch.subgraph.vertices);
    share->forward = make_side(adjacency, batch, part_, Direction::forward);
    if (!adjacency.symmetric()) share->backward = make_side(adjacency, batch, part_, Direction::backward);
    return share;
}

}  // namespace gnnbench::minibatch
