// LINQS' citation sets: NAME.content has a line "paper feature … feature class" for each paper, NAME.cites a line
// "cited citing". Vertices are numbered in the order of .content; an edge goes from the citing to the cited paper.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/importers/formats.hpp>
#include <data/options.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

constexpr auto linqs_params = joined(
    std::array<ParamDecl, 4>{{directed_param("false"), loops_param, repeats_param, reverse_param}}, fill_params);
constexpr const char* cites_endings[] = {".cites"};
constexpr const char* content_endings[] = {".content"};

struct Papers {
    std::unordered_map<std::string, std::int32_t> number;
    std::vector<std::string> class_of;
    std::vector<float> features;
    std::size_t feature_count = 0;
};

/// The pair of files, whichever of them, or the folder of them, was named.
std::vector<fs::path> both_files(const fs::path& path) {
    fs::path folder = fs::is_directory(path) ? path : path.has_parent_path() ? path.parent_path() : fs::path(".");
    fs::path content, cites;
    std::error_code none;
    for (const auto& item : fs::directory_iterator(folder, none)) {
        if (!fs::is_directory(path) && input_name(item.path()) != input_name(path)) continue;
        if (ends_with_any(item.path(), content_endings)) content = item.path();
        if (ends_with_any(item.path(), cites_endings)) cites = item.path();
    }
    if (content.empty() || cites.empty())
        throw DataError(fmt::format(
            "{}: LINQS' format needs a .cites and a .content file (or .content.zst, .gz), there is no {}",
            path.string(), content.empty() ? ".content" : ".cites"));
    return {content, cites};
}

Papers read_papers(const fs::path& path) {
    Papers papers;
    LineReader reader(path);
    std::vector<std::string_view> fields;
    for (std::string_view text; reader.next(text);) {
        if (is_blank(text)) continue;
        split_fields(text, fields);
        if (papers.class_of.empty()) papers.feature_count = fields.size() < 3 ? 0 : fields.size() - 2;
        if (fields.size() < 3 || fields.size() != papers.feature_count + 2)
            throw DataError(fmt::format(
                "{}: expected a paper, {} features and a class, found {} columns", reader.where(),
                papers.feature_count ? std::to_string(papers.feature_count) : "at least one", fields.size()));
        auto id = static_cast<std::int32_t>(papers.class_of.size());
        if (!papers.number.emplace(fields.front(), id).second)
            throw DataError(fmt::format("{}: paper {} is listed a second time", reader.where(), fields.front()));
        papers.class_of.emplace_back(fields.back());
        for (std::size_t i = 1; i + 1 < fields.size(); ++i)
            papers.features.push_back(fields[i] == "0" ? 0.0f : parse_number(fields[i], reader, "a feature"));
    }
    return papers;
}

EdgeList read_citations(const fs::path& path, const Papers& papers) {
    EdgeList edges;
    edges.file = path.string();
    edges.vertices = static_cast<std::int64_t>(papers.class_of.size());
    LineReader reader(path);
    std::vector<std::string_view> fields;
    auto number = [&](std::string_view paper) {
        auto found = papers.number.find(std::string(paper));
        if (found == papers.number.end())
            throw DataError(fmt::format("{}: paper '{}' has no line in .content", reader.where(), shown(paper)));
        return found->second;
    };
    for (std::string_view text; reader.next(text);) {
        if (is_blank(text)) continue;
        split_fields(text, fields);
        if (fields.size() != 2)
            throw DataError(
                fmt::format("{}: expected a cited and a citing paper, found '{}'", reader.where(), shown(text)));
        edges.target.push_back(number(fields[0]));
        edges.source.push_back(number(fields[1]));
        edges.line.push_back(reader.line_number());
    }
    return edges;
}

RawDataset read_linqs(const fs::path& path, const Params& p, const MemoryBudget&) {
    auto files = both_files(path);
    auto papers = read_papers(files[0]);
    RawDataset data;
    data.name = input_name(files[1]);
    data.graph = build_listed(read_citations(files[1], papers), p);
    data.feature_count = static_cast<std::int64_t>(papers.feature_count);
    data.features = std::move(papers.features);
    std::map<std::string, std::int32_t> classes;  // numbered in alphabetical order
    for (const auto& c : papers.class_of) classes[c];
    for (auto& [name, number] : classes) number = data.classes++;
    for (const auto& c : papers.class_of) data.labels.push_back(classes[c]);
    return data;
}

bool recognises(const fs::path& path) {
    if (ends_with_any(path, cites_endings) || ends_with_any(path, content_endings)) return true;
    std::error_code none;
    return std::ranges::any_of(fs::directory_iterator(path, none),
                               [](const auto& item) { return ends_with_any(item.path(), cites_endings); });
}

}  // namespace

const ImportFormat linqs_format{
    "linqs",      "LINQS citation set (.cites with .content beside it, or their folder)",
    linqs_params, recognises,
    read_linqs,   both_files};

}  // namespace gnnbench
