#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/graph.hpp>
#include <gnnbench/shared_setup.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/setup_cost.hpp>
#include <gnnbench/slowdown.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/volume.hpp>

namespace gnnbench {

/// What is known about a cell before anything is loaded.
struct Setting {
    int ranks = 1;
    const ModelSpec& model;
    const TrainSpec& train;
    const Params& params;
};

/// A trained matrix, or its gradient.
struct NamedMatrix {
    std::string name;  ///< as parameters_of names it
    int layer = 0;     ///< of the model
    ParameterRole role = ParameterRole::weight;
    HostMatrix values;
};

/// All trained matrices of a model on the host, float64, in the order of parameters_of.
struct ModelWeights {
    std::vector<NamedMatrix> matrices;

    /// By name; throws DataError where there is none.
    HostMatrix& operator[](std::string_view name);
    const HostMatrix& operator[](std::string_view name) const;
};

/// What an optimizer remembers beside the weights; without matrices where it remembers nothing (SGD).
struct Moments {
    ModelWeights first, second;
};

/// Everything fixed before the first epoch; the same on every rank. Views stay valid while the trainer lives.
struct Problem {
    const DatasetView& dataset;
    const IndexMap& index;  ///< the parts that partition_need asked for
    const ModelSpec& model;
    const TrainSpec& train;
    const Params& params;
    /// Weights to start from; nullptr: drawn from the seed.
    const ModelWeights* initial_weights = nullptr;
    int ranks = 1;  ///< of the trial; the strategy decides which parts a rank holds
    Slowdown slowdown = {};
    int threads = 1;            ///< of a rank's host, for what sets up
    SetupCost* cost = nullptr;  ///< receives the cost of set-up; null if it is not recorded
    /// What this process's ranks have in common; nullptr: there is one. It lives as long as the views.
    SharedSetup* shared = nullptr;
};

/// What a rank computes and communicates with.
struct Rank {
    Backend& backend;
    Communicator& world;            ///< device memory, counted and timed
    const ProcessGroup& processes;  ///< the same ranks' control messages on the host
};

/// Where a vertex has one label, the share of vertices whose label is predicted: its micro-F1 is the same. Where it may
/// have several, micro-F1 over vertices and classes: 2·TP / (2·TP + FP + FN).
enum class ScoreMetric : std::uint8_t { accuracy, micro_f1 };
/// As records name it: "accuracy", "micro-F1".
const char* to_text(ScoreMetric metric);

/// How well a model predicts the labels of each split.
struct Score {
    ScoreMetric metric = ScoreMetric::accuracy;
    /// Indexed by Split − 1: train, validation, test. NaN where the split is empty, or where no vertex of it has a
    /// label and none is predicted.
    std::array<double, 3> of{};
};

/// Rows of a distributed matrix with the vertices they belong to.
struct OwnedRows {
    std::vector<GlobalId> vertices;
    HostMatrix rows;  ///< [vertices × f]
};

/// Which ranks a value covers.
enum class Extent : std::uint8_t { all_ranks, this_rank };

/// One update of the weights.
struct Step {
    /// Mean over `samples`, before the update; 0 where there are none.
    double loss = 0;
    /// Train vertices that the loss is of.
    std::int64_t samples = 0;
    /// Whose samples they are: all ranks' together, or those of this rank's own batch.
    Extent extent = Extent::all_ranks;
};

/// How old the rows of other ranks were with which a layer computed in an epoch: the epochs since their owners computed them.
/// For a moving average, those since the newest of its terms.
struct RowAges {
    enum class Kind : std::uint8_t { features, gradients };
    int layer = 0;  ///< of the model
    Kind kind = Kind::features;
    std::int64_t rows = 0;         ///< that this rank used and does not own
    std::int64_t absent = 0;       ///< of these: zeros, because nothing had been sent yet
    std::int64_t sum_epochs = 0;   ///< over the others
    std::int64_t most_epochs = 0;  ///< of the oldest
};
/// As records name it: "features", "gradients".
const char* to_text(RowAges::Kind kind);

/// A strategy's model in training on one rank. What it offers to collective training and to independent workers alike:
/// every call is collective, and none is made while a step is under way.
class Trainer {
public:
    virtual ~Trainer();
    /// A forward pass without dropout, then the score over the whole graph.
    virtual Score evaluate() = 0;
    /// Whole matrices on every rank. gradients(): of the last step's loss, summed over ranks. Where ranks hold
    /// different weights, those of the model that evaluate() is about, which the strategy defines.
    virtual ModelWeights weights() = 0;
    virtual ModelWeights gradients() = 0;
    /// The final layer's output of a forward pass without dropout: this rank's share.
    virtual OwnedRows embeddings() = 0;
    /// Choices made at run time, for the record (back end formats, tuned orders): lines of text.
    virtual std::string notes() const { return {}; }
};

/// Ranks that advance together, step by step: every call is collective, and each epoch is measured between barriers unless
/// it runs on into the next.
class CollectiveTrainer : public Trainer {
public:
    /// How many steps the epoch has, the same on every rank. One if every step is on the full batch.
    virtual std::int64_t steps(std::int64_t /*epoch*/) const { return 1; }
    /// Step `step` of epoch `epoch`, both counted from 0: forward, loss, backward, optimizer. Leaves nothing in flight but
    /// what finish() waits for.
    virtual Step train_step(std::int64_t epoch, std::int64_t step) = 0;
    /// All steps of an epoch, as one: the mean loss over all their samples. Leaves nothing in flight.
    Step train_epoch(std::int64_t epoch);
    /// The same without finish(), for an epoch that another follows at once.
    Step train_epoch_running_on(std::int64_t epoch);
    /// Waits for transfers that later epochs use.
    virtual void finish() {}
    /// Whether an epoch runs on into the next, as the algorithm's authors let it: transfers that later epochs use, or ranks
    /// that end an epoch at different times. A pause between two epochs, in which transfers would cost nothing and ranks
    /// would wait for each other, is then no part of the algorithm.
    virtual bool runs_on() const { return false; }
    /// Adam's and AdamW's moments, as weights() gives the weights. A strategy that is exact gives them, so that a step
    /// can be verified at any time of a training; by default there are none.
    virtual Moments moments();
    /// Of the last epoch, for each layer and direction in which rows may be old: the same list on all ranks. Empty where
    /// every epoch computes with its own rows alone.
    virtual std::vector<RowAges> row_ages() const { return {}; }
};

/// One averaging of a worker with another.
struct Averaging {
    int partner = 0;
    std::int64_t staleness = 0;  ///< batches that the partner had trained, less this worker's own
};

/// Learns of each step of an independent worker, on the worker's own thread. Nothing of the worker is in flight
/// meanwhile.
class StepObserver {
public:
    virtual ~StepObserver();
    /// Before a step on a batch of `epoch`, which is never less than that of the step before.
    virtual void begins(std::int64_t epoch) = 0;
    /// After its update of the weights.
    virtual void stepped(const Step& step) = 0;
    /// After an averaging: within a step, or once more after the last.
    virtual void averaged(const Averaging& averaging) = 0;
};

/// Workers that advance each at its own pace, with weights of their own, and meet as their algorithm says.
class IndependentTrainer : public Trainer {
public:
    /// Trains this worker until there is nothing left to train in `epochs` epochs. Every rank calls it once, and it
    /// returns when this worker has ended, whatever the others do.
    virtual void train(std::int64_t epochs, StepObserver& observer) = 0;
    /// This worker's weights now. Not collective: an observer may ask.
    virtual ModelWeights own_weights() = 0;
    /// Collective: of the model that the strategy chooses among what all ranks give, as evaluate() does among their
    /// weights.
    virtual Score evaluate(const ModelWeights& mine) = 0;
    using Trainer::evaluate;
};

/// A strategy's trainer: which of the two it is decides how its training is driven.
using AnyTrainer = std::variant<std::unique_ptr<CollectiveTrainer>, std::unique_ptr<IndependentTrainer>>;
inline Trainer& base(const AnyTrainer& trainer) {
    return std::visit([](const auto& t) -> Trainer& { return *t; }, trainer);
}

/// A parallel training algorithm. Stateless: its state lives in the trainers it makes.
class Strategy {
public:
    virtual ~Strategy();
    /// Empty if exact: loss and gradients equal the serial ones up to rounding. Else what is approximated.
    virtual std::string approximation(const Params& params) const;
    /// The same of a model, where what is approximated depends on it; by default approximation(params).
    virtual std::string approximation_of(const ModelSpec& model, const Params& params) const;
    /// Why it does not support the setting ("needs a square number of ranks; 6 given"); empty if it does.
    virtual std::string why_unsupported(const Setting& setting) const;
    /// The ways in which so many ranks can be laid out, each as the values of those parameters that say so: what
    /// `gnnbench tune` compares. By default one, which sets none.
    virtual std::vector<ParamTexts> arrangements(int ranks) const;
    /// Whether each step is on a batch, not on the whole graph; by default not. Trainers on batches obey
    /// Problem::slowdown, as BatchTraining does; for other strategies a cell that declares one is skipped.
    virtual bool trains_on_batches() const;
    /// What it requests from a partitioner; by default as many parts as ranks.
    virtual PartitionNeed partition_need(const Setting& setting) const;
    /// The volume of one epoch of one rank, evaluation not included.
    virtual StatedVolume stated_volume(const Problem& problem, int rank, std::int64_t element_bytes,
                                       std::int64_t epoch) const = 0;
    /// The bytes of device memory that one rank's trainer holds before its first epoch, and so in every epoch: none
    /// allocates. Excludes prepared sparse matrices, whose format, and so whose size, is the back end's choice.
    virtual std::int64_t stated_memory(const Problem& problem, int rank, std::int64_t element_bytes) const = 0;
    virtual AnyTrainer make_trainer(const Problem& problem, Rank rank) const = 0;
    /// make_trainer, for a strategy whose ranks advance together. Throws LogicError where they are independent workers.
    std::unique_ptr<CollectiveTrainer> make_collective_trainer(const Problem& problem, Rank rank) const;
};

}  // namespace gnnbench
