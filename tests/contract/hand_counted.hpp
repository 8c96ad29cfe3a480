#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "contract/strategy_models.hpp"
#include "mpi/mpi.hpp"

/// What a strategy states and does in one epoch, beside numbers that were worked out by hand.
namespace gnnbench::contract {

/// What a rank states and does in one epoch in float64.
struct Seen {
    Volume stated, counted;
    std::int64_t stated_bytes = 0, held_bytes = 0;
};

/// One epoch of a strategy on a graph whose vertices are in these parts.
inline Seen see(const Strategy& strategy, const Params& params, const graphs::NamedGraph& graph,
                const ModelVariant& v, const std::vector<Part>& part_of,
                const std::vector<Part>& part_of_entry = {}) {
    const ProcessGroup world = mpi_world();
    const OwnedDataset owned = dress(graph, v.widths.front(), static_cast<std::int32_t>(v.widths.back()));
    const DatasetView data = owned.view();
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const Partition partition{.parts = *std::max_element(part_of.begin(), part_of.end()) + 1,
                              .part_of = part_of,
                              .column_part_of = {},
                              .part_of_entry = part_of_entry};
    const IndexMap index(partition);
    const auto backend = catalog().kernel("reference")->create({.dtype = DType::f64});
    const Problem problem{data, index, model, train, params, nullptr, world.size()};
    CheckedTraining training(strategy, problem, *backend);
    // Agreement with the reference is contract_strategy's affair.
    const Outcome o = training.train(
        1, [&]() -> const ReferenceResult& { return reference(data, v, 1, trains_features(params)); });
    return {strategy.stated_volume(problem, world.rank(), 8, 0).volume, training.last_epoch(), o.stated_bytes,
            o.bytes_at_setup};
}

/// What hand counting says of a rank.
struct Wanted {
    Volume volume;
    std::int64_t bytes = 0;
};

inline void put(Volume& v, CommOp op, Content content, const Traffic& t) {
    if (t != Traffic{}) v[{op, content}] = t;
}

/// 4 → 5 → 2 with biases: parameters are 4·5 + 5 = 25 and 5·2 + 2 = 12.
inline ModelVariant two_layers() { return {.name = "4-5-2", .widths = {4, 5, 2}}; }

/// Bytes that a row-parallel rank holds whatever its scheme. Of each vertex label, split and id, 4 + 1 + 8; the loss 8;
/// counts of correct vertices 6·8.
constexpr std::int64_t vertex_bytes = 13, scalar_bytes = 8 + 48;

/// Attention of two heads, 4 → 6 → 2 with biases: w = 6, then w = 2·2 in the last layer, which has the heads' mean. Columns
/// of the rows that travel, both layers' together, and what a rank holds for its layers (docs/attention.md). `returns`: sums
/// go back to the owners of the rows.
struct Attending {
    bool dynamic = false;
    ModelVariant model() const { return attention({4, 6, 2}, {2}, dynamic ? LayerKind::gatv2 : LayerKind::gat); }
    std::int64_t forward() const { return dynamic ? 6 + 4 : 8 + 6; }       // t; h and r
    std::int64_t gathered() const { return dynamic ? 16 + 12 : 12 + 10; }  // G, s, log Σ, D; G, l, log Σ, D
    std::int64_t returned() const { return 6 + 4; }                        // dt; dh
    std::int64_t again(bool returns) const { return returns || dynamic ? forward() : 0; }
    std::int64_t widest(bool returns) const { return dynamic ? (returns ? 6 : 16) : (returns ? 8 : 12); }
    /// Room of a returned sum: dt and v; dh and dr.
    std::int64_t room() const { return dynamic ? 12 : 8; }
    /// The first layer keeps Z, P and log Σ, 2w + H = 14, or Z and log Σ, w + H = 8, below what the last one works in: 3w + 5H =
    /// 22, or 4w + 2H and w for the wider heads, 24; where sums are returned w or 2w more, 26 or 32. It works in less or as
    /// much: 28 or 34; 28 or 40.
    std::int64_t stack(bool returns) const {
        return dynamic ? (returns ? 8 + 32 : 8 + 24) : (returns ? 14 + 26 : 14 + 22);
    }
    /// W [4 × 6], two vectors and b, 42, then 6·4 + 4 + 4 + 2 = 34; two W, a vector and b, 60, then 2·24 + 4 + 2 = 54.
    std::int64_t parameters() const { return dynamic ? 60 + 54 : 42 + 34; }
    /// Of so many vertices, beside the products' buffers: X 4, outputs 6 and max(6, 2), the stack; values and gradients.
    std::int64_t bytes(std::int64_t vertices, bool returns) const {
        return 8 * (vertices * (4 + 6 + 6 + stack(returns)) + 2 * parameters()) + vertices * vertex_bytes +
               scalar_bytes;
    }
};

/// All-reduces among three ranks.
namespace three_ranks {

/// Sampled ids, loss and the like are metadata: four bytes an id, eight a loss.
inline Traffic loss_scalar(int rank) { return {rank == 0 ? 16 : 8, rank == 0 ? 16 : 8, 1}; }

/// Gradients of 4·5 + 5 = 25 and 5·2 + 2 = 12 elements over 3 ranks, in blocks of 9, 8, 8 and of 4: x + (P − 2)·m
/// elements.
inline Traffic two_gradients(int rank) {
    const std::int64_t bytes = 8 * (25 + (rank == 0 ? 9 : 8)) + 8 * (12 + 4);
    return {bytes, bytes, 2};
}

/// Attention's 42 and 34, or 60 and 54, elements over 3 ranks: blocks of 14; of 12, 11 and 11; of 20; of 18.
inline Traffic gradients(Attending a, int rank) {
    const std::int64_t bytes = 8 * (a.parameters() + (a.dynamic ? 20 + 18 : rank == 0 ? 14 + 12 : 14 + 11));
    return {bytes, bytes, 2};
}

}  // namespace three_ranks

/// Empty, or where what is seen on this rank is not what is wanted.
inline std::string problem(const Seen& s, const Wanted& w) {
    std::string text;
    if (const std::string d = difference(w.volume, s.stated); !d.empty()) text += "stated volume: " + d + "\n";
    if (const std::string d = difference(w.volume, s.counted); !d.empty()) text += "counted volume: " + d + "\n";
    if (s.stated_bytes != w.bytes)
        text += "stated memory " + std::to_string(s.stated_bytes) + ", by hand " + std::to_string(w.bytes) + "\n";
    if (s.held_bytes != w.bytes)
        text += "held memory " + std::to_string(s.held_bytes) + ", by hand " + std::to_string(w.bytes) + "\n";
    return text;
}

/// One scheme with its parameters, and what it takes on a graph by hand; `Graph` has a member `graph`.
template <class Graph>
struct Subject {
    std::string name;
    std::map<std::string, std::string> parameters;
    ModelVariant model;
    std::function<Wanted(const Graph&, int rank)> by_hand;

