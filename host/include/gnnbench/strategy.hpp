#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/graph.hpp>
#include <gnnbench/kernel.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/volume.hpp>

namespace gnnbench {

/// What is known about a cell before anything is loaded.
struct Setting {
    int ranks = 1;
    const ModelSpec& model;
    const TrainSpec& train;
    const Params& params;
};

/// Weights of a whole model on the host, float64: layer l is [widths[l] × widths[l+1]]; bias [1 × widths[l+1]].
struct ModelWeights {
    std::vector<HostMatrix> weight, bias;  ///< bias empty where the model has none
};

/// Everything fixed before the first epoch; the same on every rank. Views stay valid while the trainer lives.
struct Problem {
    const DatasetView& dataset;
    const IndexMap& index;  ///< the parts that partition_need asked for
    const Partition& partition;
    const ModelSpec& model;
    const TrainSpec& train;
    const Params& params;
    /// Weights to start from; nullptr: drawn from the seed.
    const ModelWeights* initial_weights = nullptr;
    int ranks = 1;  ///< of the trial; the strategy decides which parts a rank holds
};

/// A rank's kernel and communicator.
struct Rank {
    Kernel& kernel;
    Communicator& world;
};

struct Accuracy {
    /// Indexed by Split − 1: train, validation, test. NaN where the split is empty.
    std::array<double, 3> of{};
};

/// Rows of a distributed matrix with the vertices they belong to.
struct OwnedRows {
    std::vector<GlobalId> vertices;
    HostMatrix rows;  ///< [vertices × f]
};

/// A strategy's training on one rank. Every call is collective.
class Trainer {
public:
    virtual ~Trainer();
    /// One epoch (counted from 0): forward, loss, backward, optimizer. Leaves nothing in flight.
    /// Returns the loss over the whole graph's train vertices, before this epoch's step.
    virtual double train_epoch(std::int64_t epoch) = 0;
    /// A forward pass without dropout, then accuracy over the whole graph.
    virtual Accuracy evaluate() = 0;
    /// Whole matrices on every rank. gradients(): of the last epoch's loss, summed over ranks.
    virtual ModelWeights weights() = 0;
    virtual ModelWeights gradients() = 0;
    /// The final layer's output of a forward pass without dropout: this rank's share.
    virtual OwnedRows embeddings() = 0;
    /// Choices made at run time, for the record (kernel formats, tuned orders): lines of text.
    virtual std::string notes() const { return {}; }
};

/// A parallel training algorithm. Stateless: its state lives in the trainers it makes.
class Strategy {
public:
    virtual ~Strategy();
    /// Empty if exact: loss and gradients equal the serial ones up to rounding. Else what is approximated.
    virtual std::string approximation(const Params& params) const;
    /// Why it does not support the setting ("needs a square number of ranks; 6 given"); empty if it does.
    virtual std::string why_unsupported(const Setting& setting) const;
    /// What it requests from a partitioner; by default as many parts as ranks.
    virtual PartitionNeed partition_need(const Setting& setting) const;
    /// The exact volume of one epoch of one rank, evaluation not included.
    virtual Volume stated_volume(const Problem& problem, int rank, std::int64_t element_bytes) const = 0;
    /// The bytes of device memory that one rank's trainer holds before its first epoch, and so in every epoch: none
    /// allocates. Excludes prepared sparse matrices, whose format, and so whose size, is the kernel's choice.
    virtual std::int64_t stated_memory(const Problem& problem, int rank, std::int64_t element_bytes) const = 0;
    virtual std::unique_ptr<Trainer> make_trainer(const Problem& problem, Rank rank) const = 0;
};

/// Why ÂX cannot be computed once at set-up although the model requests it: something random or trained changes layer
/// 0's input. Empty if it can, or if the model does not request it.
std::string why_input_not_aggregated(const Setting& setting);

}  // namespace gnnbench
