#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/transport.hpp>

#include "contract/checked_training.hpp"
#include "contract/evaluation_check.hpp"
#include "contract/full_batch.hpp"
#include "contract/graphs.hpp"
#include "partition/ordered.hpp"
#include "plugin/loader.hpp"
#include "worker/verify/evaluation_check.hpp"
#include "worker/verify/verification.hpp"
#include "worker/workload.hpp"
#include "mpi/mpi.hpp"

/// One small training run of one strategy on all ranks, compared with the serial reference.
namespace gnnbench::contract {

inline const PluginCatalog& catalog() {
    static const PluginCatalog found;
    return found;
}

/// How many labels a vertex has.
enum class Labels : std::uint8_t { one, several };

/// [vertices × classes]: nobody has class 1, every fifth vertex has no label at all.
inline std::vector<std::uint8_t> label_sets(std::int64_t vertices, std::int32_t classes) {
    std::vector<std::uint8_t> matrix;
    for (std::int64_t v = 0; v < vertices; ++v)
        for (std::int32_t c = 0; c < classes; ++c)
            matrix.push_back(c != 1 && v % 5 != 4 && (v * 3 + c * 5 + v / 7) % 4 < 2);
    return matrix;
}

/// Features, labels and splits for a graph, drawn by vertex: some vertices belong to no split. Where vertices have
/// several labels, graphs of fewer than ten vertices have no test split.
inline OwnedDataset dress(const graphs::NamedGraph& g, std::int64_t features, std::int32_t classes,
                          Labels labels = Labels::one) {
    OwnedDataset d;
    d.name = g.name;
    d.indptr = g.indptr;
    d.indices = g.indices;
    d.weights = g.weights;
    d.symmetric = g.symmetric;
    d.transpose = g.transpose;
    d.feature_count = features;
    d.classes = classes;
    for (std::int64_t v = 0; v < g.view().vertices(); ++v) {
        for (std::int64_t c = 0; c < features; ++c)
            d.features.push_back(
                static_cast<float>(unit_interval(random_word(1, Draw::features, static_cast<std::uint64_t>(v),
                                                             static_cast<std::uint32_t>(c), 0)) -
                                   0.4));
        if (labels == Labels::one) d.labels.push_back(static_cast<std::int32_t>((v * 7 + v / 3) % classes));
        d.split.push_back(static_cast<Split>((v + 1) % 4));
    }
    if (labels == Labels::one) return d;
    d.label_matrix = label_sets(g.view().vertices(), classes);
    if (std::ssize(d.split) < 10) std::replace(d.split.begin(), d.split.end(), Split::test, Split::none);
    return d;
}

struct ModelVariant {
    std::string name;
    std::vector<std::int64_t> widths = {7, 5, 3};
    ModelSpec model{};
    TrainSpec train{};
    OptimizerKind optimizer = OptimizerKind::sgd;  ///< Adam hides a wrong scale
    Labels labels = Labels::one;

