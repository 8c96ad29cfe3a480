// SNAP's text files and their relatives: a line "u v", or "u v weight", for an edge from u to v.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/importers/formats.hpp>
#include <data/options.hpp>
#include <data/text_input.hpp>

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

/// Edges by the ids of the file.
struct ListedIds {
    std::vector<std::int64_t> source, target;
    std::vector<float> weight;
    std::vector<std::int64_t> line;
};

void check_columns(std::size_t found, const std::string& weights, const LineReader& reader,
                   std::string_view text) {
    if (found < 2 || (weights == "third" && found < 3))
        throw DataError(fmt::format("{}: expected two vertex ids{}, found '{}'", reader.where(),
                                    weights == "third" ? " and a weight" : "", shown(text)));
    if (weights == "auto" && found > 2)
        throw DataError(
            fmt::format("{}: expected two vertex ids, found {} columns in '{}'; say `weights: third` if the "
                        "third is the edge's weight, `weights: ignore` if it is not",
                        reader.where(), found, shown(text)));
}

std::int64_t parse_id(std::string_view text, const LineReader& reader) {
    try {
        return parse_integer(text, 0, INT64_MAX, reader, "a vertex id");
    } catch (const DataError& e) {
        if (reader.line_number() > 1) throw;
        throw DataError(std::string(e.what()) + "; for a header line set `skip_lines: 1`");
    }
}

ListedIds read_ids(const std::filesystem::path& path, const Params& p) {
    const auto& weights = p.choice("weights");
    bool keep_lines = p.choice("repeats") == "error";
    ListedIds ids;
    LineReader reader(path);
    std::vector<std::string_view> fields;
    for (std::string_view text; reader.next(text);) {
        if (reader.line_number() <= p.integer("skip_lines")) continue;
        if (is_blank(text) || text.front() == '#' || text.front() == '%') continue;
        split_fields(text, fields);
        check_columns(fields.size(), weights, reader, text);
        ids.source.push_back(parse_id(fields[0], reader));
        ids.target.push_back(parse_id(fields[1], reader));
        if (weights == "third") ids.weight.push_back(parse_weight(fields[2], reader));
        if (keep_lines) ids.line.push_back(reader.line_number());
    }
    return ids;
}

std::vector<std::int64_t> distinct(const ListedIds& ids) {
    std::vector<std::int64_t> all(ids.source);
    all.insert(all.end(), ids.target.begin(), ids.target.end());
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
}

void number_compactly(const ListedIds& ids, EdgeList& edges) {
    auto all = distinct(ids);
    if (all.size() > INT32_MAX)
        throw DataError(
            fmt::format("{}: it has {} vertices, at most {} are allowed", edges.file, all.size(), INT32_MAX));
    edges.vertices = static_cast<std::int64_t>(all.size());
    auto number = [&](std::int64_t id) {
        // The usual case, ids 0 … n−1, needs no search.
        auto guess = static_cast<std::size_t>(id);
        if (guess < all.size() && all[guess] == id) return static_cast<std::int32_t>(id);
        return static_cast<std::int32_t>(std::ranges::lower_bound(all, id) - all.begin());
    };
    std::ranges::transform(ids.source, std::back_inserter(edges.source), number);
    std::ranges::transform(ids.target, std::back_inserter(edges.target), number);
}

void number_as_listed(const ListedIds& ids, const Params& p, EdgeList& edges) {
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
    auto number = [&](std::int64_t id) { return static_cast<std::int32_t>(id - first); };
    std::ranges::transform(ids.source, std::back_inserter(edges.source), number);
    std::ranges::transform(ids.target, std::back_inserter(edges.target), number);
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
