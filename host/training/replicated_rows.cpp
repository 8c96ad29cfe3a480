#include <gnnbench/training/replicated_rows.hpp>

#include <fmt/format.h>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/stated_volume.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

int replication_of(const Params& params) { return static_cast<int>(params.integer(replication_parameter.name)); }

/// The all-reduce of `elements` over the c replicas.
Volume replica_sum_volume(const ReplicatedLayout& layout, std::int64_t elements, std::int64_t element_bytes) {
    VolumeStatement v(element_bytes);
    v.all_reduce(elements, layout.replication, layout.replica);
    return v.total();
}

}  // namespace

ReplicatedLayout::ReplicatedLayout(int ranks, int c, int rank)
    : replication(c), parts(ranks / c), part(rank / c), replica(rank % c) {}

ReplicatedSpmm::ReplicatedSpmm(const Problem& p, const ReplicatedRank& r)
    : layout_(r.layout),
      backend_(r.rank.backend),
      column_(r.column),
      row_(r.rank.world.split(r.layout.part, r.layout.replica)) {
    if (!p.model.attends()) return;
    Csr nothing;
    nothing.rows = p.index.size(layout_.part);
    nothing.indptr.assign(usize(nothing.rows) + 1, 0);
    nothing_ = backend_.prepare(nothing);
}

void ReplicatedSpmm::multiply(Direction d, MatrixView h_i, MatrixView z_i, const Epilogue& epilogue) {
    SpmmSum sum(backend_, h_i, z_i, epilogue);
    accumulate(d, sum);
}

void ReplicatedSpmm::accumulate(Direction d, BlockSum& sum) {
    add_stages(d, sum);
    sum.combine(row_, nothing_.get());
}

std::string ReplicatedRows::why_unsupported(const Setting& s) const {
    const int c = replication_of(s.params);
    if (s.ranks % (c * c) == 0) return row_parallel_why_unsupported(s);
    return fmt::format("needs replication² to divide the number of ranks; replication {} and {} ranks given", c,
                       s.ranks);
}

std::vector<ParamTexts> ReplicatedRows::arrangements(int ranks) const {
    std::vector<ParamTexts> all;
    for (int c = 1; c * c <= ranks; ++c)
        if (ranks % (c * c) == 0) all.push_back({{"replication", std::to_string(c)}});
    return all;
}

LayerPlan ReplicatedRows::plan(const Problem& p) const { return aggregate_first_plan(p); }

PartitionNeed ReplicatedRows::partition_need(const Setting& s) const {
    return {.parts = s.ranks / replication_of(s.params)};
}

StatedVolume ReplicatedRows::stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                                           std::int64_t) const {
    const int c = replication_of(p.params);
    const ReplicatedLayout layout(p.index.parts() * c, c, rank);
    const SpmmVolume stages = stages_volume(p, layout, element_bytes);
    const LayerPlan layers = plan(p);
    const LayerVolume product = [&](const LayerProduct& of) {
        Volume v = stages(of.direction, of.width);
        const Layer& layer = layers.layer(of.layer);
        for (const std::int64_t columns : of.again ? layer.combined_again() : layer.combined(of.direction))
            v += replica_sum_volume(layout, p.index.size(layout.part) * columns, element_bytes);
        return v;
    };
    return row_parallel_volume(layers, product, layout.parts, layout.part, element_bytes);
}

std::int64_t ReplicatedRows::stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const {
    const int c = replication_of(p.params);
    const ReplicatedLayout layout(p.index.parts() * c, c, rank);
    return row_parallel_memory(plan(p), p, layout.part, stages_memory(p, layout), element_bytes);
}

void ReplicatedRows::state_host_memory(HostStatement& m, const Problem& p, int rank) const {
    const int c = replication_of(p.params);
    const ReplicatedLayout layout(p.index.parts() * c, c, rank);
    state_owned_rows(m, p, layout.part);
    state_stages(m, p, layout);
}

void ReplicatedRows::state_stages(HostStatement& m, const Problem& p, const ReplicatedLayout& layout) const {
    state_block_cuts(m, p, layout.part, BlockLine::row, [&](Part j) { return layout.stage(j); });
}

AnyTrainer ReplicatedRows::make_trainer(const Problem& p, Rank rank) const {
    const ReplicatedLayout layout(rank.world.size(), replication_of(p.params), rank.world.rank());
    const auto column = std::make_shared<Communicator>(rank.world.split(layout.replica, layout.part));
    return make_row_parallel_trainer(
        p, rank, {layout.part, column}, plan(p),
        [&](const Adjacency& a, std::int64_t widest) { return make_spmm(p, a, {layout, rank, *column}, widest); });
}

}  // namespace gnnbench
