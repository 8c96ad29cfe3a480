#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract/strategy_case.hpp"
#include "mpi/mpi.hpp"

/// What the contract tests of strategies on batches share.
namespace gnnbench::contract {

using Set = std::map<std::string, std::string>;

inline ModelVariant small_model() { return {.name = "GCN", .widths = {4, 5, 3}}; }
/// Three heads of two columns, then two whose mean is taken.
inline ModelVariant attending_model(double dropped = 0, LayerKind kind = LayerKind::gat) {
    ModelVariant v{.name = kind == LayerKind::gat ? "GAT" : "GATv2", .widths = {4, 6, 3}};
    if (dropped > 0) v.name += ", coefficients dropped";
    v.model.kind = kind;
    v.model.normalisation = Normalisation::none;
    v.model.heads = {3, 2};
    v.model.attention_dropout = dropped;
    return v;
}

/// A graph with its vertices dealt to clusters, and a strategy's training on it.
class Setup {
public:
    Setup(const std::string& strategy, const graphs::NamedGraph& graph, Part clusters, const Set& set,
          const KernelVariant& kernel, Slowdown slowdown = {}, const ModelVariant& variant = small_model())
        : owned_(dress(graph, variant)), data_(owned_.view()) {
        data_.graph.tiles = graph.tiles.view();
        data_.graph.transpose_tiles = graph.transpose_tiles.view();
        model_ = variant.complete_model();
        train_ = variant.complete_train();
        std::ranges::fill(train_.weight_decay, 0.0);
        strategy_ = catalog().strategy(strategy);
        const auto declared = catalog().find(PluginKind::strategy, strategy).params;
        params_ = Params(declared);
        for (const ParamDecl& p : declared) {
            if (std::string_view(p.name) == "clusters") params_.set(p, std::to_string(clusters));
            if (const auto found = set.find(p.name); found != set.end()) params_.set(p, found->second);
        }
        // Sizes of parts differ, and the last may be empty.
        partition_.parts = strategy_->partition_need({processes_.size(), model_, train_, params_}).parts;
        for (std::int64_t v = 0; v < data_.graph.vertices(); ++v)
            partition_.part_of.push_back(static_cast<Part>((v * v + v / 2) % partition_.parts));
        index_.emplace(partition_);
        KernelSetting setting = kernel_setting_of(kernel);
        setting.heads = model_.most_heads();
        backend_ = catalog().kernel(kernel.name)->create(setting);
        world_.emplace(backend_->connect(processes_), *backend_, counter_);
        problem_.emplace(
            Problem{data_, *index_, model_, train_, params_, nullptr, processes_.size(), std::move(slowdown)});
        unsupported_ = strategy_->why_unsupported({processes_.size(), model_, train_, params_});
        if (!unsupported_.empty()) return;
        const std::int64_t before = backend_->memory().current_bytes;
        trainer_ = strategy_->make_trainer(*problem_, {*backend_, *world_, processes_});
        held_bytes_ = backend_->memory().current_bytes - before;
        counter_.take();
    }

    const std::string& unsupported() const { return unsupported_; }
    bool advances_together() const { return std::holds_alternative<std::unique_ptr<CollectiveTrainer>>(trainer_); }
    CollectiveTrainer& collective() { return *std::get<std::unique_ptr<CollectiveTrainer>>(trainer_); }
    IndependentTrainer& independent() { return *std::get<std::unique_ptr<IndependentTrainer>>(trainer_); }
    const ProcessGroup& processes() const { return processes_; }
    /// Setup's own: a model on one device has no part in them.
    Rank rank() { return {*backend_, *world_, processes_}; }
    int me() const { return processes_.rank(); }
    int ranks() const { return processes_.size(); }
    Volume take() { return counter_.take(); }
    Backend& backend() { return *backend_; }
    StatedVolume stated(std::int64_t epoch) const {
        return strategy_->stated_volume(*problem_, me(), bytes(), epoch);
    }
    std::int64_t stated_memory() const { return strategy_->stated_memory(*problem_, me(), bytes()); }
    std::int64_t held_bytes() const { return held_bytes_; }
    std::int64_t bytes() const { return static_cast<std::int64_t>(size_of(backend_->dtype())); }
    const DatasetView& data() const { return data_; }
    const ModelSpec& model() const { return model_; }
    const TrainSpec& train() const { return train_; }
    const Problem& problem() const { return *problem_; }