    std::string title() const {
        std::string text = name;
        for (const auto& [key, value] : parameters) text += " " + key + "=" + value;
        return text + ", " + model.name;
    }
    Params params() const {
        const auto declared = catalog().find(PluginKind::strategy, name).params;
        Params p(declared);
        for (const ParamDecl& d : declared)
            if (const auto found = parameters.find(d.name); found != parameters.end()) p.set(d, found->second);
        return p;
    }
};

/// A scheme that wastes and admits it: it sends a row to the next rank in every epoch, or holds a buffer that nobody
/// needs, and states as much. Stated then equals counted.
class Wasteful final : public Strategy {
public:
    enum class Waste { sends, holds };
    Wasteful(std::shared_ptr<Strategy> scheme, Waste waste) : scheme_(std::move(scheme)), waste_(waste) {}

    std::string approximation(const Params& p) const override { return scheme_->approximation(p); }
    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        Volume v = scheme_->stated_volume(p, rank, element_bytes, 0).volume;
        if (waste_ == Waste::sends)
            v[{CommOp::point_to_point, Content::payload}] += {element_bytes, element_bytes, 1};
        return v;
    }
    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        return scheme_->stated_memory(p, rank, element_bytes) + (waste_ == Waste::holds ? element_bytes : 0);
    }
    AnyTrainer make_trainer(const Problem& p, Rank rank) const override;

