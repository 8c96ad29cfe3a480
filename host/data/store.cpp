#include <data/store.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <gnnbench/error.hpp>
#include <gnnbench/transpose.hpp>
#include <gnnbench/usize.hpp>

#include <data/content.hpp>
#include <data/removed_on_signal.hpp>
#include <data/store_external.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

void check_shape(const fs::path& file, const std::vector<std::int64_t>& found,
                 std::vector<std::int64_t> expected) {
    if (found != expected)
        throw DataError(fmt::format("{}: its shape is ({}), the manifest states ({}); import the dataset again",
                                    file.string(), fmt::join(found, ", "), fmt::join(expected, ", ")));
}

Manifest describe_content(const RawDataset& d) {
    auto graph = d.graph.view();
    auto symmetry = measure_symmetry(graph);
    Manifest m{.name = d.name,
               .vertices = graph.vertices(),
               .edges = graph.edges(),
               .features = d.feature_count,
               .classes = d.classes,
               .multi_label = !d.label_matrix.empty(),
               .splits = d.splits,
               .weighted = !graph.weights.empty(),
               .symmetric_pattern = symmetry.pattern,
               .symmetric_weights = symmetry.weights,
               .transpose = !symmetry.weights,
               .self_loops = count_self_loops(graph),
               .listed_edges = d.graph.listed_edges,
               .loops_dropped = d.graph.loops_dropped,
               .repeats_merged = d.graph.repeats_merged,
               .synthetic = d.synthetic,
               .content = content_digest(content_of(d)),
               .digest = {},
               .source = d.source,
               .licence = d.licence,
               .options = d.options,
               .report = d.report};
    m.digest = dataset_digest(m);
    return m;
}

/// Σ of each row's weights, in the order of its entries.
std::vector<double> row_sums(const CompressedRows& rows) {
    std::vector<double> sums(rows.indptr.size() - 1);
    for (std::size_t v = 0; v < sums.size(); ++v)
        for (auto e = usize(rows.indptr[v]); e < usize(rows.indptr[v + 1]); ++e)
            sums[v] += double{rows.weights[e]};
    return sums;
}

/// What else a rank reads of a graph, so that it need not walk the whole: its columns, and what scales them.
void write_columns(const fs::path& folder, const CompressedRows& rows, const Manifest& m) {
    if (m.weighted) write_npy<double>(folder / "row_sums.npy", row_sums(rows), {m.vertices});
    if (!m.transpose) return;
    const RowArrays columns = transpose_of(rows);
    write_npy<std::int64_t>(folder / "transpose_indptr.npy", columns.indptr, {m.vertices + 1});
    write_npy<std::int32_t>(folder / "transpose_indices.npy", columns.indices, {m.edges});
    if (!m.weighted) return;
    write_npy<float>(folder / "transpose_weights.npy", columns.weights, {m.edges});
    write_npy<double>(folder / "column_sums.npy", row_sums(columns.view()), {m.vertices});
}

void write_arrays(const fs::path& folder, const RawDataset& d, const Manifest& m) {
    write_npy<std::int64_t>(folder / "indptr.npy", d.graph.indptr, {m.vertices + 1});
    write_npy<std::int32_t>(folder / "indices.npy", d.graph.indices, {m.edges});
    if (m.weighted) write_npy<float>(folder / "weights.npy", d.graph.weights, {m.edges});
    write_columns(folder, {d.graph.indptr, d.graph.indices, d.graph.weights}, m);
    write_npy<float>(folder / "features.npy", d.features, {m.vertices, m.features});
    if (m.multi_label)
        write_npy<std::uint8_t>(folder / "label_matrix.npy", d.label_matrix, {m.vertices, m.classes});
    else
        write_npy<std::int32_t>(folder / "labels.npy", d.labels, {m.vertices});
    write_npy<Split>(folder / "masks.npy", d.masks, {m.splits, m.vertices});
}

void write_manifest(const fs::path& folder, const Manifest& m) {
    OutputFile manifest(folder / "manifest.json");
    manifest.write(to_json(m).dump(2) + "\n");
    manifest.close();
}

