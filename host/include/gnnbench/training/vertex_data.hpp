#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/stated_memory.hpp>

/// The data that a rank loads for the vertices whose rows it holds, and what the settings derive from them.

namespace gnnbench {

/// The vertices whose rows a rank holds: which they are, or, where the back end holds no values, only how many. The last of
/// them may be copies of vertices that another rank has the root of: these count in no loss and no score.
class HeldVertices {
public:
    HeldVertices(std::span<const GlobalId> ids) : count_(std::ssize(ids)), ids_(ids.begin(), ids.end()) {}
    HeldVertices(std::vector<GlobalId> ids) : count_(std::ssize(ids)), ids_(std::move(ids)) {}
    /// The vertices of parts [first, first + count).
    HeldVertices(const IndexMap& index, Part first, Part count, const Backend& backend);

    /// These, then copies of others.
    HeldVertices with_copies(std::span<const GlobalId> copies) const;

    std::int64_t size() const { return count_; }
    std::int64_t copies() const { return copies_; }
    /// Empty where only their number is known.
    const std::vector<GlobalId>& ids() const { return ids_; }
    HeldVertices run(std::int64_t first, std::int64_t count) const;

private:
    explicit HeldVertices(std::int64_t count) : count_(count) {}
    std::int64_t count_, copies_ = 0;
    std::vector<GlobalId> ids_;
};

/// Their ids on the device.
Array<std::int64_t> load_ids(const HeldVertices& owned, Backend& backend);

/// Columns [first_column, first_column + columns) of X for the vertices `owned`, feature-normalised by whole rows.
/// [owned × columns], on the device.
Matrix load_features(const Problem& problem, const HeldVertices& owned, std::int64_t first_column,
                     std::int64_t columns, Backend& backend);

/// The same on the host: [owned × columns], row-major.
std::vector<float> host_features(const DatasetView& data, const ModelSpec& model, std::span<const GlobalId> owned,
                                 std::int64_t first_column, std::int64_t columns, int threads = 1);

/// All of X's columns for the vertices `owned`, feature-normalised, without the zeros: a sparse matrix [owned × f_0] for
/// products by it and by its transpose.
std::unique_ptr<PreparedMatrix> load_sparse_features(const Problem& problem, const HeldVertices& owned,
                                                     Backend& backend);

/// Classes [first, first + count): those whose logits a rank holds.
struct ClassRange {
    std::int64_t first = 0, count = 0;
};

/// How many vertices a problem trains on, for ranks that share a process.
struct TrainVertices {
    std::shared_ptr<const std::int64_t> count;
};

/// Per owned vertex, on the device, in the order given.
struct VertexData {
    /// Holds the columns `held` of a label matrix, if there is one.
    VertexData(const Problem& problem, const HeldVertices& owned, Backend& backend, ClassRange held);
    /// Holds all columns of a label matrix, if there is one.
    VertexData(const Problem& problem, const HeldVertices& owned, Backend& backend);

    static void state_memory(MemoryStatement& m, const DatasetView& data, std::int64_t vertices,
                             std::int64_t held_classes);

    /// The mean over the whole graph's train vertices, of a label matrix over its classes too.
    LossInput loss_input() const {
        return {.labels = labels.data(),
                .split = split.data(),
                .counted = Split::train,
                .scale = loss_scale,
                .label_matrix = label_matrix.data(),
                .multi_label = multi_label};
    }

    bool multi_label = false;
    Array<std::int32_t> labels;        ///< none where label_matrix holds them
    Array<std::uint8_t> label_matrix;  ///< [owned × held classes], or none
    Array<Split> split;
    Array<std::int64_t> ids;   ///< original ids, for dropout masks
    std::int64_t samples = 0;  ///< train vertices of the whole graph
    double loss_scale = 1;     ///< 1 / samples, or 1; of a label matrix also / classes
};

/// The mask on layer `layer`'s input in a training epoch; inactive past the last layer and at rate 0.
DropoutMask input_mask(const ModelSpec& model, const TrainSpec& train, int layer, std::int64_t epoch);

}  // namespace gnnbench