    /// A cluster's subgraph as a dataset of its own.
    OwnedDataset cluster(Part c) const {
        std::vector<GlobalId> members;
        for (std::size_t v = 0; v < partition_.part_of.size(); ++v)
            if (partition_.part_of[v] == c) members.push_back(GlobalId{static_cast<std::int64_t>(v)});
        return subgraph(members);
    }

    /// The subgraph of some vertices, ascending, as a dataset of its own, edge by edge: nothing of the code under test
    /// makes it.
    OwnedDataset subgraph(const std::vector<GlobalId>& members) const {
        std::vector<std::int32_t> local(owned_.split.size(), -1);
        for (std::size_t i = 0; i < members.size(); ++i)
            local[static_cast<std::size_t>(value(members[i]))] = static_cast<std::int32_t>(i);
        OwnedDataset d;
        d.symmetric = owned_.symmetric;
        d.feature_count = owned_.feature_count;
        d.classes = owned_.classes;
        d.indptr.assign(1, 0);
        for (const GlobalId member : members) {
            const auto v = static_cast<std::size_t>(value(member));
            for (auto e = static_cast<std::size_t>(owned_.indptr[v]);
                 e < static_cast<std::size_t>(owned_.indptr[v + 1]); ++e) {
                const auto u = static_cast<std::size_t>(owned_.indices[e]);
                if (local[u] < 0) continue;
                d.indices.push_back(local[u]);
                if (!owned_.weights.empty()) d.weights.push_back(owned_.weights[e]);
            }
            d.indptr.push_back(static_cast<std::int64_t>(d.indices.size()));
            if (data_.multi_label()) {
                const auto c = static_cast<std::size_t>(owned_.classes);
                d.label_matrix.insert(d.label_matrix.end(),
                                      owned_.label_matrix.begin() + static_cast<std::ptrdiff_t>(v * c),
                                      owned_.label_matrix.begin() + static_cast<std::ptrdiff_t>((v + 1) * c));
            } else {
                d.labels.push_back(owned_.labels[v]);
            }
            d.split.push_back(owned_.split[v]);
            const auto f = static_cast<std::size_t>(owned_.feature_count);
            d.features.insert(d.features.end(), owned_.features.begin() + static_cast<std::ptrdiff_t>(v * f),
                              owned_.features.begin() + static_cast<std::ptrdiff_t>((v + 1) * f));
        }
        return d;
    }

private:
    const ProcessGroup processes_ = mpi_world();
    OwnedDataset owned_;
    DatasetView data_;
    ModelSpec model_;
    TrainSpec train_;
    Params params_;
    Partition partition_;
    std::optional<IndexMap> index_;
    std::unique_ptr<Strategy> strategy_;
    std::string unsupported_;
    std::unique_ptr<Backend> backend_;
    VolumeCounter counter_;
    std::optional<Communicator> world_;
    std::optional<Problem> problem_;
    AnyTrainer trainer_;
    std::int64_t held_bytes_ = 0;
};

inline const KernelVariant exactly{"reference", DType::f64}, as_timed{"cpu", DType::f32};

inline std::vector<graphs::NamedGraph> test_graphs() {
    return {graphs::known_symmetric(graphs::grid(6)), graphs::directed_random(41, 150, true),
            graphs::disconnected(5), graphs::without_edges(13),
            graphs::in_tiles(graphs::directed_random(41, 150, true), 3, 4)};
}

inline double largest_difference(const ModelWeights& a, const ModelWeights& b) {
    double worst = 0;
    for (std::size_t m = 0; m < a.matrices.size(); ++m)
        for (std::size_t i = 0; i < a.matrices[m].values.values.size(); ++i)
            worst = std::max(worst, std::abs(a.matrices[m].values.values[i] - b.matrices[m].values.values[i]));
    return worst;
}

inline std::int64_t train_vertices(const DatasetView& d) { return std::ranges::count(d.split, Split::train); }

}  // namespace gnnbench::contract