/// Replaces `folder` by `made`. rename(2) cannot replace a non-empty folder, so an old store is moved aside first.
void put_in_place(const fs::path& made, const fs::path& folder) {
    auto aside = made;
    aside += "-replaced";
    std::error_code cause;
    if (fs::exists(folder)) fs::rename(folder, aside, cause);
    if (!cause) fs::rename(made, folder, cause);
    if (cause)
        throw EnvironmentError(fmt::format("cannot move the store to {}: {}", folder.string(), cause.message()));
    fs::remove_all(aside, cause);
}

}  // namespace

Store Store::open(const fs::path& folder) {
    if (!fs::is_directory(folder)) throw DataError(fmt::format("there is no dataset at {}", folder.string()));
    Store s;
    s.path_ = folder;
    const auto& m = s.manifest_ = read_manifest(folder / "manifest.json");
    auto map = [&]<class T>(MappedArray<T>& array, const char* file, std::vector<std::int64_t> shape) {
        array = MappedArray<T>(folder / file);
        check_shape(folder / file, array.shape(), std::move(shape));
    };
    map(s.indptr_, "indptr.npy", {m.vertices + 1});
    map(s.indices_, "indices.npy", {m.edges});
    if (m.weighted) map(s.weights_, "weights.npy", {m.edges});
    if (m.transpose) {
        map(s.transpose_.indptr, "transpose_indptr.npy", {m.vertices + 1});
        map(s.transpose_.indices, "transpose_indices.npy", {m.edges});
        if (m.weighted) map(s.transpose_.weights, "transpose_weights.npy", {m.edges});
    }
    // Stores of before have neither sums nor a transpose.
    if (m.weighted && fs::exists(folder / "row_sums.npy")) map(s.row_sums_, "row_sums.npy", {m.vertices});
    if (m.weighted && m.transpose) map(s.column_sums_, "column_sums.npy", {m.vertices});
    map(s.features_, "features.npy", {m.vertices, m.features});
    if (m.multi_label)
        map(s.label_matrix_, "label_matrix.npy", {m.vertices, m.classes});
    else
        map(s.labels_, "labels.npy", {m.vertices});
    map(s.masks_, "masks.npy", {m.splits, m.vertices});
    const auto check_ends = [&](std::span<const std::int64_t> indptr, const char* file) {
        if (indptr.front() != 0 || indptr.back() != m.edges)
            throw DataError(
                fmt::format("{}: row pointers must run from 0 to {}, the number of entries; import the dataset "
                            "again",
                            (folder / file).string(), m.edges));
    };
    check_ends(s.indptr_.values(), "indptr.npy");
    if (m.transpose) check_ends(s.transpose_.indptr.values(), "transpose_indptr.npy");
    s.tiles_ = StoreTiles::open(folder, m);
    return s;
}

DatasetView Store::view(int split) const {
    if (split < 0 || split >= manifest_.splits)
        throw SpecError(fmt::format("dataset {} has splits 0 to {}; split {} was asked for", manifest_.name,
                                    manifest_.splits - 1, split));
    auto n = usize(manifest_.vertices);
    return {.name = manifest_.name,
            .graph = {.indptr = indptr_.values(),
                      .indices = indices_.values(),
                      .weights = weights_.values(),
                      .symmetric = manifest_.symmetric_pattern && manifest_.symmetric_weights,
                      .transpose = {transpose_.indptr.values(), transpose_.indices.values(),
                                    transpose_.weights.values()},
                      .tiles = tiles_.rows.view(),
                      .transpose_tiles = tiles_.transpose.view(),
                      .row_sums = row_sums_.values(),
                      .column_sums = column_sums_.values(),
                      .self_loops = manifest_.self_loops,
                      .in_files = true},
            .feature_count = manifest_.features,
            .features = features_.values(),
            .classes = manifest_.classes,
            .labels = labels_.values(),
            .label_matrix = label_matrix_.values(),
            .split = masks_.values().subspan(usize(split) * n, n)};
}

