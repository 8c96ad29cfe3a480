#include <data/content.hpp>

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

template <class Length>
void check_length(const std::string& where, const char* array, Length found, std::int64_t expected) {
    if (static_cast<std::int64_t>(found) != expected)
        throw DataError(fmt::format("{}: {} has {} elements, expected {}", where, array, found, expected));
}

void check_rows(const GraphView& g, const std::string& where) {
    auto n = g.vertices();
    if (g.indptr.front() != 0 || g.indptr.back() != g.edges())
        throw DataError(fmt::format("{}: indptr runs from {} to {}, expected 0 to {} (the number of entries)",
                                    where, g.indptr.front(), g.indptr.back(), g.edges()));
    for (std::int64_t v = 0; v < n; ++v) {
        auto begin = g.indptr[usize(v)], end = g.indptr[usize(v) + 1];
        if (end < begin || end > g.edges())
            throw DataError(fmt::format("{}: indptr of vertex {} is {}, after {}; it must not decrease", where,
                                        v + 1, end, begin));
        std::int32_t before = -1;
        for (auto e = begin; e < end; ++e) {
            auto u = g.indices[usize(e)];
            if (u < 0 || u >= n)
                throw DataError(
                    fmt::format("{}: vertex {} has a neighbour {}, allowed are 0 to {}", where, v, u, n - 1));
            if (u <= before)
                throw DataError(
                    fmt::format("{}: the row of vertex {} lists {} after {}; rows must be ascending without "
                                "repeats",
                                where, v, u, before));
            before = u;
        }
    }
}

void check_weights(const ContentView& c, const std::string& where) {
    for (std::size_t e = 0; e < c.graph.weights.size(); ++e)
        if (!std::isfinite(c.graph.weights[e]))
            throw DataError(fmt::format("{}: the weight of entry {} is {}; weights must be finite", where, e,
                                        c.graph.weights[e]));
}

void check_values(const ContentView& c, std::int64_t vertices, const std::string& where) {
    for (std::size_t i = 0; i < c.features.size(); ++i)
        if (!std::isfinite(c.features[i])) {
            auto f = usize(c.feature_count);
            throw DataError(fmt::format("{}: feature {} of vertex {} is {}; features must be finite", where, i % f,
                                        i / f, c.features[i]));
        }
    for (std::size_t i = 0; i < c.label_matrix.size(); ++i)
        if (c.label_matrix[i] > 1)
            throw DataError(
                fmt::format("{}: the label matrix has {} for vertex {} and class {}, allowed are 0 and 1", where,
                            c.label_matrix[i], i / usize(c.classes), i % usize(c.classes)));
    for (std::size_t v = 0; v < c.labels.size(); ++v)
        if (c.labels[v] < -1 || c.labels[v] >= c.classes)
            throw DataError(
                fmt::format("{}: the label of vertex {} is {}, allowed are 0 to {}, and -1 for unknown", where, v,
                            c.labels[v], c.classes - 1));
    auto n = usize(vertices);
    for (std::size_t i = 0; i < c.masks.size(); ++i) {
        if (c.masks[i] > Split::test)
            throw DataError(fmt::format("{}: the mask of vertex {} in split {} is {}, allowed are 0 to 3", where,
                                        i % n, i / n, static_cast<int>(c.masks[i])));
        if (c.masks[i] != Split::none && !c.labels.empty() && c.labels[i % n] < 0)
            throw DataError(
                fmt::format("{}: vertex {} is in a mask of split {} but has no label", where, i % n, i / n));
    }
}

}  // namespace

void check_vertex_data(const ContentView& c, std::int64_t n, const std::string& where) {
    const auto check_held = [&](const char* array, std::size_t found, std::int64_t expected) {
        if (found > 0) check_length(where, array, found, expected);
    };
    check_held("features", c.features.size(), n * c.feature_count);
    check_held("labels", c.labels.size(), n);
    check_held("the label matrix", c.label_matrix.size(), n * c.classes);
    check_held("masks", c.masks.size(), n * c.splits);
    check_values(c, n, where);
}

