#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/stated_memory.hpp>

namespace gnnbench {

/// The data of a batch's vertices on the host, or of a rank's share of them, by row.
struct BatchVertices {
    std::vector<GlobalId> ids;               ///< ascending
    std::vector<float> features;             ///< [rows × f_0], normalised as the model wants, or none
    std::vector<std::int32_t> labels;        ///< of one label a vertex; else none
    std::vector<std::uint8_t> label_matrix;  ///< [rows × classes] where a vertex may have several; else none
    std::vector<Split> split;                ///< of a train vertex whose loss does not count: Split::none

    std::int64_t rows() const { return static_cast<std::int64_t>(ids.size()); }
};

/// Those of `ids`, ascending. `seeds`: the train vertices whose loss counts, ascending; nothing: all. Without `features`
/// there are none, as a back end that holds no values needs none.
BatchVertices gather_vertices(const DatasetView& data, const ModelSpec& model, std::vector<GlobalId> ids,
                              const std::optional<std::vector<GlobalId>>& seeds, bool features = true);

/// Room on the device for the data of up to so many vertices, loaded batch by batch.
class DeviceVertices {
public:
    DeviceVertices(const DatasetView& data, std::int64_t most_rows, Backend& backend);
    static void state_memory(MemoryStatement& m, const DatasetView& data, std::int64_t most_rows);

    void load(const BatchVertices& v);
    /// The features of the batch loaded last.
    MatrixView features() const { return features_.view().rows_from(0, rows_); }
    const std::int64_t* ids() const { return ids_.data(); }
    /// The mean over `samples` vertices, of a label matrix over its classes too.
    LossInput loss_input(std::int64_t samples) const;

private:
    Backend& backend_;
    bool multi_label_;
    std::int64_t classes_, rows_ = 0;
    Matrix features_;
    Array<std::int32_t> labels_;
    Array<std::uint8_t> label_matrix_;  ///< one of the two
    Array<Split> split_;
    Array<std::int64_t> ids_;
};

/// Room for `count` items in device memory, undefined until loaded.
template <class T>
Array<T> room(Backend& backend, std::int64_t count) {
    return {backend.allocate(usize(count) * sizeof(T)), count};
}

/// Into the beginning of a room.
template <class T>
void load_list(Backend& backend, const std::vector<T>& from, const Array<T>& to) {
    require(std::ssize(from) <= to.size(), "a batch has more items than there is room for");
    if (!from.empty()) backend.upload_bytes(from.data(), to.data(), from.size() * sizeof(T));
}

}  // namespace gnnbench
