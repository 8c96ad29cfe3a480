// A dataset that ranks read together: what each has then is what it would have cut from all of it, to the bit, on every split of
// this launch's ranks, however little fits in a round.
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include <gnnbench/training/lines.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/shared_reading.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/training/vertex_order.hpp>
#include <gnnbench/usize.hpp>

#include "contract/strategy_case.hpp"
#include "contract/strategy_selection.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench::contract {
namespace {

/// Rows × columns × ranks that have the same shard.
std::vector<std::array<int, 3>> splits(int ranks) {
    std::vector<std::array<int, 3>> all;
    for (int r = 1; r <= ranks; ++r)
        for (int c = 1; r * c <= ranks; ++c)
            if (ranks % (r * c) == 0) all.push_back({r, c, ranks / (r * c)});
    return all;
}

struct Read {
    const Problem& problem;  ///< what is expected is cut from
    const Problem& given;    ///< what ranks read
    const ProcessGroup& world;
    std::int64_t round_bytes;

    SharedReader reader() const { return {given, world.host_transport(), round_bytes}; }
};

void check_shard(const Read& read, const EvenOrders& orders, const std::array<int, 3>& split) {
    const IndexMap rows = orders.rows(split[0]), columns = orders.columns(split[1]);
    ShardsOfRanks shards{rows, columns, {}, {}};
    for (int k = 0; k < read.world.size(); ++k) {
        shards.row_of.push_back(k / split[2] / split[1]);
        shards.column_of.push_back(k / split[2] % split[1]);
    }
    const ShardPlace at = shards.at(read.world.rank());
    const Adjacency a = adjacency_of(read.problem);
    const Part panels[] = {at.column};
    const Lines lines(a, Direction::forward, rows.owned(at.row), Entries::values, columns_of(columns, panels));
    const Csr cut = std::move(cut_lines(a, lines, columns, panels)[0]);
    const Csr exchanged = read.reader().read_shard(shards);
    CHECK(exchanged.rows == cut.rows);
    CHECK(exchanged.cols == cut.cols);
    CHECK(exchanged.indptr == cut.indptr);
    CHECK(exchanged.indices == cut.indices);
    CHECK(exchanged.values == cut.values);  // bit by bit
}

/// Each rank holds a run of rows of a part, and some of the columns, as in a grid; some hold nothing.
void check_features(const Read& read, const EvenOrders& orders, const std::array<int, 3>& split) {
    const IndexMap order = orders.columns(split[0]);
    const std::int64_t width = read.problem.dataset.feature_count;
    std::vector<HeldFeatures> held;
    for (int k = 0; k < read.world.size(); ++k) {
        const int part = k / split[1] / split[2], columns = k / split[2] % split[1], run = k % split[2];
        const std::int64_t n = order.size(part);
        held.push_back({order.offset(part) + block_begin(n, split[2], run), block_size(n, split[2], run),
                        block_begin(width, split[1], columns), block_size(width, split[1], columns)});
    }
    const auto backend = catalog().kernel("reference")->create({.dtype = DType::f64, .params = {}, .widths = {}});
    const HeldFeatures& own = held[usize(read.world.rank())];
    std::vector<GlobalId> ids;
    for (std::int64_t v = 0; v < order.vertices(); ++v) ids.push_back(GlobalId{v});
    std::vector<GlobalId> mine(usize(own.rows));
    for (const GlobalId v : ids)
        if (const std::int64_t p = order.position(v) - own.first; p >= 0 && p < own.rows) mine[usize(p)] = v;
    const Matrix loaded = load_features(read.problem, mine, own.first_column, own.columns, *backend),
                 exchanged = read.reader().read_features(order, held, *backend);
    CHECK(backend->download(exchanged).values == backend->download(loaded).values);
}

TEST_CASE("ranks that read a dataset together have what they would have cut by themselves") {
    const ProcessGroup world = mpi_world();
    const std::vector<graphs::NamedGraph> all = graphs::of_every_kind();
    const std::vector<std::array<int, 3>> all_splits = splits(world.size());
    // Above three ranks, where there are many splits, each case has one permutation.
    const bool one_permutation = world.size() > 3 && !every_case();
    for (const LayerKind kind : {LayerKind::gcn, LayerKind::sage, LayerKind::gin})
        for (const Normalisation normalisation :
             {Normalisation::none, Normalisation::mean, Normalisation::symmetric})
            for (std::size_t graph = 0; graph < all.size(); ++graph) {
                const graphs::NamedGraph& g = all[graph];
                ModelVariant v{.name = "read together"};
                v.model.kind = kind;
                v.model.normalisation = normalisation;
                v.model.self_loops = kind == LayerKind::gcn;
                const OwnedDataset owned = dress(g, v);
                const DatasetView data = owned.view();
                const ModelSpec model = v.complete_model();
                const TrainSpec train = v.complete_train();
                const Params params;
                const IndexMap whole = IndexMap::one_part(data.graph.vertices());
                const Problem problem{.dataset = data,
                                      .index = whole,
                                      .model = model,
                                      .train = train,
                                      .params = params,
                                      .ranks = world.size()};
                for (const Permutation p : {Permutation::original, Permutation::single, Permutation::separate})
                    for (std::size_t s = 0; s < all_splits.size(); ++s)
                        for (const std::int64_t round_bytes : {std::int64_t{0}, SharedReader::usual_round_bytes}) {
                            const std::size_t place =
                                usize(kind) + usize(normalisation) + graph + s + (round_bytes > 0 ? 1U : 0U);
                            if (one_permutation && place % 3 != usize(p)) continue;
                            const std::array<int, 3>& split = all_splits[s];
                            INFO(g.name << ", " << split[0] << " x " << split[1] << " x " << split[2]
                                        << ", rounds of " << round_bytes << " bytes");
                            const EvenOrders orders(whole, p, 5);
                            const Read read{problem, problem, world, round_bytes};
                            check_shard(read, orders, split);
                            if (kind == LayerKind::gcn && normalisation == Normalisation::symmetric)
                                check_features(read, orders, split);
                        }
            }
}

/// The same dataset with other neighbours and without features wherever this rank has no business to read.
OwnedDataset wrong_beyond(OwnedDataset d, const ProcessGroup& world) {
    const auto n = static_cast<std::int64_t>(d.indptr.size()) - 1;
    const VertexRun mine = reading_runs(d.view().graph, world.size())[usize(world.rank())];
    const std::int64_t first = block_begin(n, world.size(), world.rank()),
                       end = first + block_size(n, world.size(), world.rank());
    for (std::int64_t v = 0; v < n; ++v) {
        const bool reads_entries = v >= mine.first && v < mine.end, reads_features = v >= first && v < end;
        for (auto e = d.indptr[usize(v)]; e < d.indptr[usize(v) + 1] && !reads_entries; ++e)
            d.indices[usize(e)] = static_cast<std::int32_t>(n - 1 - d.indices[usize(e)]);
        for (std::int64_t f = 0; f < d.feature_count && !reads_features; ++f)
            d.features[usize(v * d.feature_count + f)] = std::numeric_limits<float>::quiet_NaN();
    }
    return d;
}

TEST_CASE("a rank that reads together with others reads nothing beyond its runs of rows and features") {
    const ProcessGroup world = mpi_world();
    const ModelVariant v{.name = "beyond"};
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const Params params;
    for (const graphs::NamedGraph& g : {graphs::known_symmetric(graphs::disconnected(3)),
                                        graphs::with_transpose(graphs::directed_random(60, 400, false))}) {
        const OwnedDataset right = dress(g, v), wrong = wrong_beyond(right, world);
        const DatasetView data = right.view(), given = wrong.view();
        const IndexMap whole = IndexMap::one_part(data.graph.vertices());
        const auto problem_of = [&](const DatasetView& of) {
            return Problem{.dataset = of,
                           .index = whole,
                           .model = model,
                           .train = train,
                           .params = params,
                           .ranks = world.size()};
        };
        const Problem problem = problem_of(data), broken = problem_of(given);
        for (const std::array<int, 3>& split : splits(world.size())) {
            INFO(g.name << ", " << split[0] << " x " << split[1] << " x " << split[2]);
            const EvenOrders orders(whole, Permutation::separate, 5);
            const Read read{problem, broken, world, SharedReader::usual_round_bytes};
            check_shard(read, orders, split);
            check_features(read, orders, split);
        }
    }
}

TEST_CASE("ranks that read together read runs of as many entries and rows as one another") {
    const graphs::NamedGraph g = graphs::directed_random(60, 400, false);
    const OwnedDataset owned = dress(g, {.name = "runs"});
    const GraphView graph = owned.view().graph;
    for (const int ranks : {1, 2, 7, 64, 200}) {
        const std::vector<VertexRun> runs = reading_runs(graph, ranks);
        REQUIRE(std::ssize(runs) == ranks);
        std::int64_t next = 0;
        for (const VertexRun& r : runs) {
            CHECK(r.first == next);
            next = r.end;
            const std::int64_t size = graph.indptr[usize(r.end)] - graph.indptr[usize(r.first)] + r.size();
            std::int64_t largest_row = 0;
            for (std::int64_t v = r.first; v < r.end; ++v)
                largest_row = std::max(largest_row, graph.indptr[usize(v) + 1] - graph.indptr[usize(v)] + 1);
            CHECK(size <= (graph.edges() + graph.vertices()) / ranks + 1 + largest_row);
        }
        CHECK(next == graph.vertices());
    }
}

}  // namespace
}  // namespace gnnbench::contract