void check_content(const ContentView& c, const std::string& where) {
    auto n = c.graph.vertices();
    if (n < 1 || n > INT32_MAX)
        throw DataError(fmt::format("{}: it has {} vertices, allowed are 1 to {}", where, n, INT32_MAX));
    if (!c.graph.weights.empty()) check_length(where, "weights", c.graph.weights.size(), c.graph.edges());
    if (c.feature_count < 1 || c.classes < 1 || c.splits < 1)
        throw DataError(fmt::format("{}: {} features, {} classes and {} splits; at least one of each is needed",
                                    where, c.feature_count, c.classes, c.splits));
    check_length(where, "features", c.features.size(), n * c.feature_count);
    check_length(where, "labels", c.labels.size(), c.multi_label ? 0 : n);
    check_length(where, "the label matrix", c.label_matrix.size(), c.multi_label ? n * c.classes : 0);
    check_length(where, "masks", c.masks.size(), n * c.splits);
    check_rows(c.graph, where);
    check_weights(c, where);
    check_values(c, n, where);
}

ContentView content_of(const RawDataset& d) {
    return {.graph = d.graph.view(),
            .feature_count = d.feature_count,
            .features = d.features,
            .classes = d.classes,
            .multi_label = !d.label_matrix.empty(),
            .labels = d.labels,
            .label_matrix = d.label_matrix,
            .splits = d.splits,
            .masks = d.masks};
}

namespace {

XXH3_state_t* xxh(void* state) { return static_cast<XXH3_state_t*>(state); }

}  // namespace

void ContentDigest::Free::operator()(void* state) const { XXH3_freeState(xxh(state)); }

ContentDigest::ContentDigest() : state_(XXH3_createState()) { XXH3_128bits_reset(xxh(state_.get())); }

void ContentDigest::array(const char* name, std::int64_t rows, std::int64_t columns) {
    const auto head = fmt::format("{}[{},{}]", name, rows, columns);
    values(std::as_bytes(std::span(head)));
}

void ContentDigest::values(std::span<const std::byte> bytes) {
    XXH3_128bits_update(xxh(state_.get()), bytes.data(), bytes.size());
}

std::string ContentDigest::hex() const {
    const auto digest = XXH3_128bits_digest(xxh(state_.get()));
    return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

std::string content_digest(const ContentView& c) {
    ContentDigest digest;
    auto add = [&](const char* name, std::int64_t rows, std::int64_t cols, auto values) {
        digest.array(name, rows, cols);
        digest.values(std::as_bytes(values));
    };
    auto n = c.graph.vertices();
    add("indptr", n + 1, 1, c.graph.indptr);
    add("indices", c.graph.edges(), 1, c.graph.indices);
    add("weights", static_cast<std::int64_t>(c.graph.weights.size()), 1, c.graph.weights);
    add("features", n, c.feature_count, c.features);
    if (c.multi_label)
        add("label_matrix", n, c.classes, c.label_matrix);
    else
        add("labels", n, c.classes, c.labels);
    add("masks", c.splits, n, c.masks);
    return digest.hex();
}

// Rows ascend, so a walk over all entries (v, u) by ascending v meets the v's of each u in ascending order:
// if the pattern is symmetric they are exactly row u, in its own order. One cursor per row suffices.
Symmetry measure_symmetry(const GraphView& g) {
    auto n = usize(g.vertices());
    std::vector<std::int64_t> cursor(g.indptr.begin(), g.indptr.begin() + static_cast<std::ptrdiff_t>(n));
    Symmetry found{true, true};
    for (std::size_t v = 0; v < n; ++v)
        for (auto e = usize(g.indptr[v]); e < usize(g.indptr[v + 1]); ++e) {
            auto u = usize(g.indices[e]);
            auto mirror = usize(cursor[u]++);
            if (mirror >= usize(g.indptr[u + 1]) || usize(g.indices[mirror]) != v) return {false, false};
            if (!g.weights.empty() && g.weights[mirror] != g.weights[e]) found.weights = false;
        }
    return found;
}

std::int64_t count_self_loops(const GraphView& g) {
    std::int64_t loops = 0;
    for (std::size_t v = 0; v + 1 < g.indptr.size(); ++v)
        for (auto e = g.indptr[v]; e < g.indptr[v + 1]; ++e)
            loops += g.indices[usize(e)] == static_cast<std::int32_t>(v);
    return loops;
}

}  // namespace gnnbench
