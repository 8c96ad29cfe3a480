// edge.csv.gz [m × 2], node-feat.csv.gz [n × f], node-label.csv.gz [n × 1, or n × classes], and how many there are of
// each graph in num-node-list.csv.gz and num-edge-list.csv.gz.
#include <data/importers/ogb_raw.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/csv.hpp>
#include <data/importers/formats.hpp>
#include <data/importers/labels.hpp>
#include <data/external_graph.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

fs::path ogb_csv(const fs::path& folder, const char* name) {
    for (auto ending : {".csv.gz", ".csv"})
        if (is_there(folder / (std::string(name) + ending))) return folder / (std::string(name) + ending);
    return {};
}

namespace {

fs::path required_csv(const fs::path& raw, const char* name) {
    auto file = ogb_csv(raw, name);
    if (file.empty())
        throw DataError(fmt::format("{}: OGB's format needs {}.csv.gz, and there is none", raw.string(), name));
    return file;
}

/// The one number of a list of vertices or edges by graph.
std::int64_t stated_count(const fs::path& raw, const char* name, std::int64_t most) {
    const auto file = required_csv(raw, name);
    CsvReader rows(file, 1);
    std::vector<std::string_view> fields;
    if (!rows.next(fields))
        throw DataError(fmt::format("{}: expected a number, found an empty file", file.string()));
    const auto count = parse_integer(fields[0], 0, most, rows.at(), "the number");
    if (rows.next(fields))
        throw DataError(
            fmt::format("{}: it is of more than one graph; sets of one graph are read", rows.at().where()));
    return count;
}

/// Calls row(fields, reader) for every row; there must be as many as `list` states.
template <class Row>
void each_row(CsvReader& rows, std::int64_t stated, const char* list, Row row) {
    std::vector<std::string_view> fields;
    while (rows.next(fields)) {
        if (rows.rows() > stated)
            throw DataError(
                fmt::format("{}: {} states {} rows, and here is another", rows.at().where(), list, stated));
        row(fields);
    }
    if (rows.rows() != stated)
        throw DataError(
            fmt::format("{}: {} states {} rows, it ends after {}", rows.at().path(), list, stated, rows.rows()));
}

constexpr const char* node_list = "num-node-list";
constexpr const char* edge_list_counts = "num-edge-list";

/// Source and target of the edge in a row of edge.csv.gz.
std::pair<std::int32_t, std::int32_t> parse_edge(const std::vector<std::string_view>& fields, std::int64_t n,
                                                 const LineReader& at) {
    const auto vertex = [&](std::string_view field, const char* what) {
        return static_cast<std::int32_t>(parse_integer(field, 0, n - 1, at, what));
    };
    return {vertex(fields[0], "a source vertex"), vertex(fields[1], "a target vertex")};
}

/// Before edges are collected, which are mirrored one by one: a first pass over the file.
EdgePolicy policy_for(const OgbEdges& wanted, const fs::path& raw, std::int64_t n, std::int64_t m) {
    EdgePolicy policy = wanted.policy;
    if (!wanted.listing) return policy;
    CsvReader rows(required_csv(raw, "edge"), 2);
    ListedWays ways;
    each_row(rows, m, edge_list_counts, [&](const auto& fields) {
        const auto [u, v] = parse_edge(fields, n, rows.at());
        ways.add(u, v);
    });
    policy.listing = wanted.listing(ways.ways());
    return policy;
}

/// Weights, if they are wanted, are in a file of their own, row by row beside the edges.
void take_csv_edges(const fs::path& raw, bool weighted, bool reverse, std::int64_t n, std::int64_t m,
                    EdgeCollector& edges) {
    CsvReader rows(required_csv(raw, "edge"), 2);
    std::optional<CsvReader> weights;
    if (weighted) weights.emplace(required_csv(raw, "edge-feat"), 1);
    std::vector<std::string_view> value;
    each_row(rows, m, edge_list_counts, [&](const auto& fields) {
        auto [u, v] = parse_edge(fields, n, rows.at());
        if (reverse) std::swap(u, v);
        float weight = 1;
        if (weights) {
            if (!weights->next(value))
                throw DataError(fmt::format("{}: {} states {} rows, it ends after {}", weights->at().path(),
                                            edge_list_counts, m, weights->rows()));
            weight = parse_weight(value[0], weights->at());
        }
        edges.add(u, v, weight);
    });
    if (weights && weights->next(value))
        throw DataError(
            fmt::format("{}: {} states {} rows, and here is another", weights->at().where(), edge_list_counts, m));
}

/// Number of columns, from the first row.
std::int64_t columns_of(const fs::path& file) {
    CsvReader rows(file);
    std::vector<std::string_view> fields;
    return rows.next(fields) ? static_cast<std::int64_t>(rows.columns()) : 0;
}

/// In memory, or row by row to a temporary file.
void take_csv_features(RawDataset& data, const fs::path& file, std::int64_t n, SpillFile* outside) {
    CsvReader rows(file);
    std::vector<float> row;
    each_row(rows, n, node_list, [&](const auto& fields) {
        row.clear();
        for (auto field : fields) row.push_back(parse_number(field, rows.at(), "a feature"));
        if (outside)
            outside->append(std::as_bytes(std::span(row)));
        else
            data.features.insert(data.features.end(), row.begin(), row.end());
    });
    data.feature_count = static_cast<std::int64_t>(rows.columns());
}

/// NaN, or nothing, where the label is unknown.
double parse_label(std::string_view field, const LineReader& at) {
    if (field.empty() || field == "nan" || field == "NaN") return std::numeric_limits<double>::quiet_NaN();
    return parse_number(field, at, "a label");
}

void take_csv_labels(RawDataset& data, const fs::path& file, std::int64_t n) {
    CsvReader rows(file);
    std::vector<double> values;
    each_row(rows, n, node_list, [&](const auto& fields) {
        for (auto field : fields) values.push_back(parse_label(field, rows.at()));
    });
    if (rows.columns() == 1) return take_classes(data, values, file.string());
    take_label_matrix(data, values, n, static_cast<std::int64_t>(rows.columns()), file.string());
}

}  // namespace

