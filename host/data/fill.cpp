#include <data/fill.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/degree_labels.hpp>
#include <data/draws.hpp>

namespace gnnbench {

namespace {

/// Standard normals [vertices × features].
std::vector<float> random_features(std::int64_t vertices, const FillSpec& spec) {
    std::vector<float> values(array_elements("random features", {vertices, spec.features}, sizeof(float)));
    draw_features(spec, 0, vertices, values.data());
    return values;
}

std::vector<std::int32_t> random_labels(std::int64_t vertices, const FillSpec& spec) {
    std::vector<std::int32_t> labels(usize(vertices));
    for (std::int64_t v = 0; v < vertices; ++v) labels[usize(v)] = draw_label(spec, v);
    return labels;
}

/// Every entry is 1 with the probability labels_per_vertex / classes.
std::vector<std::uint8_t> random_label_matrix(std::int64_t vertices, const FillSpec& spec) {
    std::vector<std::uint8_t> matrix(array_elements("random labels", {vertices, spec.classes}, 1));
    const double probability = spec.labels_per_vertex / spec.classes;
#pragma omp parallel for
    for (std::int64_t v = 0; v < vertices; ++v)
        for (std::int32_t c = 0; c < spec.classes; ++c)
            matrix[usize(v * spec.classes + c)] =
                class_draw(spec.seed, static_cast<std::uint64_t>(v), c, DataDraw::label_matrix) < probability;
    return matrix;
}

}  // namespace

void draw_features(const FillSpec& spec, std::int64_t begin, std::int64_t end, float* out) {
#pragma omp parallel for
    for (std::int64_t v = begin; v < end; ++v)
        for (std::int64_t c = 0; c < spec.features; c += 4) {
            float block[4];
            normal_block(spec.seed, static_cast<std::uint64_t>(v), static_cast<std::uint32_t>(c / 4),
                         DataDraw::noise, block);
            std::copy_n(block, std::min<std::int64_t>(4, spec.features - c),
                        out + (v - begin) * spec.features + c);
        }
}

std::int32_t draw_label(const FillSpec& spec, std::int64_t vertex) {
    return static_cast<std::int32_t>(
        scaled(draw(spec.seed, Draw::graph, static_cast<std::uint64_t>(vertex), 0, DataDraw::label)[0],
               static_cast<std::uint64_t>(spec.classes)));
}

Split MaskDraws::draw(std::int64_t vertex) {
    const double u = unit_interval(
        gnnbench::draw(spec_.seed, Draw::graph, static_cast<std::uint64_t>(vertex), 0, DataDraw::mask)[0]);
    if (u < smallest_draw_) smallest_ = vertex, smallest_draw_ = u;
    const double validation_end = spec_.train_fraction + spec_.validation_fraction;
    if (u < spec_.train_fraction) {
        trained_ = true;
        return Split::train;
    }
    if (u < validation_end) return Split::validation;
    return u < validation_end + spec_.test_fraction ? Split::test : Split::none;
}

FillSpec fill_spec(const Params& p) {
    FillSpec spec{.features = p.integer("features"),
                  .classes = static_cast<std::int32_t>(p.integer("classes")),
                  .train_fraction = p.real("train_fraction"),
                  .validation_fraction = p.real("validation_fraction"),
                  .test_fraction = p.real("test_fraction"),
                  .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    double sum = spec.train_fraction + spec.validation_fraction + spec.test_fraction;
    if (sum > 1 + 1e-9)
        throw SpecError(
            fmt::format("train_fraction, validation_fraction and test_fraction add up to {}; at most 1 is "
                        "allowed",
                        sum));
    if (p.values().contains("multi_label")) {
        spec.multi_label = p.boolean("multi_label");
        spec.labels_per_vertex = p.real("labels_per_vertex");
        if (spec.multi_label && spec.labels_per_vertex > spec.classes)
            throw SpecError(fmt::format("labels_per_vertex is {}; at most as many as classes, {}, are allowed",
                                        spec.labels_per_vertex, spec.classes));
    }
    spec.degree_labels = p.values().contains("labels") && p.choice("labels") == "degrees";
    if (spec.degree_labels && spec.multi_label)
        throw SpecError("labels is degrees, which gives each vertex one class; multi_label asks for several");
    return spec;
}

std::vector<Split> random_masks(const std::vector<bool>& labelled, const FillSpec& spec) {
    std::vector<Split> masks(labelled.size(), Split::none);
    MaskDraws draws(spec);
    for (std::size_t v = 0; v < labelled.size(); ++v)
        if (labelled[v]) masks[v] = draws.draw(static_cast<std::int64_t>(v));
    if (const auto vertex = draws.promoted(); vertex >= 0) masks[usize(vertex)] = Split::train;
    return masks;
}

void fill_missing(RawDataset& data, const FillSpec& spec) {
    auto n = data.graph.vertices();
    if (data.features.empty()) {
        data.features = random_features(n, spec);
        data.feature_count = spec.features;
        data.synthetic.emplace_back("features");
    }
    if (data.labels.empty() && data.label_matrix.empty()) {
        if (spec.multi_label)
            data.label_matrix = random_label_matrix(n, spec);
        else
            data.labels =
                spec.degree_labels ? degree_labels(data.graph.view(), spec.classes) : random_labels(n, spec);
        data.classes = spec.classes;
        data.synthetic.emplace_back("labels");
    }
    if (data.masks.empty()) {
        std::vector<bool> labelled(usize(n), true);  // of a label matrix, vertices without labels too
        for (std::size_t v = 0; v < data.labels.size(); ++v) labelled[v] = data.labels[v] >= 0;
        data.masks = random_masks(labelled, spec);
        data.splits = 1;
        data.synthetic.emplace_back("masks");
    }
}

}  // namespace gnnbench
