// SNAP's text files and their relatives: a line "u v", or "u v weight", for an edge from u to v.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/position_set.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/edge_lines.hpp>
#include <data/importers/formats.hpp>
#include <data/options.hpp>

namespace gnnbench {

namespace {

constexpr auto edge_list_params = joined(
    std::array<ParamDecl, 9>{{
        directed_param("true"),
        loops_param,
        repeats_param,
        reverse_param,
        {"ids", ParamType::choice, "compact", 0, 0, "compact|keep",
         "compact renumbers the ids that occur, in ascending order; keep uses them unchanged"},
        {"first_id", ParamType::integer, "0", 0, 1, nullptr, "with ids: keep, whether ids count from 0 or 1"},
        {"vertices", ParamType::integer, "0", 0, 2147483647, nullptr,
         "with ids: keep, how many; 0: up to the largest id"},
        {"weights", ParamType::choice, "auto", 0, 0, "auto|third|ignore",
         "third reads column 3 as weight; ignore skips further columns; auto admits two columns only"},
        {"skip_lines", ParamType::integer, "0", 0, 1000000, nullptr,
         "lines before the first edge, such as a header"},
    }},
    fill_params);

ListedIds read_ids(const std::filesystem::path& path, const Params& p) {
    const std::string& weights = p.choice("weights");
    return read_edge_lines(path, {.weights = weights == "third"    ? WeightColumn::third
                                             : weights == "ignore" ? WeightColumn::ignored
                                                                   : WeightColumn::none,
                                  .skip_lines = p.integer("skip_lines"),
                                  .keep_lines = p.choice("repeats") == "error"});
}

std::vector<std::int64_t> distinct(const ListedIds& ids) {
    std::vector<std::int64_t> all(ids.source.begin(), ids.source.end());
    all.insert(all.end(), ids.target.begin(), ids.target.end());
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
}

/// The ids by number(id), in the order of the edges.
void number_edges(ListedIds& ids, EdgeList& edges, auto&& number) {
    const auto numbered = [&](Ids64& from, std::vector<std::int32_t>& to) {
        to.resize(from.size());
#pragma omp parallel for
        for (std::size_t e = 0; e < from.size(); ++e) to[e] = number(from[e]);
        from = {};
    };
    numbered(ids.source, edges.source);
    numbered(ids.target, edges.target);
}

void check_vertices(std::size_t vertices, const EdgeList& edges) {
    if (vertices > INT32_MAX)
        throw DataError(
            fmt::format("{}: it has {} vertices, at most {} are allowed", edges.file, vertices, INT32_MAX));
}

std::int64_t largest_id(const ListedIds& ids) {
    std::int64_t largest = -1;
    for (const auto* side : {&ids.source, &ids.target}) {
#pragma omp parallel for reduction(max : largest)
        for (std::size_t e = 0; e < side->size(); ++e) largest = std::max(largest, (*side)[e]);
    }
    return largest;
}

void number_compactly(ListedIds& ids, EdgeList& edges) {
    const std::int64_t largest = largest_id(ids);
    // Ids that are not much larger than what lists them are counted in a set of bits, others sorted.
    if (largest / 8 <= 16 * std::ssize(ids.source)) {
        PositionSet there(largest + 1);
        for (const auto* side : {&ids.source, &ids.target}) {
#pragma omp parallel for
            for (std::size_t e = 0; e < side->size(); ++e) there.insert((*side)[e]);
        }
        there.count();
        check_vertices(usize(there.size()), edges);
        edges.vertices = there.size();
        return number_edges(ids, edges,
                            [&](std::int64_t id) { return static_cast<std::int32_t>(there.rank(id)); });
    }
    const auto all = distinct(ids);
    check_vertices(all.size(), edges);
    edges.vertices = std::ssize(all);
    number_edges(ids, edges, [&](std::int64_t id) {
        return static_cast<std::int32_t>(std::ranges::lower_bound(all, id) - all.begin());
    });
}

void number_as_listed(ListedIds& ids, const Params& p, EdgeList& edges) {
    auto first = p.integer("first_id"), given = p.integer("vertices");
    auto largest = first - 1;
    for (const auto* side : {&ids.source, &ids.target})
        for (auto id : *side) {
            largest = std::max(largest, id);
            if (id < first || id - first >= (given > 0 ? given : std::int64_t{INT32_MAX}))
                throw DataError(fmt::format(
                    "{}: vertex id {}; with `ids: keep`, `first_id: {}` allowed are {} to {}. `ids: "
                    "compact` takes any",
                    edges.file, id, first, first, first + (given > 0 ? given : std::int64_t{INT32_MAX}) - 1));
        }
    edges.vertices = given > 0 ? given : largest - first + 1;
    number_edges(ids, edges, [&](std::int64_t id) { return static_cast<std::int32_t>(id - first); });
}

RawDataset read_edge_list(const std::filesystem::path& path, const Params& p) {
    auto ids = read_ids(path, p);
    EdgeList edges;
    edges.file = path.string();
    if (p.choice("ids") == "compact")
        number_compactly(ids, edges);
    else
        number_as_listed(ids, p, edges);
    edges.weight = std::move(ids.weight);
    edges.line = std::move(ids.line);
    RawDataset data;
    data.graph = build_listed(std::move(edges), p);
    return data;
}

constexpr const char* edge_list_endings[] = {".txt", ".tsv", ".csv", ".edges", ".el", ".edgelist"};

}  // namespace

const ImportFormat edge_list_format{
    "edge-list",
    "text, a line \"u v\" or \"u v weight\" for each edge (.txt .tsv .csv .edges .el .edgelist; .gz .zst too)",
    edge_list_params, [](const std::filesystem::path& path) { return ends_with_any(path, edge_list_endings); },
    read_edge_list};

}  // namespace gnnbench