    ModelSpec complete_model() const {
        ModelSpec m = model;
        m.widths = widths;
        return m;
    }
    TrainSpec complete_train() const {
        TrainSpec t = train;
        t.optimizer = optimizer;
        t.learning_rate = 0.2;
        t.weight_decay.assign(widths.size() - 1, 0.01);
        return t;
    }
};

/// With sparse features, every fifth vertex has none, nobody has the second, and about a third of the rest are not 0.
inline OwnedDataset dress(const graphs::NamedGraph& g, const ModelVariant& v) {
    OwnedDataset d = dress(g, v.widths.front(), static_cast<std::int32_t>(v.widths.back()), v.labels);
    if (!v.model.sparse_features) return d;
    for (std::size_t i = 0; i < d.features.size(); ++i) {
        const std::size_t vertex = i / usize(d.feature_count), column = i % usize(d.feature_count);
        if (vertex % 5 == 4 || column == 1 || (vertex * 3 + column * 5 + vertex / 7) % 3 > 0) d.features[i] = 0;
    }
    return d;
}

struct StrategyVariant {
    std::string name;  ///< of the strategy
    Params params;
    std::string changed;  ///< "overlap=false", empty for the defaults
};

/// The defaults with some parameters set, and each other parameter changed alone: booleans and choices to each
/// other value, integers where there are two, reals to half.
inline std::vector<StrategyVariant> variants(const std::string& name,
                                             const std::map<std::string, std::string>& set = {}) {
    const auto declared = catalog().find(PluginKind::strategy, name).params;
    StrategyVariant base{name, Params(declared), ""};
    for (const ParamDecl& p : declared)
        if (const auto found = set.find(p.name); found != set.end()) {
            base.params.set(p, found->second);
            base.changed += found->first + "=" + found->second + " ";
        }
    std::vector<StrategyVariant> out = {base};
    const auto add = [&](const ParamDecl& p, const std::string& text) {
        if (text == p.default_value || set.contains(p.name)) return;
        StrategyVariant changed = base;
        changed.params.set(p, text);
        changed.changed += std::string(p.name) + "=" + text;
        out.push_back(std::move(changed));
    };
    for (const ParamDecl& p : declared) {
        if (p.type == ParamType::boolean) {
            add(p, "true");
            add(p, "false");
        } else if (p.type == ParamType::integer && p.maximum - p.minimum == 1) {
            add(p, std::to_string(static_cast<std::int64_t>(p.minimum)));
            add(p, std::to_string(static_cast<std::int64_t>(p.maximum)));
        } else if (p.type == ParamType::real) {
            add(p, std::to_string(std::stod(p.default_value) / 2));
        } else if (p.type == ParamType::choice) {
            std::string words = p.choices;
            for (std::size_t cut; !words.empty(); words = cut == std::string::npos ? "" : words.substr(cut + 1)) {
                cut = words.find('|');
                add(p, words.substr(0, cut));
            }
        }
    }
    return out;
}

struct KernelVariant {
    std::string name;
    DType dtype;
    std::optional<Params> params = {};  ///< nothing: the defaults
};

/// What a back end is made from on this rank, which has its place among the ranks of its host. At first collective.
inline KernelSetting kernel_setting_of(const KernelVariant& k) {
    // Numbers alone: a communicator that is kept would outlive MPI.
    static const std::pair<int, int> local = [] {
        const ProcessGroup host = mpi_world().split_by_host();
        return std::pair(host.rank(), host.size());
    }();
    return {.dtype = k.dtype,
            .threads = 1,
            .local_rank = local.first,
            .local_ranks = local.second,
            .is_rank = true,
            .params = k.params ? *k.params : Params(catalog().find(PluginKind::kernel, k.name).params)};
}

/// Of a graph's content; a dressed dataset follows from it, the model's widths and the kind of labels.
inline std::string digest_of(const GraphView& g) {
    const auto of = [](const auto& array) {
        const std::string_view bytes(reinterpret_cast<const char*>(array.data()), array.size_bytes());
        return std::to_string(std::hash<std::string_view>()(bytes)) + " ";
    };
    return of(g.indptr) + of(g.indices) + of(g.weights);
}

/// The reference of a training; computed once, by rank 0 alone, as it is known by everything that it depends on.
inline const ReferenceResult& reference(const DatasetView& data, const ModelVariant& v, std::int64_t epochs,
                                        bool trained_features) {
    static std::map<std::string, ReferenceResult> known;
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const ReferenceTraining training{data, model, train, nullptr, epochs, trained_features};
    // Of features, the model's widths and whether they are sparse decide; the reference has dense ones for both.
    const std::string key =
        reference_key(digest_of(data.graph) + (v.model.sparse_features ? " sparse" : ""), training);
    if (!known.contains(key)) known[key] = compute_reference(catalog(), training);
    return known[key];
}

/// A training as all of its ranks have it.
struct TrainingCase {
    OwnedDataset owned;
    DatasetView data;                      ///< of it
    DatasetView stored;                    ///< as the strategy sees it
    std::vector<std::int32_t> unreadable;  ///< in place of columns that may not be read
    ModelVariant variant;
    ModelSpec model;
    TrainSpec train;
    std::unique_ptr<Strategy> strategy;
    StrategyVariant settings;
    int ranks = 1;
    bool vertex_cut = false;
    std::optional<IndexMap> index;
    std::string skipped;  ///< why it does not run; empty if it does

