#include "worker/expected_workload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {

template <class T>
std::span<const T> ExpectedWorkload::reserve(std::int64_t count) {
    const std::size_t bytes = std::max<std::size_t>(1, usize(count) * sizeof(T));
    void* data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    reserved_.push_back({data, bytes});
    return {static_cast<const T*>(data), usize(count)};
}

ExpectedWorkload::ExpectedWorkload(ExpectedDataset dataset) : dataset_(std::move(dataset)) {
    const std::int64_t n = dataset_.vertices;
    view_ = {.name = dataset_.name,
             .graph = {.indptr = reserve<std::int64_t>(n + 1),
                       .indices = reserve<std::int32_t>(dataset_.entries),
                       .weights = {},
                       .symmetric = !dataset_.directed,
                       .self_loops = 0},
             .feature_count = dataset_.features,
             .features = reserve<float>(n * dataset_.features),
             .classes = dataset_.classes,
             .labels = reserve<std::int32_t>(n),
             .split = reserve<Split>(n)};
    if (dataset_.directed) view_.graph.transpose = view_.graph.rows();
}

ExpectedWorkload::~ExpectedWorkload() {
    for (const auto& [data, bytes] : reserved_) munmap(data, bytes);
}

std::int64_t ExpectedWorkload::train_vertices() const {
    return std::llround(0.6 * static_cast<double>(dataset_.vertices));
}

ExpectedGraph expected_under(const ExpectedDataset& dataset, const Cell& cell, Part parts) {
    GraphOutline outline{.vertices = dataset.vertices, .degrees = {}};
    for (const DegreeClass& c : dataset.degrees) outline.degrees.push_back({c.degree, c.share});
    if (cell.partitioner.name != "random" && dataset.partitioned) {
        const PartShares shares = shares_at(*dataset.partitioned, parts);
        outline.locality = Locality{.inside = shares.inside, .halo = shares.halo};
        if (!shares.imbalance.even()) {
            const double n = static_cast<double>(dataset.vertices);
            outline.locality->uneven = std::make_shared<const UnevenParts>(
                UnevenParts::Told{.vertices = dataset.vertices,
                                  .entries = static_cast<double>(dataset.entries),
                                  .inside = shares.inside,
                                  .halo = *shares.halo * n,
                                  .imbalance = shares.imbalance},
                parts);
        }
    }
    return ExpectedGraph(std::move(outline));
}

IndexMap expected_parts(const ExpectedGraph& graph, Part parts) {
    const auto& locality = graph.outline().locality;
    return locality && locality->uneven ? locality->uneven->index() : sized_parts(graph.vertices(), parts);
}

namespace {

/// Of parts that differ, each pair by itself.
ExpectedQuality quality_of(const UnevenParts& parts) {
    ExpectedQuality q;
    double cut = 0, halo = 0, halo_sd = 0, smallest = std::numeric_limits<double>::infinity();
    for (Part i = 0; i < parts.parts(); ++i)
        for (Part j = 0; j < parts.parts(); ++j) {
            if (i == j) continue;
            const double entries = parts.entries(i, j), needed = parts.needed(i, j);
            cut += entries;
            halo += needed;
            halo_sd += std::sqrt(needed);
            if (entries > 0) smallest = std::min(smallest, entries);
        }
    q.imbalance = parts.imbalance();
    q.quality = {.edge_cut = std::llround(cut),
                 .connectivity_minus_one = std::llround(halo),
                 .vertex_imbalance = q.imbalance->vertices,
                 .nonzero_imbalance = q.imbalance->nonzeros};
    q.nonzeros_sd = 2 / std::sqrt(smallest);
    if (halo > 0) q.halo_sd = 2 * halo_sd / halo;
    return q;
}

}  // namespace

ExpectedQuality expected_quality(const ExpectedGraph& graph, const IndexMap& parts, bool loops) {
    if (const auto& locality = graph.outline().locality; locality && locality->uneven)
        return quality_of(*locality->uneven);
    std::map<std::int64_t, std::pair<double, Part>> sizes;  // how many parts are so large, and the first of them
    for (Part p = parts.parts(); p-- > 0;) {
        auto& [count, first] = sizes[parts.size(p)];
        count += 1;
        first = p;
    }
    ExpectedQuality q;
    double cut = 0, halo = 0, halo_sd = 0;
    const auto run = [&](Part p) { return ExpectedRun{parts, parts.offset(p), parts.offset(p + 1)}; };
    for (const auto& [size_i, rows] : sizes)
        for (const auto& [size_j, columns] : sizes) {
            const double pairs = rows.first * (columns.first - (size_i == size_j ? 1 : 0));
            if (pairs == 0) continue;
            const Part i = rows.second,
                       j = size_i == size_j ? (i + 1 < parts.parts() ? i + 1 : i - 1) : columns.second;
            const Expectation nonzeros = graph.nonzeros(run(i), run(j), false),
                              needed = graph.needed(parts, i, j, loops);
            cut += pairs * nonzeros.mean;
            halo += pairs * needed.mean;
            halo_sd += pairs * needed.sd;
            if (nonzeros.mean > 0) q.nonzeros_sd = std::max(q.nonzeros_sd, 2 * nonzeros.sd / nonzeros.mean);
        }
    q.quality.edge_cut = std::llround(cut);
    q.quality.connectivity_minus_one = std::llround(halo);
    q.quality.vertex_imbalance =
        static_cast<double>(parts.largest()) * parts.parts() / static_cast<double>(parts.vertices());
    q.quality.nonzero_imbalance =
        std::numeric_limits<double>::quiet_NaN();  // of the largest part nothing is known
    if (halo > 0) q.halo_sd = 2 * halo_sd / halo;
    return q;
}

std::string interval_text(const ExpectedQuality& quality, const ExpectedDataset& dataset, bool local) {
    std::string text = "expected graph: sizes of blocks are expectations";
    if (quality.quality.connectivity_minus_one > 0)
        text = fmt::format("expected graph: volumes are expectations ± {:.2g}%", 100 * quality.halo_sd);
    if (local) text += ", and what its locality is wrong by";
    if (quality.imbalance)
        text += fmt::format("; largest part {:.3g} × the mean in nonzeros, {:.3g} × in halo rows",
                            quality.imbalance->nonzeros, quality.imbalance->halo);
    if (dataset.assumed) text += "; the shape of its degrees is assumed";
    return text;
}

}  // namespace gnnbench