private:
    std::shared_ptr<Strategy> scheme_;
    Waste waste_;
};

class WastefulTrainer final : public CollectiveTrainer {
public:
    WastefulTrainer(std::unique_ptr<CollectiveTrainer> trainer, Rank rank, Wasteful::Waste waste)
        : trainer_(std::move(trainer)), world_(rank.world), waste_(waste) {
        if (waste_ == Wasteful::Waste::holds) unneeded_ = rank.backend.matrix(1, 1);
        element_ = HostMatrix(1, 2);
    }
    Step train_step(std::int64_t epoch, std::int64_t) override {
        const Step step = trainer_->train_epoch(epoch);
        if (waste_ == Wasteful::Waste::sends) {
            // `reference` computes on the host, so host memory is its device's.
            const int next = (world_.rank() + 1) % world_.size(),
                      before = (world_.rank() + world_.size() - 1) % world_.size();
            const RowMessage out{next, {element_.values.data(), 1, 1, 1, DType::f64}};
            const RowMessage in{before, {element_.values.data() + 1, 1, 1, 1, DType::f64}};
            world_.exchange_now(std::span(&out, 1), std::span(&in, 1));
        }
        return step;
    }
    Score evaluate() override { return trainer_->evaluate(); }
    ModelWeights weights() override { return trainer_->weights(); }
    ModelWeights gradients() override { return trainer_->gradients(); }
    OwnedRows embeddings() override { return trainer_->embeddings(); }

private:
    std::unique_ptr<CollectiveTrainer> trainer_;
    Communicator& world_;
    Wasteful::Waste waste_;
    Matrix unneeded_;
    HostMatrix element_;
};

inline AnyTrainer Wasteful::make_trainer(const Problem& p, Rank rank) const {
    return std::make_unique<WastefulTrainer>(scheme_->make_collective_trainer(p, rank), rank, waste_);
}

/// Each subject on each graph, vertices and, under a vertex cut, entries in these parts: stated and counted volumes, stated
/// and held memory are those counted by hand.
template <class Graph>
void check_by_hand(const std::vector<Subject<Graph>>& subjects, const std::vector<Graph>& graphs,
                   const std::vector<Part>& part_of, const std::vector<Part>& part_of_entry = {}) {
    const ProcessGroup world = mpi_world();
    for (const Subject<Graph>& s : subjects)
        for (const Graph& g : graphs) {
            const Seen seen =
                see(*catalog().strategy(s.name), s.params(), g.graph, s.model, part_of, part_of_entry);
            const auto all = world.all_gather(problem(seen, s.by_hand(g, world.rank())));
            for (std::size_t r = 0; r < all.size(); ++r) {
                INFO(s.title() << ", " << g.graph.name << ", rank " << r);
                CHECK(all[r] == "");
            }
        }
}

/// Each subject, wasting and stating the waste, is found by the numbers counted by hand and by nothing of its own.
template <class Graph>
void check_waste_is_found(const std::vector<Subject<Graph>>& subjects, const Graph& g,
                          const std::vector<Part>& part_of, const std::vector<Part>& part_of_entry = {}) {
    const ProcessGroup world = mpi_world();
    for (const Subject<Graph>& s : subjects)
        for (const Wasteful::Waste waste : {Wasteful::Waste::sends, Wasteful::Waste::holds}) {
            const bool sends = waste == Wasteful::Waste::sends;
            if (sends && world.size() == 1) continue;  // nobody to send to
            const Wasteful wasteful(catalog().strategy(s.name), waste);
            const Seen seen = see(wasteful, s.params(), g.graph, s.model, part_of, part_of_entry);
            INFO(s.title() << (sends ? " over-sending" : " with an unneeded buffer"));
            // Its own statement does not give it away.
            CHECK(difference(seen.stated, seen.counted) == "");
            CHECK(seen.stated_bytes == seen.held_bytes);
            const std::string found = problem(seen, s.by_hand(g, world.rank()));
            CHECK(found.find(sends ? "counted volume" : "held memory") != std::string::npos);
            CHECK(found.find(sends ? "memory" : "volume") == std::string::npos);
        }
}

}  // namespace gnnbench::contract
