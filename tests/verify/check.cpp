#include "verify/check.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/training/layer_zero.hpp>

#include "worker/workload.hpp"

namespace gnnbench::verify {
namespace {

constexpr std::uint64_t partition_seed = 3;

/// A scheme whose dense rows travel along the nets of the graph and of nothing else.
struct NetScheme {
    CommOp operation;
    bool returns_partial_sums;  ///< backward goes the way of forward's nets, to their owners
};
std::optional<NetScheme> net_scheme(const ProductCell& cell) {
    if (cell.standing != Standing::runs) return {};
    if (cell.strategy == "demirci-p2p") return NetScheme{CommOp::point_to_point, false};
    if (cell.strategy == "sa-1d") return NetScheme{CommOp::all_to_all, cell.params.choice("backward") == "return"};
    return {};
}

/// Bytes that all ranks receive in an operation's payload.
std::int64_t received(const Volume& mine, CommOp op, const ProcessGroup& world) {
    const auto found = mine.find({op, Content::payload});
    const auto bytes = found == mine.end() ? 0 : found->second.received_bytes;
    return static_cast<std::int64_t>(world.sum({static_cast<double>(bytes)})[0]);
}

/// Empty, or where the rows that travelled are not width × Σ (λ − 1), forward and in a whole epoch.
std::string net_problem(const NetScheme& scheme, const Problem& problem, const Connectivity& nets,
                        bool aggregated_input, const VerifiedTraining& v, const ProcessGroup& world) {
    const auto& widths = problem.model.widths;
    // Of the rows that travel forward, those of them that travel once more, and backward.
    std::int64_t forward_width = 0, again_width = 0, backward_width = 0;
    const bool returns = scheme.returns_partial_sums, dynamic = problem.model.kind == LayerKind::gatv2;
    for (std::size_t l = aggregated_input ? 1 : 0; l + 1 < widths.size(); ++l) {
        if (!problem.model.attends()) {
            forward_width += widths[l];
            backward_width += widths[l + 1];
            continue;
        }
        // The last layer has the mean of its heads' columns.
        const std::int64_t heads = problem.model.heads_of(static_cast<int>(l)),
                           columns = l + 2 == widths.size() ? heads * widths[l + 1] : widths[l + 1],
                           forward = dynamic ? columns : columns + heads;
        forward_width += forward;
        if (dynamic || returns) again_width += forward;
        backward_width += returns ? columns : dynamic ? 2 * columns + 2 * heads : columns + 3 * heads;
    }
    constexpr std::int64_t element_bytes = sizeof(float);
    const std::int64_t forward = element_bytes * forward_width * nets.columns;
    const std::int64_t again = element_bytes * again_width * nets.columns;
    const std::int64_t backward = element_bytes * backward_width * (returns ? nets.columns : nets.rows);
    const std::int64_t epoch_found = received(v.epoch, scheme.operation, world);
    const std::int64_t forward_found = received(v.evaluation, scheme.operation, world);
    if (forward_found != forward)
        return fmt::format("forward moves {} bytes; width x sum(lambda - 1) is {} x {} x {} bytes = {}",
                           forward_found, forward_width, nets.columns, element_bytes, forward);
    if (epoch_found != forward + again + backward)
        return fmt::format(
            "an epoch moves {} bytes; by the graph's nets it is {} forward, {} once more and {} backward",
            epoch_found, forward, again, backward);
    return {};
}

/// Bytes that all ranks sent and received in an epoch: as many. A shared word's home takes no part in an access, which
/// its caller alone counts.
std::string balance_problem(const Volume& mine, const ProcessGroup& world) {
    Traffic sum;
    for (const auto& [key, t] : mine)
        if (key != VolumeKey{CommOp::one_sided, Content::metadata}) sum += t;
    const auto sums = world.sum({static_cast<double>(sum.sent_bytes), static_cast<double>(sum.received_bytes)});
    return sums[0] == sums[1] ? "" : fmt::format("{} bytes sent, {} received", sums[0], sums[1]);
}

}  // namespace

CellChecker::CellChecker(const PluginCatalog& catalog, const Graphs& graphs, std::filesystem::path references,
                         const ProcessGroup& world)
    : catalog_(catalog),
      graphs_(graphs),
      references_(std::move(references)),
      world_(world),
      backend_(catalog.kernel("cpu")) {}

const CellChecker::Divided& CellChecker::divided(const LoadedGraph& graph, const std::string& partitioner,
                                                 const PartitionNeed& need) {
    auto& known = divided_[{graph.name, partitioner, need.parts, need.column_parts}];
    if (known) return *known;
    const auto plugin = catalog_.partitioner(partitioner);
    const Params params(catalog_.find(PluginKind::partitioner, partitioner).params);
    Partition partition = make_partition(*plugin,
                                         {.dataset = graph.data,
                                          .model = graph.subjects.front().model,
                                          .need = need,
                                          .params = params,
                                          .seed = partition_seed},
                                         world_);
    IndexMap index(partition);
    Connectivity nets;
    std::string problem;
    if (world_.rank() == 0 && partition.column_part_of.empty() && partition.part_of_entry.empty()) {
        nets = count_connectivity(graph.data.graph, partition.part_of);
        const auto reported = measure_quality(graph.data.graph, partition).connectivity_minus_one;
        if (reported != nets.columns)
            problem = fmt::format("the partition report says connectivity {}; it is {}", reported, nets.columns);
    }
    known = std::make_unique<Divided>(Divided{std::move(partition), std::move(index), nets, std::move(problem)});
    return *known;
}

const ReferenceResult& CellChecker::reference(const LoadedGraph& graph, const Subject& subject,
                                              bool trained_features) {
    const auto key = std::tuple(graph.name, subject.layers, trained_features);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    return known_[key] = cached_reference(references_.string(), graph.store.manifest().digest, catalog_,
                                          {.data = graph.data,
                                           .model = subject.model,
                                           .train = subject.train,
                                           .epochs = verified_epochs,
                                           .trained_features = trained_features});
}

std::unique_ptr<Backend> CellChecker::make_backend(DType dtype, std::int64_t heads) const {
    const Params params(catalog_.find(PluginKind::kernel, "cpu").params);
    return backend_->create({.dtype = dtype, .threads = 1, .params = params, .heads = heads});
}

Finding CellChecker::check(const ProductCell& cell) {
    const auto begin = std::chrono::steady_clock::now();
    const LoadedGraph& graph = graphs_.named(cell.graph);
    const Divided* divided_graph = nullptr;
    try {
        divided_graph = &divided(graph, cell.partitioner, cell.need);
    } catch (const Unsupported& refused) {  // what the graph's size did not tell; the same on every rank
        Finding f(cell);
        f.standing = Standing::refused;
        f.reason = refused.what();
        return f;
    }
    const Divided& parts = *divided_graph;
    const auto strategy = catalog_.strategy(cell.strategy);
    const auto scheme = net_scheme(cell);
    const Subject& subject = graph.with(cell.layers);
    const Problem problem{graph.data,  parts.index, subject.model, subject.train,
                          cell.params, nullptr,     world_.size()};
    // Of an approximate scheme it tells the size of the steps alone.
    const ReferenceResult* known =
        world_.rank() == 0 ? &reference(graph, subject, trains_features(cell.params)) : nullptr;
    const std::int64_t heads = subject.model.most_heads();
    const VerifiedTraining v = verify_training({.strategy = *strategy,
                                                .problem = problem,
                                                .group = world_,
                                                .backend = [&] { return make_backend(DType::f32, heads); },
                                                .float64_backend = [&] { return make_backend(DType::f64, heads); },
                                                .epochs = verified_epochs,
                                                .evaluates = scheme.has_value(),
                                                .catalog = &catalog_,
                                                .approximate = cell.standing == Standing::approximate},
                                               known);

    Finding f(cell);
    f.loss_error = v.loss_error;
    f.gradient_error = v.gradient_error;
    f.rounding = v.ill_conditioned.empty() ? v.rounding : "ill-conditioned: " + v.ill_conditioned;
    f.float64_error = v.float64_error;
    for (const Fault& fault : v.faults) f.add_problem(fault.check + ": " + fault.text);
    f.add_problem(balance_problem(v.epoch, world_));
    if (scheme) {
        const bool aggregated = subject.model.aggregate_input;
        f.connectivity = parts.connectivity.columns;
        f.add_problem(parts.quality_problem);
        f.add_problem(net_problem(*scheme, problem, parts.connectivity, aggregated, v, world_));
    }
    f.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return f;
}

}  // namespace gnnbench::verify
