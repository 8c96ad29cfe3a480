// Labelled triples, as MCL ("abc") and HipMCL read them: a line "label label weight" for an edge from the first to
// the second; without a weight in MCL's. Labels are separated by tabs where a line has one, otherwise by blanks.
// Vertices are numbered in the order in which their labels occur first.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/importers/formats.hpp>
#include <data/options.hpp>
#include <data/external_graph.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

namespace {

constexpr auto triples_params = joined(std::array<ParamDecl, 5>{{
                                           directed_param("true"),
                                           loops_param,
                                           repeats_param,
                                           reverse_param,
                                           {"weights", ParamType::choice, "auto", 0, 0, "auto|ignore",
                                            "auto keeps the third column, if there is one, as weights"},
                                       }},
                                       fill_params);
constexpr const char* triples_endings[] = {".triples", ".abc"};

/// Lets a label be looked up without a copy of it.
struct LabelHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view label) const { return std::hash<std::string_view>{}(label); }
};

class VertexLabels {
public:
    std::int32_t number(std::string_view label, const LineReader& at) {
        if (auto found = numbers_.find(label); found != numbers_.end()) return found->second;
        if (numbers_.size() >= INT32_MAX)
            throw DataError(fmt::format("{}: vertex '{}' is one too many, at most {} are allowed", at.where(),
                                        shown(label), INT32_MAX));
        const auto next = static_cast<std::int32_t>(numbers_.size());
        numbers_.emplace(label, next);
        // An entry, its share of the table of buckets when that grows, and a label that does not fit into its string.
        bytes_ += 112 + (label.size() < sizeof(std::string) / 2 ? 0 : label.size() + 17);
        return next;
    }
    std::uint64_t bytes() const { return bytes_; }
    std::int64_t count() const { return static_cast<std::int64_t>(numbers_.size()); }

private:
    std::unordered_map<std::string, std::int32_t, LabelHash, std::equal_to<>> numbers_;
    std::uint64_t bytes_ = 0;
};

void split_triple(std::string_view line, std::vector<std::string_view>& fields) {
    fields.clear();
    const auto separators = line.find('\t') == line.npos ? " " : "\t";
    for (std::size_t begin = line.find_first_not_of(separators); begin != line.npos;) {
        const auto end = std::min(line.find_first_of(separators, begin), line.size());
        fields.push_back(line.substr(begin, end - begin));
        begin = line.find_first_not_of(separators, end);
    }
}

std::string table_of(const std::filesystem::path& path, const VertexLabels& vertices) {
    return fmt::format("{}: the table of its {} labels", path.string(), vertices.count());
}

RawDataset read_triples(const std::filesystem::path& path, const Params& p, const MemoryBudget& room) {
    const bool take_weights = p.choice("weights") == "auto", keep_lines = p.choice("repeats") == "error",
               reverse = p.boolean("reverse");
    EdgeCollector edges(path.string(), listed_policy(p), room);
    VertexLabels vertices;
    LineReader reader(path, room.text_block_bytes());
    std::vector<std::string_view> fields;
    std::size_t columns = 0;
    for (std::string_view text; reader.next(text);) {
        if (is_blank(text) || text[text.find_first_not_of(" \t")] == '#') continue;
        split_triple(text, fields);
        if (columns == 0) {
            columns = fields.size();
            edges.expect(columns == 3 && take_weights, keep_lines);
        }
        if (fields.size() != columns || columns < 2 || columns > 3)
            throw DataError(fmt::format("{}: expected two labels{}, found {} columns in '{}'", reader.where(),
                                        columns == 3   ? " and a weight"
                                        : columns == 2 ? ""
                                                       : ", and perhaps a weight",
                                        fields.size(), shown(text)));
        std::int32_t u = vertices.number(fields[0], reader), v = vertices.number(fields[1], reader);
        if (reverse) std::swap(u, v);
        edges.add(u, v, columns == 3 && take_weights ? parse_weight(fields[2], reader) : 1.0f,
                  reader.line_number());
        if (reader.line_number() % 1024 == 0) edges.reserve(vertices.bytes(), table_of(path, vertices));
    }
    edges.reserve(vertices.bytes(), table_of(path, vertices));
    RawDataset data;
    edges.finish(data, vertices.count(), p.integer("features"));
    return data;
}

}  // namespace

const ImportFormat triples_format{
    "triples", "labelled triples of MCL and HipMCL, a line \"label label weight\" (.triples .abc; .gz .zst too)",
    triples_params, [](const std::filesystem::path& path) { return ends_with_any(path, triples_endings); },
    read_triples};

}  // namespace gnnbench
