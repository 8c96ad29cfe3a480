#include <data/store_external.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/content.hpp>
#include <data/degree_labels.hpp>
#include <data/npy.hpp>
#include <data/external_graph.hpp>
#include <data/row_files.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t rows_bytes = 4 << 20;

/// Calls rows(begin, end) for runs of vertices of some MiB of float32 each.
template <class Rows>
void each_piece(std::int64_t vertices, std::int64_t columns, Rows rows) {
    const std::int64_t step = std::max<std::int64_t>(rows_bytes / (4 * columns), 1);
    for (std::int64_t begin = 0; begin < vertices; begin += step) rows(begin, std::min(begin + step, vertices));
}

void check_features(std::span<const float> values, std::int64_t first_row, std::int64_t columns,
                    const std::string& where) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw DataError(fmt::format("{}: feature {} of vertex {} is {}; features must be finite", where,
                                        i % usize(columns), usize(first_row) + i / usize(columns), values[i]));
}

void write_features(const fs::path& file, const RawDataset& d, std::int64_t n, const std::string& where) {
    if (!d.features.empty()) return write_npy<float>(file, d.features, {n, d.feature_count});
    NpyWriter<float> out(file);
    std::vector<float> piece;
    each_piece(n, d.feature_count, [&](std::int64_t begin, std::int64_t end) {
        piece.resize(usize((end - begin) * d.feature_count));
        if (d.outside->features) {
            d.outside->features->read(static_cast<std::uint64_t>(begin * d.feature_count) * sizeof(float),
                                      std::as_writable_bytes(std::span(piece)));
            check_features(piece, begin, d.feature_count, where);
        } else {
            draw_features(d.outside->fill, begin, end, piece.data());
        }
        out.add(std::span(std::as_const(piece)));
    });
    out.close({n, d.feature_count});
}

void write_labels(const fs::path& folder, const RawDataset& d, std::int64_t n) {
    if (!d.label_matrix.empty())
        return write_npy<std::uint8_t>(folder / "label_matrix.npy", d.label_matrix, {n, d.classes});
    if (!d.labels.empty()) return write_npy<std::int32_t>(folder / "labels.npy", d.labels, {n});
    NpyWriter<std::int32_t> out(folder / "labels.npy");
    const FillSpec& fill = d.outside->fill;
    if (fill.degree_labels)
        label_by_degree(
            fill.classes, [&](const auto& take) { each_row_degree(folder, take); },
            [&](std::int32_t label) { out.add(label); });
    else
        for (std::int64_t v = 0; v < n; ++v) out.add(draw_label(fill, v));
    out.close({n});
}

void write_masks(const fs::path& file, const RawDataset& d, std::int64_t n) {
    if (!d.masks.empty()) return write_npy<Split>(file, d.masks, {d.splits, n});
    const auto is_labelled = [&](std::int64_t v) { return d.labels.empty() || d.labels[usize(v)] >= 0; };
    MaskDraws draws(d.outside->fill);
    for (std::int64_t v = 0; v < n; ++v)  // once for the vertex that may have to be in train
        if (is_labelled(v)) draws.draw(v);
    const std::int64_t promoted = draws.promoted();
    NpyWriter<Split> out(file);
    for (std::int64_t v = 0; v < n; ++v)
        out.add(v == promoted ? Split::train : is_labelled(v) ? draws.draw(v) : Split::none);
    out.close({1, n});
}

/// As content_digest, of what is written.
std::string digest_files(const fs::path& folder, const Manifest& m) {
    ContentDigest digest;
    const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns) {
        digest.array(name, rows, columns);
        each_npy_piece(folder / (std::string(name) + ".npy"), [&](auto piece) { digest.values(piece); });
    };
    add("indptr", m.vertices + 1, 1);
    add("indices", m.edges, 1);
    if (m.weighted)
        add("weights", m.edges, 1);
    else
        digest.array("weights", 0, 1);
    add("features", m.vertices, m.features);
    add(m.multi_label ? "label_matrix" : "labels", m.vertices, m.classes);
    add("masks", m.splits, m.vertices);
    return digest.hex();
}

}  // namespace

void fill_later(RawDataset& d, const FillSpec& spec) {
    d.outside->fill = spec;
    if (d.features.empty() && !d.outside->features) {
        d.feature_count = spec.features;
        d.synthetic.emplace_back("features");
    }
    if (d.labels.empty() && d.label_matrix.empty()) {
        d.classes = spec.classes;
        d.synthetic.emplace_back("labels");
    }
    if (d.masks.empty()) {
        d.splits = 1;
        d.synthetic.emplace_back("masks");
    }
}

Manifest write_outside_arrays(const fs::path& folder, const RawDataset& d, const std::string& where) {
    const std::int64_t n = d.outside->graph->vertices();
    check_vertex_data(content_of(d), n, where);
    const GraphFacts graph = d.outside->graph->write(folder, where);
    write_features(folder / "features.npy", d, n, where);
    write_labels(folder, d, n);
    write_masks(folder / "masks.npy", d, n);
    Manifest m{.name = d.name,
               .vertices = n,
               .edges = graph.edges,
               .features = d.feature_count,
               .classes = d.classes,
               .multi_label = !d.label_matrix.empty(),
               .splits = d.splits,
               .weighted = graph.weighted,
               .symmetric_pattern = graph.symmetry.pattern,
               .symmetric_weights = graph.symmetry.weights,
               .transpose = !graph.symmetry.weights,
               .self_loops = graph.self_loops,
               .listed_edges = graph.listed_edges,
               .loops_dropped = graph.loops_dropped,
               .repeats_merged = graph.repeats_merged,
               .synthetic = d.synthetic,
               .content = {},
               .digest = {},
               .source = d.source,
               .licence = d.licence,
               .options = d.options,
               .report = d.report};
    m.content = digest_files(folder, m);
    m.digest = dataset_digest(m);
    return m;
}

}  // namespace gnnbench