void Store::check() const {
    ContentView all{.graph = {indptr_.values(), indices_.values(), weights_.values()},
                    .feature_count = manifest_.features,
                    .features = features_.values(),
                    .classes = manifest_.classes,
                    .multi_label = manifest_.multi_label,
                    .labels = labels_.values(),
                    .label_matrix = label_matrix_.values(),
                    .splits = manifest_.splits,
                    .masks = masks_.values()};
    check_content(all, path_.string());
    if (auto digest = content_digest(all); digest != manifest_.content)
        throw DataError(
            fmt::format("{}: its content has the digest {}, its manifest states {}; it was changed after it "
                        "was created: import or generate it again",
                        path_.string(), digest, manifest_.content));
    check_flags();
    check_columns();
    check_checksums();
}

void Store::check_flags() const {
    const GraphView rows{indptr_.values(), indices_.values(), weights_.values()};
    const auto check = [&](const char* flag, auto stated, auto found) {
        if (stated != found)
            throw DataError(fmt::format("{}: \"{}\" is {}, its rows say {}; import or generate the dataset again",
                                        (path_ / "manifest.json").string(), flag, stated, found));
    };
    const Symmetry found = measure_symmetry(rows);
    check("symmetric_pattern", manifest_.symmetric_pattern, found.pattern);
    check("symmetric_weights", manifest_.symmetric_weights, found.weights);
    check("self_loops", manifest_.self_loops, count_self_loops(rows));
}

void Store::check_checksums() const {
    if (manifest_.checksums.empty()) return;
    const std::string tiles = tiles_folder_name(manifest_);
    for (const std::string& name : array_files(path_)) {
        const bool used = name.find('/') == name.npos || (!tiles.empty() && name.starts_with(tiles + "/"));
        if (used && !manifest_.checksums.blocks.contains(name))
            throw DataError(fmt::format("{}: its manifest has no checksums of {}; import or generate it again",
                                        path_.string(), name));
    }
    check_blocks(path_, manifest_.checksums, {}, 0);
}

void Store::check_columns() const {
    const auto same = [](const auto& found, const auto& made) { return std::ranges::equal(found, made); };
    const CompressedRows rows{indptr_.values(), indices_.values(), weights_.values()};
    bool right = row_sums_.values().empty() || same(row_sums_.values(), row_sums(rows));
    if (manifest_.transpose) {
        const RowArrays made = transpose_of(rows);
        right = right && same(transpose_.indptr.values(), made.indptr) &&
                same(transpose_.indices.values(), made.indices) &&
                same(transpose_.weights.values(), made.weights) &&
                (column_sums_.values().empty() || same(column_sums_.values(), row_sums(made.view())));
    }
    if (!right)
        throw DataError(fmt::format(
            "{}: its transpose or its sums of weights are not those of its rows; import or generate it again",
            path_.string()));
    const CompressedRows columns{transpose_.indptr.values(), transpose_.indices.values(),
                                 transpose_.weights.values()};
    if (!tiles_.rows.are_of(rows) || !tiles_.transpose.are_of(columns))
        throw DataError(fmt::format("{}: its tiles are not those of its rows; run `gnnbench dataset shard` again",
                                    path_.string()));
}

Manifest write_store(const fs::path& folder, const RawDataset& data) {
    const std::string where = data.source.empty() ? data.name : data.source;
    Manifest manifest;
    if (!data.outside) {
        check_content(content_of(data), where);
        manifest = describe_content(data);
    }
    auto target = fs::absolute(folder).lexically_normal();
    if (target.filename().empty()) target = target.parent_path();
    make_folder(target.parent_path());
    auto temporary = target.parent_path() / fmt::format(".making-{}-{}", target.filename().string(), ::getpid());
    std::error_code ignored;
    const RemovedOnSignal removed(temporary);
    try {
        fs::remove_all(temporary, ignored);
        std::error_code cause;
        if (!fs::create_directory(temporary, cause))
            throw EnvironmentError(fmt::format("cannot create the folder {}: {}", temporary.string(),
                                               cause ? cause.message() : "another has just made it"));
        if (data.outside)
            manifest = write_outside_arrays(temporary, data, where);
        else
            write_arrays(temporary, data, manifest);
        manifest.checksums = compute_checksums(temporary);
        manifest.imported = data.imported;
        write_manifest(temporary, manifest);
        put_in_place(temporary, target);
    } catch (...) {
        fs::remove_all(temporary, ignored);
        throw;
    }
    return manifest;
}

}  // namespace gnnbench
