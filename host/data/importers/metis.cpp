// METIS' graph file: a header "n m [fmt [ncon]]", then line i lists the neighbours of vertex i, counted from 1.
// fmt's digits say whether vertex sizes, vertex weights and edge weights are given. Every edge is listed in both its
// rows.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/formats.hpp>
#include <data/options.hpp>
#include <data/external_graph.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

namespace {

struct Header {
    std::int64_t vertices = 0, edges = 0;
    bool edge_weights = false;
    std::int64_t skipped_per_vertex = 0;  ///< vertex size and weights, before the neighbours
};

bool next_line(LineReader& reader, std::string_view& text) {
    while (reader.next(text))
        if (!text.starts_with('%')) return true;
    return false;
}

Header read_header(LineReader& reader) {
    std::string_view text;
    std::vector<std::string_view> fields;
    do {
        if (!next_line(reader, text))
            throw DataError(fmt::format("{}: expected METIS' header, found an empty file", reader.path()));
    } while (is_blank(text));
    split_fields(text, fields);
    if (fields.size() < 2 || fields.size() > 4)
        throw DataError(fmt::format("{}: expected METIS' header \"vertices edges [fmt [ncon]]\", found '{}'",
                                    reader.where(), shown(text)));
    Header header;
    header.vertices = parse_integer(fields[0], 0, INT32_MAX, reader, "the number of vertices");
    header.edges = parse_integer(fields[1], 0, INT64_MAX / 2, reader, "the number of edges");
    if (fields.size() < 3) return header;
    auto format = parse_integer(fields[2], 0, 111, reader, "fmt");
    bool sizes = format / 100 == 1, weights = format / 10 % 10 == 1;
    header.edge_weights = format % 10 == 1;
    if (format % 10 > 1 || format / 10 % 10 > 1)
        throw DataError(
            fmt::format("{}: fmt is '{}', allowed are three digits of 0 and 1", reader.where(), fields[2]));
    auto constraints = fields.size() == 4 ? parse_integer(fields[3], 0, 1000, reader, "ncon") : 1;
    header.skipped_per_vertex = (sizes ? 1 : 0) + (weights ? constraints : 0);
    return header;
}

void read_row(std::int32_t row, const Header& header, const std::vector<std::string_view>& fields,
              const LineReader& reader, EdgeList& edges) {
    auto skipped = usize(header.skipped_per_vertex), step = header.edge_weights ? 2ul : 1ul;
    if (fields.size() < skipped || (fields.size() - skipped) % step != 0)
        throw DataError(fmt::format("{}: expected {}neighbours{} of vertex {}, found {} numbers", reader.where(),
                                    skipped ? "sizes and weights, then " : "",
                                    header.edge_weights ? ", each with a weight," : "", row + 1, fields.size()));
    for (std::size_t i = skipped; i < fields.size(); i += step) {
        auto neighbour =
            parse_integer(fields[i], 1, header.vertices, reader, fmt::format("a neighbour of vertex {}", row + 1));
        edges.source.push_back(static_cast<std::int32_t>(neighbour - 1));
        edges.target.push_back(row);
        edges.line.push_back(reader.line_number());
        if (header.edge_weights) edges.weight.push_back(parse_weight(fields[i + 1], reader));
    }
}

EdgeList read_rows(LineReader& reader, const Header& header, const MemoryBudget& room) {
    // Rows are sorted and compared with their mirrors in memory: nothing of this format goes outside.
    const std::uint64_t edge_bytes = built_edge_bytes({.listing = Listing::mirrored}, true, true);
    const auto require = [&](std::int64_t edges) {
        const HeldSize held{.edges = edges, .vertices = header.vertices, .edge_bytes = edge_bytes};
        if (!room.holds(held))
            room.require(held.bytes(), fmt::format("{}: METIS' format with {} listed neighbours and {} vertices",
                                                   reader.path(), edges, header.vertices));
    };
    require(0);
    EdgeList edges;
    edges.vertices = header.vertices;
    edges.file = reader.path();
    std::string_view text;
    std::vector<std::string_view> fields;
    for (std::int64_t v = 0; v < header.vertices; ++v) {
        if (!next_line(reader, text))
            throw DataError(fmt::format("{}: its header states {} vertices, it ends after the line of vertex {}",
                                        reader.path(), header.vertices, v));
        split_fields(text, fields);
        read_row(static_cast<std::int32_t>(v), header, fields, reader, edges);
        require(edges.edges());
    }
    while (next_line(reader, text))
        if (!is_blank(text))
            throw DataError(fmt::format("{}: its header states {} vertices, but there is another line: '{}'",
                                        reader.where(), header.vertices, shown(text)));
    return edges;
}

/// A self-loop is listed once, every other edge twice.
std::int64_t undirected_edges(const EdgeList& edges) {
    std::int64_t loops = 0;
    for (std::size_t e = 0; e < edges.source.size(); ++e) loops += edges.source[e] == edges.target[e];
    return (edges.edges() - loops) / 2 + loops;
}

RawDataset read_metis(const std::filesystem::path& path, const Params& p, const MemoryBudget& room) {
    LineReader reader(path);
    auto header = read_header(reader);
    auto edges = read_rows(reader, header, room);
    auto found = undirected_edges(edges);
    if (found != header.edges && edges.edges() != 2 * header.edges)
        throw DataError(fmt::format("{}: its header promises {} edges, its lines list {} (each twice, {} entries)",
                                    path.string(), header.edges, found, edges.edges()));
    RawDataset data;
    data.graph = build_graph(std::move(edges), {Listing::mirrored, loops_policy(p), repeats_policy(p)});
    data.graph.listed_edges = header.edges;
    return data;
}

constexpr auto metis_params = joined(std::array<ParamDecl, 2>{{loops_param, repeats_param}}, fill_params);
constexpr const char* metis_endings[] = {".graph", ".metis"};

}  // namespace

const ImportFormat metis_format{
    "metis", "METIS graph file (.graph .metis; .gz .zst too)", metis_params,
    [](const std::filesystem::path& path) { return ends_with_any(path, metis_endings); }, read_metis};

}  // namespace gnnbench