    Problem problem(SharedSetup* shared = nullptr) const {
        return {stored, *index, model, train, settings.params, nullptr, ranks, {}, 1, nullptr, shared};
    }
};

/// `partitioned`: a partitioner's name, or with an order inside parts, as in "block:rcm". `graph` outlives it.
inline std::unique_ptr<const TrainingCase> training_case(const StrategyVariant& s, const std::string& partitioned,
                                                         const ModelVariant& v, const graphs::NamedGraph& graph,
                                                         int ranks) {
    auto made = std::make_unique<TrainingCase>();
    TrainingCase& c = *made;
    c.owned = dress(graph, v);
    c.data = c.stored = c.owned.view();
    c.stored.graph.tiles = graph.tiles.view();
    c.stored.graph.transpose_tiles = graph.transpose_tiles.view();
    c.unreadable.assign(graph.indices.size(), -1);
    if (graph.rows_unreadable) {
        c.stored.graph.indices = c.stored.graph.transpose.indices = c.unreadable;
        c.stored.graph.self_loops = 0;
    }
    c.variant = v;
    c.model = v.complete_model();
    c.train = v.complete_train();
    c.settings = s;
    c.ranks = ranks;
    c.strategy = catalog().strategy(s.name);
    const Setting setting{ranks, c.model, c.train, s.params};
    const PartitionNeed need = c.strategy->partition_need(setting);
    c.vertex_cut = need.vertex_cut;
    const std::size_t colon = partitioned.find(':');
    std::string partitioner_name = partitioned.substr(0, colon);
    if (need.vertex_cut && (partitioner_name == "random" || partitioner_name == "block"))
        partitioner_name = "libra";
    const auto partitioner = catalog().partitioner(partitioner_name);
    const auto declared = catalog().find(PluginKind::partitioner, partitioner_name).params;
    Params partitioner_params(declared);
    if (colon != std::string::npos)
        for (const ParamDecl& d : declared)
            if (d.name == std::string(order_param)) partitioner_params.set(d, partitioned.substr(colon + 1));
    const GraphView& g = c.data.graph;
    c.skipped = c.strategy->why_unsupported(setting);
    if (c.skipped.empty())
        c.skipped =
            why_not_served(*partitioner, {g.vertices(), g.edges(), !g.weights.empty()}, need, partitioner_params);
    if (!c.skipped.empty()) return made;
    try {
        c.index.emplace(partition_in_order(
            *partitioner,
            {.dataset = c.data, .model = c.model, .need = need, .params = partitioner_params, .seed = 3}));
    } catch (const Unsupported& refused) {  // what the graph's size did not tell; the same on every rank
        c.skipped = refused.what();
    }
    return made;
}

/// How long these tests train.
inline constexpr std::int64_t usual_epochs = 5;

/// Collective. After 0 epochs: what set-up decides, such as its bytes.
inline Outcome train_and_compare(const TrainingCase& c, const Problem& problem, Backend& backend,
                                 const ProcessGroup& world, bool separate_wait = false,
                                 std::int64_t epochs = usual_epochs) {
    CheckedTraining training(*c.strategy, problem, backend, separate_wait, world.split(0, world.rank()));
    const bool trained = trains_features(c.settings.params);
    Outcome o = training.train(
        epochs, [&]() -> const ReferenceResult& { return reference(c.data, c.variant, epochs, trained); });
    if (epochs == 0) return o;  // an evaluation's check trains one
    if (c.vertex_cut) o.kept = 2 * o.kept + epochs * c.model.layers();
    if (backend.dtype() == DType::f64) {
        const bool random = has_dropout(c.model, c.train) || !o.approximation.empty();
        // Whatever a scheme approximates in training, it evaluates the weights that it has on the whole graph.
        if (!o.approximation.empty() && !trained)
            o.evaluation_problem =
                embeddings_problem(training.trainer(), c.data, world,
                                   reference_logits(catalog(), {c.data, c.model, c.train, nullptr, epochs, false},
                                                    training.trainer().weights(), DType::f64)
                                       .value);
        if (o.evaluation_problem.empty())
            o.evaluation_problem =
                evaluation_problem(training.trainer(), c.data, world, epochs, random, o.agreement.tolerance);
    }
    return o;
}

/// `partitioned`: as training_case has it.
inline Outcome run(const StrategyVariant& s, const std::string& partitioned, const KernelVariant& k,
                   const ModelVariant& v, const graphs::NamedGraph& graph, bool separate_wait = false,
                   std::int64_t epochs = usual_epochs) {
    const ProcessGroup world = mpi_world();
    const auto c = training_case(s, partitioned, v, graph, world.size());
    Outcome skipped;
    skipped.skipped = c->skipped;
    if (!c->skipped.empty()) return skipped;
    KernelSetting setting = kernel_setting_of(k);
    setting.heads = v.model.most_heads();
    const auto backend = catalog().kernel(k.name)->create(setting);
    return train_and_compare(*c, c->problem(), *backend, world, separate_wait, epochs);
}

}  // namespace gnnbench::contract
