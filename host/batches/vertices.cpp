#include <gnnbench/batches/vertices.hpp>

#include <algorithm>
#include <utility>

#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

BatchVertices gather_vertices(const DatasetView& data, const ModelSpec& model, std::vector<GlobalId> ids,
                              const std::optional<std::vector<GlobalId>>& seeds, bool features) {
    BatchVertices b;
    b.ids = std::move(ids);
    if (features) b.features = host_features(data, model, b.ids, 0, data.feature_count);
    for (const GlobalId v : b.ids) {
        if (data.multi_label()) {
            const auto labels = data.label_matrix.subspan(usize(value(v) * data.classes), usize(data.classes));
            b.label_matrix.insert(b.label_matrix.end(), labels.begin(), labels.end());
        } else {
            b.labels.push_back(data.labels[usize(value(v))]);
        }
        const Split split = data.split[usize(value(v))];
        const bool counts = split != Split::train || !seeds || std::ranges::binary_search(*seeds, v);
        b.split.push_back(counts ? split : Split::none);
    }
    return b;
}

DeviceVertices::DeviceVertices(const DatasetView& data, std::int64_t most_rows, Backend& backend)
    : backend_(backend),
      multi_label_(data.multi_label()),
      classes_(data.classes),
      features_(backend.matrix(most_rows, data.feature_count)),
      split_(room<Split>(backend, most_rows)),
      ids_(room<std::int64_t>(backend, most_rows)) {
    if (multi_label_)
        label_matrix_ = room<std::uint8_t>(backend, most_rows * classes_);
    else
        labels_ = room<std::int32_t>(backend, most_rows);
}

void DeviceVertices::state_memory(MemoryStatement& m, const DatasetView& data, std::int64_t most_rows) {
    m.matrix(most_rows, data.feature_count);
    VertexData::state_memory(m, data, most_rows, data.classes);
}

void DeviceVertices::load(const BatchVertices& v) {
    rows_ = v.rows();
    if (backend_.holds_values())
        backend_.upload(std::span<const float>(v.features), features());
    else  // the copy alone, which takes its time
        backend_.upload_bytes(nullptr, features().data, features().bytes());
    std::vector<std::int64_t> ids;
    for (const GlobalId id : v.ids) ids.push_back(value(id));
    load_list(backend_, ids, ids_);
    load_list(backend_, v.split, split_);
    load_list(backend_, v.labels, labels_);
    load_list(backend_, v.label_matrix, label_matrix_);
}

LossInput DeviceVertices::loss_input(std::int64_t samples) const {
    const std::int64_t counted = std::max<std::int64_t>(samples, 1) * (multi_label_ ? classes_ : 1);
    return {.labels = labels_.data(),
            .split = split_.data(),
            .counted = Split::train,
            .scale = 1 / static_cast<double>(counted),
            .label_matrix = label_matrix_.data(),
            .multi_label = multi_label_};
}

}  // namespace gnnbench
