// SNAP's text files and their relatives: a line "u v", or "u v weight", for an edge from u to v.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/position_set.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/edge_lines.hpp>
#include <data/importers/formats.hpp>
#include <data/importers/id_set.hpp>
#include <data/options.hpp>
#include <data/external_graph.hpp>

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

EdgeLineRules line_rules(const Params& p) {
    const std::string& weights = p.choice("weights");
    return {.weights = weights == "third"    ? WeightColumn::third
                       : weights == "ignore" ? WeightColumn::ignored
                                             : WeightColumn::none,
            .skip_lines = p.integer("skip_lines"),
            .keep_lines = p.choice("repeats") == "error"};
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

void check_vertices(std::size_t vertices, const std::string& file) {
    if (vertices > INT32_MAX)
        throw DataError(fmt::format("{}: it has {} vertices, at most {} are allowed", file, vertices, INT32_MAX));
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
        check_vertices(usize(there.size()), edges.file);
        edges.vertices = there.size();
        return number_edges(ids, edges,
                            [&](std::int64_t id) { return static_cast<std::int32_t>(there.rank(id)); });
    }
    const auto all = distinct(ids);
    check_vertices(all.size(), edges.file);
    edges.vertices = std::ssize(all);
    number_edges(ids, edges, [&](std::int64_t id) {
        return static_cast<std::int32_t>(std::ranges::lower_bound(all, id) - all.begin());
    });
}

/// The range of vertex ids under `ids: keep`.
struct KeptIds {
    std::int64_t first, given;
    std::int64_t largest;  ///< so far

    explicit KeptIds(const Params& p)
        : first(p.integer("first_id")), given(p.integer("vertices")), largest(first - 1) {}
    void check(std::int64_t id, const std::string& file) {
        largest = std::max(largest, id);
        if (id < first || id - first >= (given > 0 ? given : std::int64_t{INT32_MAX}))
            throw DataError(
                fmt::format("{}: vertex id {}; with `ids: keep`, `first_id: {}` allowed are {} to {}. `ids: "
                            "compact` takes any",
                            file, id, first, first, first + (given > 0 ? given : std::int64_t{INT32_MAX}) - 1));
    }
    std::int64_t vertices() const { return given > 0 ? given : largest - first + 1; }
};

void number_as_listed(ListedIds& ids, const Params& p, EdgeList& edges) {
    KeptIds kept(p);
    for (const auto* side : {&ids.source, &ids.target})
        for (auto id : *side) kept.check(id, edges.file);
    edges.vertices = kept.vertices();
    number_edges(ids, edges, [&](std::int64_t id) { return static_cast<std::int32_t>(id - kept.first); });
}

/// Ids take 16 bytes until they are numbered, one side after the other; both numberings are there with one of them.
std::uint64_t held_edge_bytes(const EdgeLineRules& rules, const EdgePolicy& policy, bool weighted) {
    const std::uint64_t listed = 16 + (weighted ? 4 : 0) + (rules.keep_lines ? 8 : 0);
    return std::max<std::uint64_t>(listed + listed / 2, built_edge_bytes(policy, weighted, rules.keep_lines));
}

/// The file a second time, block by block, when it does not fit into memory.
RawDataset read_outside(const std::filesystem::path& path, const Params& p, const MemoryBudget& room) {
    const EdgeLineRules rules = line_rules(p);
    const std::string file = path.string();
    const bool compact = p.choice("ids") == "compact", reverse = p.boolean("reverse");
    IdSet there(room.memory_bytes / 3);
    KeptIds kept(p);
    if (compact) {
        const auto beyond = [&] {
            throw EnvironmentError(fmt::format(
                "{}: the table of its ids needs more than a third of the {} that this import may take (8 bytes "
                "for each "
                "id, or 1.5 bits for every number up to the largest); allow more with `gnnbench dataset import "
                "--memory`, or number them from 0 on and set `ids: keep`",
                file, memory_text(room.memory_bytes)));
        };
        each_edge_block(path, rules, room.text_block_bytes(), [&](ListedIds& ids) {
            if (!there.insert(ids.source) || !there.insert(ids.target)) beyond();
        });
        if (!there.count()) beyond();
        check_vertices(usize(there.size()), file);
    }
    const auto number = [&](std::int64_t id) {
        if (compact) return static_cast<std::int32_t>(there.rank(id));
        kept.check(id, file);
        return static_cast<std::int32_t>(id - kept.first);
    };
    const bool weighted = rules.weights == WeightColumn::third;
    auto graph =
        ExternalGraph::make(file, listed_policy(p), weighted, rules.keep_lines, room, room.memory_bytes / 3);
    std::vector<std::int32_t> source, target;
    each_edge_block(path, rules, room.text_block_bytes(), [&](ListedIds& ids) {
        const auto edges = ids.source.size();
        source.resize(edges);
        target.resize(edges);
        if (compact) {
#pragma omp parallel for
            for (std::size_t e = 0; e < edges; ++e)
                source[e] = number(ids.source[e]), target[e] = number(ids.target[e]);
        } else {
            for (std::size_t e = 0; e < edges; ++e)
                source[e] = number(ids.source[e]), target[e] = number(ids.target[e]);
        }
        if (reverse) std::swap(source, target);
        for (std::size_t e = 0; e < edges; ++e)
            graph->add(source[e], target[e], weighted ? ids.weight[e] : 1.0f, rules.keep_lines ? ids.line[e] : 0);
    });
    graph->end(compact ? there.size() : kept.vertices(), p.integer("features"));
    RawDataset data;
    data.outside = std::make_shared<OutsideParts>();
    data.outside->graph = std::move(graph);
    return data;
}

RawDataset read_edge_list(const std::filesystem::path& path, const Params& p, const MemoryBudget& room) {
    const EdgeLineRules rules = line_rules(p);
    const std::uint64_t edge_bytes =
        held_edge_bytes(rules, listed_policy(p), rules.weights == WeightColumn::third);
    auto ids = read_edge_lines(path, rules, room.most_edges(edge_bytes), room.text_block_bytes());
    if (!ids) return read_outside(path, p, room);
    EdgeList edges;
    edges.file = path.string();
    if (p.choice("ids") == "compact")
        number_compactly(*ids, edges);
    else
        number_as_listed(*ids, p, edges);
    if (!room.holds({.edges = std::ssize(edges.source),
                     .vertices = edges.vertices,
                     .edge_bytes = edge_bytes,
                     .feature_count = p.integer("features")})) {
        ids.reset();
        edges = {};
        return read_outside(path, p, room);
    }
    edges.weight = std::move(ids->weight);
    edges.line = std::move(ids->line);
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
