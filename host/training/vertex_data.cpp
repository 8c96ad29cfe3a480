#include <gnnbench/training/vertex_data.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <gnnbench/training/sparsity.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

HeldVertices::HeldVertices(const IndexMap& index, Part first, Part count, const Backend& backend)
    : count_(index.offset(first + count) - index.offset(first)) {
    if (backend.holds_values()) ids_ = index.owned(first, count);
}

HeldVertices HeldVertices::with_copies(std::span<const GlobalId> copies) const {
    HeldVertices all = *this;
    if (std::ssize(ids_) == count_) all.ids_.insert(all.ids_.end(), copies.begin(), copies.end());
    all.count_ += std::ssize(copies);
    all.copies_ += std::ssize(copies);
    return all;
}

HeldVertices HeldVertices::run(std::int64_t first, std::int64_t count) const {
    if (ids_.empty()) return HeldVertices(count);
    return {std::span(ids_).subspan(usize(first), usize(count))};
}

namespace {

template <class T>
Array<T> room_for(std::size_t count, Backend& backend) {
    return {backend.allocate(count * sizeof(T)), static_cast<std::int64_t>(count)};
}

template <class T>
Array<T> load_owned(std::span<const T> all, const HeldVertices& owned, Backend& backend) {
    if (!backend.holds_values()) return room_for<T>(usize(owned.size()), backend);
    std::vector<T> mine;
    mine.reserve(usize(owned.size()));
    for (const GlobalId v : owned.ids()) mine.push_back(all[usize(value(v))]);
    return backend.upload(std::span<const T>(mine));
}

/// Of copies none: they belong to their roots.
Array<Split> load_split(std::span<const Split> all, const HeldVertices& owned, Backend& backend) {
    if (!backend.holds_values()) return room_for<Split>(usize(owned.size()), backend);
    std::vector<Split> mine(usize(owned.size()), Split::none);
    for (std::size_t r = 0; r < usize(owned.size() - owned.copies()); ++r)
        mine[r] = all[usize(value(owned.ids()[r]))];
    return backend.upload(std::span<const Split>(mine));
}

/// The columns of `held`, row by row.
Array<std::uint8_t> load_label_matrix(const DatasetView& data, const HeldVertices& owned, ClassRange held,
                                      Backend& backend) {
    const std::size_t count = usize(owned.size() * held.count);
    if (!backend.holds_values()) return room_for<std::uint8_t>(count, backend);
    std::vector<std::uint8_t> mine;
    mine.reserve(count);
    for (const GlobalId v : owned.ids()) {
        const auto row = data.label_matrix.subspan(usize(value(v) * data.classes + held.first), usize(held.count));
        mine.insert(mine.end(), row.begin(), row.end());
    }
    return backend.upload(std::span<const std::uint8_t>(mine));
}

}  // namespace

Array<std::int64_t> load_ids(const HeldVertices& owned, Backend& backend) {
    if (!backend.holds_values()) return room_for<std::int64_t>(usize(owned.size()), backend);
    std::vector<std::int64_t> ids;
    ids.reserve(usize(owned.size()));
    for (const GlobalId v : owned.ids()) ids.push_back(value(v));
    return backend.upload(std::span<const std::int64_t>(ids));
}

namespace {

/// Writes them to `rows`.
void read_features(const DatasetView& data, const ModelSpec& model, std::span<const GlobalId> owned,
                   std::int64_t first_column, std::int64_t columns, int threads, std::span<float> rows) {
    const auto f = usize(data.feature_count);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (std::size_t r = 0; r < owned.size(); ++r) {
        const auto to = rows.begin() + static_cast<std::ptrdiff_t>(r) * columns;
        const auto x = data.features.subspan(usize(value(owned[r])) * f, f);
        const auto kept = x.subspan(usize(first_column), usize(columns));
        if (model.feature_normalisation == FeatureNormalisation::none) {
            std::ranges::copy(kept, to);
            continue;
        }
        // Kipf & Welling's preprocessing: each row sums to 1; a row that sums to 0 becomes 0.
        const double sum = std::reduce(x.begin(), x.end(), 0.0), scale = sum != 0 ? 1 / sum : 0;
        std::ranges::transform(kept, to, [&](float e) { return static_cast<float>(e * scale); });
    }
}

/// Whether the rows are as the dataset has them, one after another.
bool as_stored(const DatasetView& data, const ModelSpec& model, std::span<const GlobalId> owned,
               std::int64_t columns) {
    return columns == data.feature_count && model.feature_normalisation == FeatureNormalisation::none &&
           (owned.empty() || value(owned.back()) - value(owned.front()) + 1 == std::ssize(owned)) &&
           std::ranges::is_sorted(owned, {}, [](GlobalId v) { return value(v); });
}

/// Calls use(first, count, rows) with the rows of `count` vertices from owned[first] on, so that not all rows are in
/// memory twice. There may be no columns.
template <class Use>
void for_feature_rows(const Problem& problem, std::span<const GlobalId> owned, std::int64_t first_column,
                      std::int64_t columns, const Use& use) {
    constexpr std::int64_t at_once = std::int64_t{16} << 20;
    const std::int64_t run = std::max<std::int64_t>(1, at_once / std::max<std::int64_t>(1, columns));
    std::vector<float> buffer;
    for (std::int64_t first = 0; first < std::ssize(owned); first += run) {
        const std::int64_t count = std::min(run, std::ssize(owned) - first);
        const auto some = owned.subspan(usize(first), usize(count));
        const std::size_t elements = some.size() * usize(columns);
        if (as_stored(problem.dataset, problem.model, some, columns)) {
            use(first, count, problem.dataset.features.subspan(usize(value(some.front()) * columns), elements));
            continue;
        }
        buffer.resize(elements);
        read_features(problem.dataset, problem.model, some, first_column, columns, problem.threads, buffer);
        use(first, count, std::span<const float>(buffer));
    }
}

}  // namespace

