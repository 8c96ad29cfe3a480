#include "worker/workload.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>

#include <fmt/format.h>

#include <gnnbench/random.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>
#include <gnnbench/training/parameters.hpp>

#include "data/npy.hpp"
#include "partition/ordered.hpp"
#include "plugin/agreement.hpp"
#include "spec/setting.hpp"
#include "worker/hosts.hpp"
#include "worker/late_files.hpp"
#include "worker/store_share.hpp"
#include "worker/verify/verification.hpp"

namespace gnnbench {

DatasetView OwnedDataset::view() const {
    return {.name = name,
            .graph = {.indptr = indptr,
                      .indices = indices,
                      .weights = weights,
                      .symmetric = symmetric,
                      .transpose = transpose.view()},
            .feature_count = feature_count,
            .features = features,
            .classes = classes,
            .labels = labels,
            .label_matrix = label_matrix,
            .split = split};
}

namespace {

/// The vertices of the sample, ascending.
std::vector<std::int64_t> breadth_first(const DatasetView& whole, std::int64_t count, std::uint64_t seed) {
    const GraphView& g = whole.graph;
    const auto n = usize(g.vertices());
    std::vector<std::int64_t> starts(n);
    for (std::size_t v = 0; v < n; ++v) starts[v] = static_cast<std::int64_t>(v);
    RandomStream draw(seed, Draw::sample);
    for (std::size_t v = n; v > 1; --v) std::swap(starts[v - 1], starts[draw.below(v)]);
    // A train vertex first, so that the sample has a loss.
    std::stable_partition(starts.begin(), starts.end(),
                          [&](std::int64_t v) { return whole.split[usize(v)] == Split::train; });
    std::vector<bool> taken(n);
    std::vector<std::int64_t> queue;
    const auto take = [&](std::int64_t v) {
        if (taken[usize(v)] || std::ssize(queue) == count) return;
        taken[usize(v)] = true;
        queue.push_back(v);
    };
    std::size_t next = 0, head = 0;
    while (std::ssize(queue) < count && next < n) {
        take(starts[next++]);
        for (; head < queue.size(); ++head) {
            const auto v = usize(queue[head]);
            for (auto e = g.indptr[v]; e < g.indptr[v + 1]; ++e) take(g.indices[usize(e)]);
        }
    }
    std::sort(queue.begin(), queue.end());
    return queue;
}

}  // namespace

OwnedDataset sample_dataset(const DatasetView& whole, std::int64_t vertices, std::uint64_t seed) {
    const GraphView& g = whole.graph;
    const auto chosen = breadth_first(whole, std::min(vertices, g.vertices()), seed);
    std::vector<std::int32_t> renamed(usize(g.vertices()), -1);
    for (std::size_t i = 0; i < chosen.size(); ++i) renamed[usize(chosen[i])] = static_cast<std::int32_t>(i);
    OwnedDataset s;
    s.name = whole.name;
    s.feature_count = whole.feature_count;
    s.classes = whole.classes;
    s.symmetric = g.symmetric;  // an induced subgraph of a symmetric graph is symmetric
    for (const std::int64_t original : chosen) {
        const auto v = usize(original);
        for (auto at = g.indptr[v]; at < g.indptr[v + 1]; ++at) {
            const auto e = usize(at);
            const std::int32_t u = renamed[usize(g.indices[e])];
            if (u < 0) continue;
            s.indices.push_back(u);
            if (!g.weights.empty()) s.weights.push_back(g.weights[e]);
        }
        s.indptr.push_back(std::ssize(s.indices));
        const auto f = usize(whole.feature_count);
        const auto row = whole.features.subspan(v * f, f);
        s.features.insert(s.features.end(), row.begin(), row.end());
        if (whole.multi_label()) {
            const auto labels = whole.label_matrix.subspan(v * usize(whole.classes), usize(whole.classes));
            s.label_matrix.insert(s.label_matrix.end(), labels.begin(), labels.end());
        } else {
            s.labels.push_back(whole.labels[v]);
        }
        s.split.push_back(whole.split[v]);
    }
    // What its strategies then read is what they read of a whole store.
    if (!whole.graph.transpose.indptr.empty()) s.transpose = transpose_of({s.indptr, s.indices, s.weights});
    return s;
}

ModelSpec model_for(const Cell& cell, const DatasetView& data) {
    if (data.feature_count < 1 || data.classes < 1)
        throw DataError(
            fmt::format("dataset '{}' has {} features and {} classes; training needs at least one of each",
                        data.name, data.feature_count, data.classes));
    return complete_model(cell, data.feature_count, data.classes);
}

Workload load_workload(const TrialRequest& request, const ProcessGroup& group) {
    const Cell& cell = request.cell;
    Workload w{.store = open_on_all(request.store, group, host_limit_s(group.size())),
               .sample = {},
               .data = {},
               .model = {},
               .train = {},
               .initial = {}};
    check_shares(w.store, group, cell.threads_per_rank);
    w.data = w.store.view(cell.dataset.split);
    w.model = model_for(cell, w.data);
    w.train = complete_train(cell);
    if (request.purpose == Purpose::verify) {
        w.train = verification_training(w.train);
        const std::int64_t fits = verifiable_vertices(w.data, w.model, request.verify);
        if (fits < w.data.graph.vertices()) {
            w.sample = sample_dataset(w.data, fits, w.train.seed);
            w.data = w.sample->view();
        }
    }
    w.initial = read_weights(cell.initial_weights, w.model);
    return w;
}

namespace {

/// How partitioning failed on rank 0: by the exception's kind, which decides how the trial ends.
enum class Failure : char { none = 'n', oom = 'm', unsupported = 'u', other = 'o' };

/// Rank 0 broadcasts what went wrong there, and all throw it alike.
void throw_failure_of_root(const ProcessGroup& group, Failure failure, const std::string& what) {
    const std::string told = group.all_gather(static_cast<char>(failure) + what)[0];
    const std::string message = told.substr(1);
    switch (static_cast<Failure>(told.front())) {
        case Failure::none:
            return;
        case Failure::oom:
            throw OutOfMemory(message);
        case Failure::unsupported:
            throw Unsupported(message);
        case Failure::other:
            throw Error(message);
    }
}

template <class T>
void share(const ProcessGroup& group, std::vector<T>& values) {
    std::uint64_t size = values.size();
    group.broadcast(&size, sizeof size, 0);
    values.resize(size);
    group.broadcast(values.data(), size * sizeof(T), 0);
}

}  // namespace

namespace {

/// Rank 0 partitions alone; what goes wrong there, all throw.
Partition made_on_root(const Partitioner& partitioner, const PartitionTask& task, const ProcessGroup& group) {
    Partition p;
    Failure failure = Failure::none;
    std::string what;
    if (group.rank() == 0) {
        try {
            p = partition_in_order(partitioner, task);
        } catch (const OutOfMemory& e) {
            failure = Failure::oom;
            what = e.what();
        } catch (const std::bad_alloc&) {
            failure = Failure::oom;
            what = "the host has no memory left to partition the graph in";
        } catch (const Unsupported& e) {
            failure = Failure::unsupported;
            what = e.what();
        } catch (const std::exception& e) {
            failure = Failure::other;
            what = e.what();
        }
    }
    throw_failure_of_root(group, failure, what);
    return p;
}

/// All ranks partition; rank 0 gets the whole partition.
Partition made_together(const Partitioner& partitioner, const PartitionTask& task, const ProcessGroup& group) {
    const Partition own = partitioner.partition(task);
    Partition p{.parts = task.need.parts, .part_of = {}, .column_part_of = {}};
    const char* const bytes = reinterpret_cast<const char*>(own.part_of.data());
    for (const std::string& rows : group.gather({bytes, own.part_of.size() * sizeof(Part)})) {
        const std::size_t before = p.part_of.size();
        p.part_of.resize(before + rows.size() / sizeof(Part));
        std::memcpy(p.part_of.data() + before, rows.data(), rows.size());
    }
    if (group.rank() == 0) put_in_order(p, task);
    return p;
}

}  // namespace

MadePartition partition_on_root(const Partitioner& partitioner, const PartitionTask& task,
                                const ProcessGroup& group, const PartitionPlace* place) {
    MadePartition made;
    if (place && group.rank() == 0)
        if (auto kept = place->cache.find(place->key, task.need,
                                          {task.dataset.graph.vertices(), task.dataset.graph.edges()}))
            made = {std::move(kept->partition), kept->wall_s, true};
    std::uint8_t found = made.kept;
    group.broadcast(&found, sizeof found, 0);
    made.kept = found != 0;
    PartitionTask own = task;
    own.processes = partitioner.distributed() ? &group : nullptr;
    if (!made.kept) {
        const auto start = std::chrono::steady_clock::now();
        made.partition =
            own.processes ? made_together(partitioner, own, group) : made_on_root(partitioner, own, group);
        made.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (place && group.rank() == 0 && made.wall_s >= kept_from_s)
            place->cache.keep(place->key, {made.partition, made.wall_s});
    }
    made.partition.parts = task.need.parts;
    group.broadcast(&made.wall_s, sizeof made.wall_s, 0);
    return made;
}

Partition make_partition(const Partitioner& partitioner, const PartitionTask& task, const ProcessGroup& group) {
    Partition partition = partition_on_root(partitioner, task, group, nullptr).partition;
    for (auto* array : {&partition.part_of, &partition.column_part_of, &partition.order, &partition.part_of_entry})
        share(group, *array);
    return partition;
}

std::unique_ptr<ModelWeights> read_weights(const std::string& folder, const ModelSpec& model) {
    if (folder.empty()) return nullptr;
    auto w = std::make_unique<ModelWeights>(zero_weights(model));
    for (NamedMatrix& m : w->matrices)
        m.values = read_matrix_npy(std::filesystem::path(folder) / (m.name + ".npy"));
    return w;
}

CellPlugins load_plugins(const Cell& cell, const PluginCatalog& catalog, const ProcessGroup& group) {
    const std::vector<PluginRequest> wanted = {{PluginKind::strategy, cell.scheme.name},
                                               {PluginKind::partitioner, cell.partitioner.name},
                                               {PluginKind::kernel, cell.kernel.name}};
    agree_on_plugins(group, catalog, wanted);
    return {catalog.strategy(cell.scheme.name), catalog.partitioner(cell.partitioner.name),
            catalog.kernel(cell.kernel.name)};
}

KernelSetting kernel_setting(const Cell& cell, const ProcessGroup& group) {
    const ProcessGroup host = group.split_by_host();
    return {.dtype = cell.precision == "float64" ? DType::f64 : DType::f32,
            .threads = cell.threads_per_rank,
            .local_rank = host.rank(),
            .local_ranks = host.size(),
            .is_rank = true,
            .params = cell.kernel.params};
}

}  // namespace gnnbench
