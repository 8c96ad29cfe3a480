// Matrix Market, coordinate form: a banner "%%MatrixMarket matrix coordinate FIELD SYMMETRY", comments, "rows columns
// entries", then "i j [value]" counted from 1 (from 0 in some of HipMCL's). As in the SuiteSparse collection, entry
// (i, j) is an edge from i to j.
#include <algorithm>
#include <array>
#include <cctype>
#include <exception>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/importers/edge_lines.hpp>
#include <data/importers/formats.hpp>
#include <data/options.hpp>
#include <data/external_graph.hpp>
#include <data/text_blocks.hpp>
#include <data/text_input.hpp>

#include "core/text_encoding.hpp"

namespace gnnbench {

namespace {

constexpr auto matrix_market_params = joined(std::array<ParamDecl, 6>{{
                                                 directed_param("true"),
                                                 loops_param,
                                                 repeats_param,
                                                 reverse_param,
                                                 {"weights", ParamType::choice, "auto", 0, 0, "auto|ignore",
                                                  "auto keeps the values, if there are any, as weights"},
                                                 {"first_id", ParamType::integer, "1", 0, 1, nullptr,
                                                  "whether rows and columns count from 1, as the format says, or "
                                                  "from 0, as in HipMCL's files for its -base 0"},
                                             }},
                                             fill_params);

struct Banner {
    bool valued = false, symmetric = false;
};

Banner read_banner(LineReader& reader) {
    std::string_view text;
    std::vector<std::string_view> words;
    if (reader.next(text)) split_fields(text, words);
    std::vector<std::string> lower;
    for (auto word : words) {
        lower.emplace_back(word);
        std::ranges::transform(lower.back(), lower.back().begin(),
                               [](unsigned char c) { return std::tolower(c); });
    }
    if (lower.size() != 5 || lower[0] != "%%matrixmarket")
        throw DataError(
            fmt::format("{}:1: expected \"%%MatrixMarket matrix coordinate field symmetry\", found '{}'",
                        reader.path(), shown(text)));
    auto allow = [&](std::size_t i, std::initializer_list<const char*> known, const char* listed) {
        if (std::ranges::find(known, lower[i]) == known.end())
            throw DataError(fmt::format("{}:1: '{}' is not read; allowed is {}", reader.path(), words[i], listed));
    };
    allow(1, {"matrix"}, "matrix");
    allow(2, {"coordinate"}, "coordinate");
    allow(3, {"pattern", "real", "integer", "unsigned-integer", "double"}, "pattern, real or integer");
    allow(4, {"general", "symmetric"}, "general or symmetric");
    return {lower[3] != "pattern", lower[4] == "symmetric"};
}

/// The next line that is neither comment nor blank.
bool next_line(LineReader& reader, std::string_view& text) {
    while (reader.next(text))
        if (!text.starts_with('%') && !is_blank(text)) return true;
    return false;
}

/// Calls add(source, target) for an entry. A symmetric file holds the lower triangle; the upper one follows from it.
template <class Add>
void each_way(std::int64_t i, std::int64_t j, bool mirrored, Add add) {
    add(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
    if (mirrored && i != j) add(static_cast<std::int32_t>(j), static_cast<std::int32_t>(i));
}

/// A row or column, counted from 0, of one that the file counts from `first`.
std::int64_t parse_index(std::string_view text, std::int64_t first, std::int64_t n, const LineReader& reader,
                         const char* what) {
    if (first == 1 && text == "0")
        throw DataError(
            fmt::format("{}: {} is '0', allowed are whole numbers 1 to {}; if the file counts from 0, "
                        "set `first_id: 0`",
                        reader.where(), what, n));
    return parse_integer(text, first, n - 1 + first, reader, what) - first;
}

/// What comes before the entries.
struct Header {
    Banner banner;
    std::int64_t n = 0, entries = 0;
};

Header read_header(LineReader& reader) {
    Header h{.banner = read_banner(reader)};
    std::string_view text;
    std::vector<std::string_view> fields;
    if (!next_line(reader, text))
        throw DataError(
            fmt::format("{}: expected \"rows columns entries\", found the end of the file", reader.path()));
    split_fields(text, fields);
    if (fields.size() != 3)
        throw DataError(
            fmt::format("{}: expected \"rows columns entries\", found '{}'", reader.where(), shown(text)));
    h.n = parse_integer(fields[0], 1, INT32_MAX, reader, "the number of rows");
    if (parse_integer(fields[1], 1, INT32_MAX, reader, "the number of columns") != h.n)
        throw DataError(
            fmt::format("{}: a graph's matrix is square, found {} × {}", reader.where(), fields[0], fields[1]));
    h.entries = parse_integer(fields[2], 0, INT64_MAX, reader, "the number of entries");
    return h;
}

/// How a caller wants the entries.
struct EntryRules {
    bool weighted = false;  ///< values are kept
    bool keep_lines =
        false;  ///< lines of a billion entries would take as much memory as the entries; they only serve one error
    std::int64_t first = 1;  ///< rows and columns count from here
    bool reverse = false;    ///< entry (i, j) is an edge from j to i
};

/// Line by line, on one thread; names the first that is wrong.
void read_entries(LineReader& reader, const Header& h, const EntryRules& rules, EdgeCollector& edges) {
    std::string_view text;
    std::vector<std::string_view> fields;
    const std::size_t columns = h.banner.valued ? 3 : 2;
    std::int64_t listed = 0;
    for (; next_line(reader, text); ++listed) {
        split_fields(text, fields);
        if (fields.size() != columns || listed == h.entries)
            throw DataError(fmt::format("{}: expected {}, found '{}'", reader.where(),
                                        listed == h.entries ? fmt::format("the end after {} entries", h.entries)
                                        : h.banner.valued   ? "row, column and value"
                                                            : "row and column",
                                        shown(text)));
        const auto i = parse_index(fields[0], rules.first, h.n, reader, "a row"),
                   j = parse_index(fields[1], rules.first, h.n, reader, "a column");
        const float value = rules.weighted ? parse_weight(fields[2], reader) : 0;
        each_way(i, j, h.banner.symmetric, [&](auto u, auto v) {
            edges.add(rules.reverse ? v : u, rules.reverse ? u : v, value, reader.line_number());
        });
    }
    if (listed != h.entries)
        throw DataError(
            fmt::format("{}: it states {} entries and ends after {}", reader.path(), h.entries, listed));
}

/// On all threads, after `header_lines`; false where anything is wrong, which read_entries then names.
bool read_entries_at_once(const std::filesystem::path& path, std::int64_t header_lines, const Header& h,
                          const EntryRules& rules, std::size_t block_bytes, EdgeCollector& edges) {
    std::int64_t listed = 0;
    const auto outside = [&](std::int64_t id) { return id < rules.first || id - rules.first >= h.n; };
    struct Wrong : std::exception {};
    try {
        each_edge_block(path,
                        {.weights = h.banner.valued ? WeightColumn::last : WeightColumn::none,
                         .skip_lines = header_lines,
                         .keep_lines = rules.keep_lines,
                         .comments = "%"},
                        block_bytes, [&](ListedIds& ids) {
                            listed += std::ssize(ids.source);
                            if (listed > h.entries || std::ranges::any_of(ids.source, outside) ||
                                std::ranges::any_of(ids.target, outside))
                                throw Wrong{};
                            for (std::size_t e = 0; e < ids.source.size(); ++e)
                                each_way(ids.source[e] - rules.first, ids.target[e] - rules.first,
                                         h.banner.symmetric, [&](auto u, auto v) {
                                             edges.add(rules.reverse ? v : u, rules.reverse ? u : v,
                                                       rules.weighted ? ids.weight[e] : 1.0f,
                                                       rules.keep_lines ? ids.line[e] : 0);
                                         });
                        });
    } catch (const DataError&) {
        return false;
    } catch (const Wrong&) {
        return false;
    }
    return listed == h.entries;
}

/// An entry "i j" takes four bytes, the end of its line included, which the last may lack.
void check_entries(const std::filesystem::path& path, const Header& h) {
    const TextBlocks text(path, 1);
    const auto most = static_cast<std::int64_t>((text.bytes() + 1) / 4);
    if (text.bytes() > 0 && h.entries > most)
        throw DataError(fmt::format("{}: it states {} entries, its {} bytes can have {} at most", path.string(),
                                    h.entries, text.bytes(), most));
}

RawDataset read_matrix_market(const std::filesystem::path& path, const Params& p, const MemoryBudget& room) {
    const std::size_t block_bytes = room.text_block_bytes();
    LineReader reader(path, block_bytes);
    const Header header = read_header(reader);
    check_entries(path, header);
    const EntryRules rules{.weighted = header.banner.valued && p.choice("weights") == "auto",
                           .keep_lines = p.choice("repeats") == "error",
                           .first = p.integer("first_id"),
                           .reverse = p.boolean("reverse")};
    const auto collector = [&] {
        EdgeCollector edges(path.string(), listed_policy(p), room);
        edges.expect(rules.weighted, rules.keep_lines);
        return edges;
    };
    EdgeCollector edges = collector();
    if (!read_entries_at_once(path, reader.line_number(), header, rules, block_bytes, edges)) {
        edges = collector();
        read_entries(reader, header, rules, edges);
    }
    RawDataset data;
    edges.finish(data, header.n, p.integer("features"));
    set_listed_edges(data, header.entries);
    return data;
}

constexpr const char* matrix_market_endings[] = {".mtx"};

/// Whatever its name: as an edge list, whose comments begin with % too, its line of sizes would be an edge.
bool is_matrix_market(const std::filesystem::path& path) {
    if (ends_with_any(path, matrix_market_endings)) return true;
    try {
        if (!std::filesystem::is_regular_file(path)) return false;
        constexpr std::string_view banner = "%%MatrixMarket";
        return without_mark(ByteStream(path).next()).starts_with(banner);
    } catch (const Error&) {
        return false;  // reading it says what is wrong
    }
}

}  // namespace

const ImportFormat matrix_market_format{
    "matrix-market", "Matrix Market, coordinate form (.mtx, or by its first line; .gz .zst too)",
    matrix_market_params, is_matrix_market, read_matrix_market};

}  // namespace gnnbench
