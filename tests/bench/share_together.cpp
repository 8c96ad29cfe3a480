// One rank of plexus-3d on a cube of c × c × c ranks, three layers, rows and columns permuted apart: it reads its run of the store,
// receives what the others read for it, prepares three shards and their transposes, holds what an epoch needs, and multiplies once
// by each. The others' part was recorded before, each in a process of its own; the one measured runs alone.
#include "share_together.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <malloc.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/temporary_folder.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/shared_reading.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/training/vertex_order.hpp>
#include <gnnbench/usize.hpp>

#include "alone.hpp"
#include "data/store.hpp"
#include "plugin/loader.hpp"
#include "together.hpp"

namespace gnnbench::bench {
namespace {

constexpr int layers = 3;
constexpr std::int64_t element = sizeof(float);

struct Seen {
    std::int64_t nonzeros = 0, share_bytes = 0, peak_bytes = 0, file_bytes = 0, received_bytes = 0;
    /// `loading_s`: of opening, reading, cutting, exchanging and preparing; `orders_s`: of permuting the vertices.
    double loading_s = 0, orders_s = 0, read_s = 0, cut_s = 0, exchange_s = 0, prepare_s = 0;
};

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A rank's view of the store on a cube. Layer l has roles (o, i, d) of the axes, and rows and columns change their orders from one
/// to the next, as in plexus-3d.
class Cube {
public:
    Cube(const TogetherSettings& s, int axis)
        : axis_(axis),
          store_(Store::open(s.store)),
          data_(store_.view()),
          whole_(IndexMap::one_part(data_.graph.vertices())),
          problem_{.dataset = data_,
                   .index = whole_,
                   .model = model_,
                   .train = train_,
                   .params = params_,
                   .ranks = axis * axis * axis,
                   .threads = s.threads,
                   .cost = &cost_} {
        model_.widths = {data_.feature_count, s.width, s.width, data_.classes};
        const auto start = std::chrono::steady_clock::now();
        const EvenOrders orders(whole_, Permutation::separate, 1);
        // An index map for each axis and order, as plexus-3d holds them.
        for (int a = 0; a < 3; ++a) {
            rows_.push_back(orders.rows(axis));
            columns_.push_back(orders.columns(axis));
        }
        orders_s_ = since(start);
    }

    const Problem& problem() const { return problem_; }
    const DatasetView& data() const { return data_; }
    const SetupCost& cost() const { return cost_; }
    double orders_s() const { return orders_s_; }
    int axis() const { return axis_; }
    int ranks() const { return axis_ * axis_ * axis_; }
    std::array<int, 3> place(int rank) const { return {rank / axis_ / axis_, rank / axis_ % axis_, rank % axis_}; }
    static std::array<int, 3> roles(int l) {
        constexpr std::array<std::array<int, 3>, 3> of_layer{{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}};
        return of_layer[usize(l % 3)];
    }
    const IndexMap& rows(int l) const { return (l % 2 == 0 ? rows_ : columns_)[usize(roles(l)[2])]; }
    const IndexMap& columns(int l) const { return (l % 2 == 0 ? columns_ : rows_)[usize(roles(l)[0])]; }