std::int64_t read_ogb_csv(const fs::path& raw, const OgbEdges& wanted, const MemoryBudget& room,
                          RawDataset& data) {
    const auto n = stated_count(raw, node_list, INT32_MAX), m = stated_count(raw, edge_list_counts, INT64_MAX);
    if (n < 1)
        throw DataError(fmt::format("{}: {} states no vertices, at least one is needed", raw.string(), node_list));
    const auto feature_file = ogb_csv(raw, "node-feat"), label_file = ogb_csv(raw, "node-label");
    const std::int64_t features = feature_file.empty() ? wanted.drawn_features : columns_of(feature_file);
    EdgeCollector edges(required_csv(raw, "edge").string(), policy_for(wanted, raw, n, m), room);
    edges.expect(wanted.weighted, false);
    edges.expect_size(n, m, features);
    // Labels and masks remain in memory; before they are checked, a label takes 8 bytes.
    if (!label_file.empty())
        edges.reserve(9 * static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(columns_of(label_file)),
                      fmt::format("{}: {} vertices' labels", label_file.string(), n));
    take_csv_edges(raw, wanted.weighted, wanted.reverse, n, m, edges);
    std::unique_ptr<SpillFile> outside;
    if (!feature_file.empty()) {
        if (edges.is_outside()) outside = std::make_unique<SpillFile>(room.folder);
        take_csv_features(data, feature_file, n, outside.get());
    }
    if (!label_file.empty()) take_csv_labels(data, label_file, n);
    edges.finish(data, n, features);
    if (data.outside) data.outside->features = std::move(outside);
    return n;
}

}  // namespace gnnbench
