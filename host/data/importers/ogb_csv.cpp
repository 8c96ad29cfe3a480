// edge.csv.gz [m × 2], node-feat.csv.gz [n × f], node-label.csv.gz [n × 1, or n × classes], and how many there are of
// each graph in num-node-list.csv.gz and num-edge-list.csv.gz.
#include <data/importers/ogb_raw.hpp>

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/importers/csv.hpp>
#include <data/importers/formats.hpp>
#include <data/importers/labels.hpp>

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

EdgeList csv_edges(const fs::path& raw, std::int64_t n, std::int64_t m) {
    EdgeList edges;
    edges.vertices = n;
    CsvReader rows(required_csv(raw, "edge"), 2);
    edges.file = rows.at().path();
    each_row(rows, m, edge_list_counts, [&](const auto& fields) {
        edges.source.push_back(
            static_cast<std::int32_t>(parse_integer(fields[0], 0, n - 1, rows.at(), "a source vertex")));
        edges.target.push_back(
            static_cast<std::int32_t>(parse_integer(fields[1], 0, n - 1, rows.at(), "a target vertex")));
    });
    return edges;
}

void take_csv_features(RawDataset& data, const fs::path& file, std::int64_t n) {
    CsvReader rows(file);
    each_row(rows, n, node_list, [&](const auto& fields) {
        for (auto field : fields) data.features.push_back(parse_number(field, rows.at(), "a feature"));
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

std::vector<float> csv_weights(const fs::path& raw, std::int64_t m) {
    std::vector<float> weight;
    CsvReader rows(required_csv(raw, "edge-feat"), 1);
    each_row(rows, m, edge_list_counts,
             [&](const auto& fields) { weight.push_back(parse_weight(fields[0], rows.at())); });
    return weight;
}

}  // namespace

EdgeList read_ogb_csv(const fs::path& raw, bool weighted, RawDataset& data) {
    const auto n = stated_count(raw, node_list, INT32_MAX), m = stated_count(raw, edge_list_counts, INT64_MAX);
    if (n < 1)
        throw DataError(fmt::format("{}: {} states no vertices, at least one is needed", raw.string(), node_list));
    auto edges = csv_edges(raw, n, m);
    if (weighted) edges.weight = csv_weights(raw, m);
    if (const auto file = ogb_csv(raw, "node-feat"); !file.empty()) take_csv_features(data, file, n);
    if (const auto file = ogb_csv(raw, "node-label"); !file.empty()) take_csv_labels(data, file, n);
    return edges;
}

}  // namespace gnnbench