    ShardsOfRanks shards(int l) const {
        ShardsOfRanks all{rows(l), columns(l), {}, {}};
        for (int k = 0; k < ranks(); ++k) {
            all.row_of.push_back(place(k)[usize(roles(l)[2])]);
            all.column_of.push_back(place(k)[usize(roles(l)[0])]);
        }
        return all;
    }
    std::vector<HeldFeatures> features() const {
        std::vector<HeldFeatures> all;
        for (int k = 0; k < ranks(); ++k) {
            const auto [o, i, d] = place(k);
            const std::int64_t n = columns(0).size(o);
            all.push_back({columns(0).offset(o) + block_begin(n, axis_, d), block_size(n, axis_, d),
                           block_begin(data_.feature_count, axis_, i), block_size(data_.feature_count, axis_, i)});
        }
        return all;
    }

private:
    int axis_;
    Store store_;
    DatasetView data_;
    IndexMap whole_;
    ModelSpec model_ = {};
    TrainSpec train_ = {};
    Params params_;
    SetupCost cost_;
    Problem problem_;
    std::vector<IndexMap> rows_, columns_;  ///< by axis
    double orders_s_ = 0;
};

/// What `rank` sends to rank `to`, recorded.
void record(const TogetherSettings& s, int axis, int rank, int to, const std::filesystem::path& file,
            const PluginCatalog& catalog) {
    const Cube cube(s, axis);
    const SharedReader reader(cube.problem(), std::make_unique<RecordingTransport>(rank, cube.ranks(), to, file));
    for (int l = 0; l < layers; ++l) reader.read_shard(cube.shards(l));
    const auto backend = catalog.kernel("reference")->create({.dtype = DType::f32, .params = {}, .widths = {}});
    reader.read_features(cube.columns(0), cube.features(), *backend);
}

/// By the bytes of host_bytes: three shards and their transposes, prepared; one of them as it was cut, and its transpose; the run of
/// the store that is read; features in it and on the device; vertex data; H and Q of each layer, and the panel of dF.
std::int64_t bytes_of_share(const Cube& cube, std::int64_t nonzeros, std::int64_t width) {
    const DatasetView& data = cube.data();
    const std::int64_t n = data.graph.vertices(), part = n / cube.axis(), one = nonzeros / layers,
                       run = n / cube.ranks();
    const std::int64_t prepared = nonzeros * 2 * host_bytes::prepared_entry(element) +
                                  layers * 2 * part * host_bytes::row_pointer,
                       cut = 2 * one * host_bytes::cut_entry + 4 * part * host_bytes::row_pointer,
                       read = data.graph.edges() / cube.ranks() * host_bytes::stored_entry(false) +
                              run * host_bytes::row_pointer,
                       features = 2 * run * element * data.feature_count,
                       vertices = part * host_bytes::vertex_data,
                       dense = (2 * layers + 1) * part * (width / cube.axis()) * element;
    return prepared + cut + read + features + vertices + dense;
}

void build(const TogetherSettings& s, int axis, int me, const std::vector<std::filesystem::path>& files,
           const PluginCatalog& catalog, Seen& out) {
    const std::int64_t idle_files = status_bytes("RssFile");
    const MemoryWatch watch;
    const auto start = std::chrono::steady_clock::now();
    const Cube cube(s, axis);
    out.orders_s = cube.orders_s();
    const auto backend =
        catalog.kernel("cpu")->create({.dtype = DType::f32,
                                       .threads = s.threads,
                                       .params = Params(catalog.find(PluginKind::kernel, "cpu").params),
                                       .widths = {s.width / axis}});
    std::unique_ptr<SharedReader> together;
    std::unique_ptr<Adjacency> whole;
    if (axis > 1)
        together = std::make_unique<SharedReader>(cube.problem(), std::make_unique<ReplayingTransport>(me, files));
    else
        whole = std::make_unique<Adjacency>(adjacency_of(cube.problem()));
    std::vector<PreparedShard> shards;
    for (int l = 0; l < layers; ++l) {
        const ShardsOfRanks all = cube.shards(l);
        shards.push_back(together ? prepare_shard(together->read_shard(all), {}, s.threads, *backend)
                                  : prepare_shard(*whole, all.at(me), {}, *backend));
        out.nonzeros += shards.back().forward.front()->nonzeros;
    }
    malloc_trim(0);
    const std::vector<HeldFeatures> held = cube.features();
    Matrix x;
    if (together) {
        x = together->read_features(cube.columns(0), held, *backend);
    } else {
        const std::vector<GlobalId> owned = cube.columns(0).owned(0);
        x = load_features(cube.problem(), owned, 0, cube.data().feature_count, *backend);
    }
    const auto place = cube.place(me);
    const VertexData vertices(cube.problem(),
                              cube.rows(layers - 1).owned(place[usize(Cube::roles(layers - 1)[2])]), *backend);
    out.loading_s = since(start) - out.orders_s;
    std::vector<Matrix> held_rows;
    for (int l = 0; l < layers; ++l) {
        const auto [o, i, d] = Cube::roles(l);
        const Matrix f = backend->matrix(cube.columns(l).size(place[usize(o)]), s.width / axis);
        backend->fill(f, 1);
        held_rows.push_back(backend->matrix(cube.rows(l).size(place[usize(d)]), s.width / axis));
        held_rows.push_back(backend->matrix(cube.rows(l).size(place[usize(d)]), s.width / axis));
        backend->spmm(*shards[usize(l)].forward.front(), f, held_rows.back());
    }
    backend->synchronize(StreamRole::compute);
    out.read_s = cube.cost().read.seconds;
    out.cut_s = cube.cost().cut.seconds;
    out.exchange_s = cube.cost().exchange.seconds;
    out.received_bytes = cube.cost().exchange.bytes;
    out.prepare_s = backend->prepare_cost().seconds;
    out.peak_bytes = watch.peak_bytes();
    out.file_bytes = status_bytes("RssFile") - idle_files;
    out.share_bytes = bytes_of_share(cube, out.nonzeros, s.width);
}

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

int share_together(const TogetherSettings& s) {
    const PluginCatalog catalog;
    std::puts(
        "| ranks | nonzeros | share, MiB | peak, MiB | of files, MiB | received, MiB | (peak - 64 MiB) / share | "
        "loading, s | read | cut | exchange | prepare | orders |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const int ranks : s.ranks) {
        const int axis = static_cast<int>(std::cbrt(ranks) + 1e-9), all = axis * axis * axis, me = all / 2;
        const TemporaryFolder folder("together");
        std::vector<std::filesystem::path> files;
        for (int k = 0; k < all; ++k) files.push_back(folder.path() / std::to_string(k));
        for (int k = 0; k < all && axis > 1; ++k)
            if (k != me) in_a_process<bool>([&](bool&) { record(s, axis, k, me, files[usize(k)], catalog); });
        const Seen seen = in_a_process<Seen>([&](Seen& found) { build(s, axis, me, files, catalog, found); });
        std::printf(
            "%s\n",
            fmt::format(
                "| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | "
                "{:.3f} | {:.3f} |",
                all, seen.nonzeros, mib(seen.share_bytes), mib(seen.peak_bytes), mib(seen.file_bytes),
                mib(seen.received_bytes), std::max(0.0, mib(seen.peak_bytes) - 64) / mib(seen.share_bytes),
                seen.loading_s, seen.read_s, seen.cut_s, seen.exchange_s, seen.prepare_s, seen.orders_s)
                .c_str());
        std::fflush(stdout);
        if (seen.nonzeros == 0 || seen.peak_bytes <= 0) return 1;
    }
    return 0;
}

}  // namespace gnnbench::bench