std::vector<float> host_features(const DatasetView& data, const ModelSpec& model, std::span<const GlobalId> owned,
                                 std::int64_t first_column, std::int64_t columns, int threads) {
    std::vector<float> rows(owned.size() * usize(columns));
    read_features(data, model, owned, first_column, columns, threads, rows);
    return rows;
}

Matrix load_features(const Problem& problem, const HeldVertices& owned, std::int64_t first_column,
                     std::int64_t columns, Backend& backend) {
    SetupTimer timer(problem.cost ? &problem.cost->read : nullptr);
    Matrix x = backend.matrix(owned.size(), columns);
    if (!backend.holds_values()) return x;
    const auto load = [&](std::int64_t first, std::int64_t count, std::span<const float> rows) {
        backend.upload(rows, x.view().rows_from(first, count));
    };
    for_feature_rows(problem, owned.ids(), first_column, columns, load);
    timer.add_bytes(x.rows() * columns * static_cast<std::int64_t>(size_of(backend.dtype())));
    return x;
}

std::unique_ptr<PreparedMatrix> load_sparse_features(const Problem& problem, const HeldVertices& owned,
                                                     Backend& backend) {
    require_entries(problem.shared, "model.sparse_features");
    const std::int64_t columns = problem.dataset.feature_count;
    Csr x{.rows = owned.size(), .cols = columns, .indptr = {0}, .indices = {}, .values = {}};
    {
        SetupTimer timer(problem.cost ? &problem.cost->read : nullptr);
        const auto append = [&](std::int64_t, std::int64_t count, std::span<const float> rows) {
            for (std::int64_t r = 0; r < count; ++r) {
                for (std::int64_t c = 0; c < columns; ++c) {
                    const float entry = rows[usize(r * columns + c)];
                    if (entry == 0) continue;
                    x.indices.push_back(static_cast<std::int32_t>(c));
                    x.values.push_back(static_cast<double>(entry));
                }
                x.indptr.push_back(x.nonzeros());
            }
        };
        for_feature_rows(problem, owned.ids(), 0, columns, append);
        timer.add_bytes(x.bytes());
    }
    return backend.prepare(x, TransposedProducts::wanted);
}

VertexData::VertexData(const Problem& problem, const HeldVertices& owned, Backend& backend, ClassRange held)
    : multi_label(problem.dataset.multi_label()),
      split(load_split(problem.dataset.split, owned, backend)),
      ids(load_ids(owned, backend)) {
    SetupTimer timer(problem.cost ? &problem.cost->read : nullptr);
    if (multi_label)
        label_matrix = load_label_matrix(problem.dataset, owned, held, backend);
    else
        labels = load_owned(problem.dataset.labels, owned, backend);
    timer.add_bytes(split.size() + 8 * ids.size() + 4 * labels.size() + label_matrix.size());
    const auto& all = problem.dataset.split;
    auto* const counted_before = problem.shared ? &problem.shared->of<TrainVertices>().count : nullptr;
    samples =
        *made_once(counted_before, [&] { return std::int64_t{std::count(all.begin(), all.end(), Split::train)}; });
    const std::int64_t counted = std::max<std::int64_t>(samples, 1);
    loss_scale = 1 / static_cast<double>(multi_label ? counted * problem.dataset.classes : counted);
}

VertexData::VertexData(const Problem& problem, const HeldVertices& owned, Backend& backend)
    : VertexData(problem, owned, backend, {.first = 0, .count = problem.dataset.classes}) {}

void VertexData::state_memory(MemoryStatement& m, const DatasetView& data, std::int64_t vertices,
                              std::int64_t held_classes) {
    if (data.multi_label())
        m.list<std::uint8_t>(vertices * held_classes);
    else
        m.list<std::int32_t>(vertices);
    m.list<Split>(vertices);
    m.list<std::int64_t>(vertices);
}

DropoutMask input_mask(const ModelSpec& model, const TrainSpec& train, int layer, std::int64_t epoch) {
    if (layer >= model.layers()) return {};
    return {.rate = layer == 0 ? train.input_dropout : train.dropout,
            .seed = train.seed,
            .layer = static_cast<std::uint32_t>(layer),
            .epoch = static_cast<std::uint32_t>(epoch)};
}

}  // namespace gnnbench
