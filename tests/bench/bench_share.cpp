// bench_share: what one rank of many costs, built alone: it opens a store, cuts its rows of Â (and of Âᵀ), prepares
// them, reads its vertices' data and multiplies once, without the other ranks. Beside it, the bytes that its share has, and
// what HostStatement predicts of the peak.
//
// Ranks own runs of vertices of one length, so their index map needs no memory, and each is a process of its own. With
// --grid, a rank multiplies one block of a grid of blocks, as in 2D and 3D schemes: a run of rows and a run of columns. With
// --permuted, rows and columns are in orders of their own, and ranks read the store together (share_together.cpp).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/temporary_folder.hpp>
#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

#include "data/generate.hpp"
#include "data/store.hpp"
#include "command_line/command_line.hpp"
#include "plugin/loader.hpp"

#include "alone.hpp"
#include "share_together.hpp"

namespace gnnbench::bench {
namespace {

struct Settings {
    std::string store;
    std::vector<int> parts{1, 4, 16, 64, 256, 1024, 4096};
    std::int64_t width = 128;
    int threads = static_cast<int>(std::thread::hardware_concurrency()), rounds = 1;
    bool cold = false, grid = false, permuted = false;
};

/// What a rank found and used; plain, as it is written into memory that the parent shares.
struct Share {
    std::int64_t rows = 0, nonzeros = 0, needed = 0, sent = 0;
    std::int64_t share_bytes = 0, peak_bytes = 0, file_bytes = 0, predicted_bytes = 0;
    double seconds = 0, read_s = 0, cut_s = 0, prepare_s = 0;
};

/// Runs of vertices that differ by at most one in length.
IndexMap even_runs(std::int64_t n, int parts) {
    std::vector<std::int64_t> offsets;
    for (int p = 0; p <= parts; ++p) offsets.push_back(block_begin(n, parts, p));
    return {std::move(offsets), true, {}};
}

/// The part with the most entries. The store that it looks through is closed again, and no page of it stays: a rank of
/// a trial does not look for the heaviest one.
Part heaviest(const std::string& path, int parts) {
    const Store store = Store::open(path);
    const GraphView graph = store.view().graph;
    const IndexMap index = even_runs(graph.vertices(), parts);
    Part heaviest = 0;
    std::int64_t most = -1;
    for (Part p = 0; p < index.parts(); ++p) {
        const std::int64_t entries =
            graph.indptr[usize(index.offset(p + 1))] - graph.indptr[usize(index.offset(p))];
        if (entries > most) most = entries, heaviest = p;
    }
    return heaviest;
}

/// The number of blocks beside one another in a grid of so many: the largest divisor that is no larger than the root.
int across_of(int parts) {
    int across = 1;
    for (int d = 1; d * d <= parts; ++d)
        if (parts % d == 0) across = d;
    return across;
}

/// One direction's product, as sparsity-aware schemes make it.
struct Side {
    std::unique_ptr<PreparedMatrix> own, remote;
    Matrix received;
};

constexpr std::int64_t element = sizeof(float);

/// An entry in the file, as it is cut, and as it is prepared.
std::int64_t entry_bytes(const DatasetView& data) {
    return host_bytes::stored_entry(!data.graph.weights.empty()) + host_bytes::cut_entry +
           host_bytes::prepared_entry(element);
}
/// Features, label, split and id of a vertex: features in the file and on the device.
std::int64_t vertex_bytes(const DatasetView& data) {
    return 2 * element * data.feature_count + host_bytes::vertex_data;
}

/// Of a row, also row pointers in the file, of two cut and two prepared matrices, and a row of H and of Z. Of a row that is
/// needed, its place and its row of the buffer; of one that is sent, its place. Of every vertex of the graph, the set of
/// what is needed.
std::int64_t bytes_of_share(const Share& s, const DatasetView& data, std::int64_t width) {
    const std::int64_t row = 5 * host_bytes::row_pointer + vertex_bytes(data) + 2 * element * width;
    return s.nonzeros * entry_bytes(data) + s.rows * row + s.needed * (host_bytes::listed_row + element * width) +
           s.sent * host_bytes::listed_row + host_bytes::position_set(data.graph.vertices());
}

/// Bytes of a block's share: entries as above; of a row of either direction's block, a row pointer in the file, a cut and a
/// prepared matrix; a row of Z for each row, and of H for each column; and the vertices that the rank owns.
std::int64_t bytes_of_block(const Share& s, std::int64_t columns, const DatasetView& data, std::int64_t owned,
                            std::int64_t width) {
    const std::int64_t directions = data.graph.symmetric ? 1 : 2;
    return s.nonzeros * entry_bytes(data) +
           (s.rows + columns) * (directions * 3 * host_bytes::row_pointer + element * width) +
           owned * vertex_bytes(data);
}

/// What the peak of a rank of rows should be: its set-up, and H, Z and the needed rows beside its features.
std::int64_t predicted_peak(const Share& s, const Problem& problem, Part me, std::int64_t width) {
    HostStatement m(problem, element, true);
    state_owned_rows(m, problem, me);
    for (const Direction d : {Direction::forward, Direction::backward})
        if (d == Direction::forward || !adjacency_of(problem).symmetric())
            state_halo_cuts(m, problem, me, d, every_block);
    const std::int64_t vertex = element * problem.dataset.feature_count + host_bytes::vertex_data;
    return m.most(s.rows * (vertex + 2 * element * width) + s.needed * element * width).total();
}

/// A block of Â and, of a directed graph, that of Âᵀ, multiplied once each.
void multiply_block(const Settings& s, const Adjacency& a, int parts, Backend& backend, Share& out) {
    const int across = across_of(parts);
    const IndexMap rows = even_runs(a.vertices(), parts / across), columns = even_runs(a.vertices(), across);
    const Part row = rows.parts() / 2, column = columns.parts() / 2;
    const auto prepared = [&](const IndexMap& from, Part i, const IndexMap& to, Part j, Direction d) {
        const Part panel[] = {j};
        const Lines lines(a, d, from.owned(i), Entries::values, columns_of(to, panel));
        const Csr block = std::move(cut_lines(a, lines, to, panel)[0]);
        out.nonzeros += block.nonzeros();
        return backend.prepare(block);
    };
    const auto forward = prepared(rows, row, columns, column, Direction::forward);
    const auto backward = a.symmetric() ? nullptr : prepared(columns, column, rows, row, Direction::backward);
    malloc_trim(0);
    out.rows = rows.size(row);
    out.needed = columns.size(column);
    const Matrix h = backend.matrix(out.needed, s.width), z = backend.matrix(out.rows, s.width);
    backend.fill(h, 1);
    backend.spmm(*forward, h, z);
    if (backward) backend.spmm(*backward, z, h);
}

void build(const Settings& s, int parts, const PluginCatalog& catalog, Share& out) {
    const Part me = s.grid ? parts / 2 : heaviest(s.store, parts);
    const std::int64_t idle_files = status_bytes("RssFile");
    const MemoryWatch watch;
    const auto start = std::chrono::steady_clock::now();
    const Store store = Store::open(s.store);
    const DatasetView data = store.view();
    const IndexMap index = even_runs(data.graph.vertices(), parts);
    const std::vector<GlobalId> owned = index.owned(me);
    ModelSpec model;
    model.widths = {data.feature_count, data.classes};
    const TrainSpec train;
    const Params params;
    SetupCost cost;
    const Problem problem{data, index, model, train, params, nullptr, parts, {}, s.threads, &cost};
    const auto backend =
        catalog.kernel("cpu")->create({.dtype = DType::f32,
                                       .threads = s.threads,
                                       .params = Params(catalog.find(PluginKind::kernel, "cpu").params),
                                       .widths = {s.width}});

    const auto finish = [&] {
        backend->synchronize(StreamRole::compute);
        out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        out.read_s = cost.read.seconds;
        out.cut_s = cost.cut.seconds;
        out.prepare_s = backend->prepare_cost().seconds;
        out.peak_bytes = watch.peak_bytes();
        out.file_bytes = status_bytes("RssFile") - idle_files;
    };
    const Adjacency a = adjacency_of(problem);
    if (s.grid) {
        multiply_block(s, a, parts, *backend, out);
        const Matrix x = load_features(problem, owned, 0, data.feature_count, *backend);
        const VertexData vertices(problem, owned, *backend);
        finish();
        out.share_bytes = bytes_of_block(out, out.needed, data, std::ssize(owned), s.width);
        return;
    }
    const Matrix h = backend->matrix(std::ssize(owned), s.width), z = backend->matrix(std::ssize(owned), s.width);
    backend->fill(h, 1);
    const auto make_side = [&](Direction d) {
        const Halo halo = make_halo(a, index, me, d, every_block);
        out.nonzeros += halo.own.nonzeros() + halo.remote.nonzeros();
        out.needed += halo.needed_rows();
        out.sent += halo.sent_rows();
        return Side{backend->prepare(halo.own), backend->prepare(halo.remote), {}};
    };
    std::vector<Side> sides;
    sides.push_back(make_side(Direction::forward));
    if (!a.symmetric()) sides.push_back(make_side(Direction::backward));
    malloc_trim(0);
    const Matrix x = load_features(problem, owned, 0, data.feature_count, *backend);
    const VertexData vertices(problem, owned, *backend);
    for (Side& side : sides) {
        side.received = backend->matrix(side.remote->cols, s.width);
        backend->fill(side.received, 1);
        backend->spmm(*side.own, h, z);
        backend->spmm(*side.remote, side.received, z, {.beta = 1});
    }
    finish();
    out.rows = std::ssize(owned);
    out.share_bytes = bytes_of_share(out, data, s.width);
    out.predicted_bytes = predicted_peak(out, problem, me, s.width);
}

Share alone(const Settings& s, int parts, const PluginCatalog& catalog) {
    if (s.cold) {
        sync();
        std::ofstream drop("/proc/sys/vm/drop_caches");
        if (!(drop << "1" << std::flush))
            throw EnvironmentError("--cold needs the right to drop the system's caches");
    }
    return in_a_process<Share>([&](Share& found) { build(s, parts, catalog, found); });
}

/// In a process of its own, because a process that has used threads may not use them again after it forked.
void make_store(const std::string& path, std::int64_t vertices) {
    in_a_process<bool>([&](bool&) {
        write_store(path, generate("dcsbm", {{"vertices", vertices}, {"directed", true}, {"features", 16}}));
    });
}

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

int run(const Settings& s) {
    const PluginCatalog catalog;
    std::puts(
        "| ranks | rows | nonzeros | needed | share, MiB | peak, MiB | of files, MiB | peak less 64 MiB ÷ share | "
        "predicted, MiB | s | read | cut | prepare |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const int parts : s.parts) {
        std::vector<Share> rounds;
        for (int r = 0; r < s.rounds; ++r) rounds.push_back(alone(s, parts, catalog));
        std::ranges::sort(rounds, {}, &Share::seconds);
        const Share& median = rounds[rounds.size() / 2];
        std::printf(
            "%s\n",
            fmt::format("| {} | {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {} | {:.3f} | {:.3f} | {:.3f} "
                        "| {:.3f} |",
                        parts, median.rows, median.nonzeros, median.needed, mib(median.share_bytes),
                        mib(median.peak_bytes), mib(median.file_bytes),
                        std::max(0.0, mib(median.peak_bytes) - 64) / mib(median.share_bytes),
                        median.predicted_bytes == 0 ? "" : fmt::format("{:.1f}", mib(median.predicted_bytes)),
                        median.seconds, median.read_s, median.cut_s, median.prepare_s)
                .c_str());
        std::fflush(stdout);
        if (median.nonzeros == 0 || median.peak_bytes <= 0) return 1;
    }
    return 0;
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    bench::Settings s;
    std::int64_t vertices = 20000;
    CommandLine app{"What one rank of many costs, built alone, beside the bytes of its share"};
    app.add("--store", s.store, "a dataset's folder (default: one generated for the occasion)");
    app.add("--vertices", vertices, "of that one, directed");
    app.add("--parts", s.parts, "numbers of ranks");
    app.add("--width", s.width, "columns of what is multiplied");
    app.add("--threads", s.threads, "threads of a rank");
    app.add("--rounds", s.rounds, "processes of which the median is shown");
    app.add("--grid", s.grid, "a rank has one block of a grid: some rows, some columns");
    app.add("--permuted", s.permuted,
            "a rank of Plexus' cube of ranks, rows and columns permuted apart, read together");
    app.add("--cold", s.cold, "drop the system's caches before each");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        std::optional<TemporaryFolder> folder;
        if (s.store.empty()) {
            folder.emplace("bench");
            s.store = (folder->path() / "store").string();
            bench::make_store(s.store, vertices);
        }
        if (s.permuted) return bench::share_together({s.store, s.parts, s.width, s.threads});
        return bench::run(s);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_share: %s\n", e.what());
        return 5;
    }
}
