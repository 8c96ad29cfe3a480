#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/fields.hpp"
#include "spec/metrics.hpp"
#include "spec/published.hpp"
#include "spec/table_keys.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;
using KeyType = TableKeyType;

ordered_json definition(const char* name) { return {{"$ref", std::string("#/definitions/") + name}}; }
ordered_json scalar() { return {{"type", {"string", "number", "boolean"}}}; }
ordered_json one_or_more(const ordered_json& item) {
    return {{"anyOf", ordered_json::array({item, {{"type", "array"}, {"items", item}, {"minItems", 1}}})}};
}

ordered_json allowed(const TableKey& k) {
    switch (k.type) {
        case KeyType::text:
            return k.owner == "measure" && (k.name == "metric" || k.name == "unit")
                       ? definition(k.name == "metric" ? "metric" : "unit")
                       : scalar();
        case KeyType::texts:
            return one_or_more(scalar());
        case KeyType::whole:
            return {{"type", "integer"}, {"minimum", 0}, {"maximum", 12}};
        case KeyType::real:
            return {{"type", "number"}};
        case KeyType::share:
            return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
        case KeyType::boolean:
            return {{"type", "boolean"}};
        case KeyType::word:
            return {{"enum", k.words}};
        case KeyType::words:
            return one_or_more({{"enum", k.words}});
        case KeyType::values:
            return definition("values");
        case KeyType::conditions:
            return definition("conditions");
        case KeyType::measure:
            return definition("measure");
        case KeyType::plot:
            return definition("plot");
        case KeyType::lines:
            return definition("lines");
        case KeyType::claims:
            return {{"type", "array"}, {"minItems", 1}, {"items", definition("claim")}};
        case KeyType::places:
            return {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", definition("places")}};
    }
    return {};
}

}  // namespace

ordered_json schema_of(std::string_view owner) {
    ordered_json properties = ordered_json::object(), required = ordered_json::array();
    for (const TableKey* key : keys_of(owner)) {
        const TableKey& k = *key;
        ordered_json j{{"description", k.help}};
        ordered_json a = allowed(k);
        // Draft-07 ignores keys beside a $ref.
        if (a.contains("$ref"))
            j["allOf"] = ordered_json::array({a});
        else
            j.update(a);
        properties[std::string(k.name)] = j;
        if (k.required) required.push_back(k.name);
    }
    ordered_json j{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
    if (!required.empty()) j["required"] = required;
    return j;
}

std::string key_rows(std::string_view owner) {
    std::string rows = "| key | value | meaning |\n| --- | --- | --- |\n";
    const auto value = [](const TableKey& k) -> std::string {
        switch (k.type) {
            case KeyType::text:
                return "text";
            case KeyType::texts:
                return "text, or a list of texts";
            case KeyType::whole:
                return "an integer from 0 to 12";
            case KeyType::real:
                return "a number";
            case KeyType::share:
                return "a number from 0 to 1";
            case KeyType::boolean:
                return "true or false";
            case KeyType::word:
                return fmt::format("one of: {}", fmt::join(k.words, ", "));
            case KeyType::words:
                return fmt::format("some of: {}", fmt::join(k.words, ", "));
            case KeyType::values:
                return "fields and values";
            case KeyType::conditions:
                return "conditions";
            case KeyType::measure:
                return "what is shown";
            case KeyType::plot:
                return "how it is drawn";
            case KeyType::lines:
                return "lines";
            case KeyType::claims:
                return "a list of claims";
            case KeyType::places:
                return "names, each with places";
        }
        return "";
    };
    for (const TableKey* k : keys_of(owner))
        rows +=
            fmt::format("| `{}` | {}{} | {} |\n", k->name, value(*k), k->required ? "; required" : "", k->help);
    return rows;
}

namespace {

constexpr const char* table_file_opening = R"(# The table file

<!-- Generated: GNNBENCH_REWRITE=1 ctest --test-dir build/release -R unit.spec -->

A table or a figure of a paper is a YAML file beside its experiments. It defines rows and columns, and the cells of the
experiments that they show. `gnnbench table plexus/table-5-1` prints it, `gnnbench figure plexus/figure-7-5` draws it.

```yaml
# yaml-language-server: $schema=../../schemas/table.schema.json
title: Epoch time on DGX-A100
source: MG-GCN, Table 3
experiments: mg-gcn-distgnn
cell: {metric: epoch_s, unit: s}
where: {scheme: mg-gcn}
row_head: GPUs
rows: {over: gpus, values: [1, 2, 4, 8]}
columns:
  - {name: Reddit, where: {dataset: [reddit, reddit-small]}}
best: none
```

A place shows a number of the cell that satisfies `where` of the table, of its row and of its column.
`{over: gpus, values: [1, 2]}` is a line for each value, named after it. Of several trials it is the median, of three
and more with its interval. A cell that was never measured is empty. Remarks on a number (synthetic data, more ranks
than cores, a paper's shortcut, not verified) are above the table, once for the whole table, rows or columns that they
apply to; a remark on a single number is a footnote.

`ours ÷ paper` is shown only for numbers of the paper's own setting: dataset, hidden widths and number of devices, each
named by `where` with the paper's value first (counts of a graph: only the dataset; quotients of volumes: dataset and
devices). Differences are listed above the table.

A table has at most 10,000 places, and its conditions, and those of each line, compare with at most 1,000 values.

Experiments have profiles: `small` ends in minutes on two cores, with scaled graphs; `paper` has the paper's settings. A
table shows the profile that was measured last, or the one that `--profile` names, and says which.

The profile `simulated` predicts the paper's cells on the paper's machine (`kernel: simulated`). Where a table names a
machine (`simulated_on`), that profile's numbers stand beside ours, marked SIMULATED in tables; in figures ours are filled
marks, full lines and full bars, simulated numbers open marks, dashed lines and pale bars, the paper's crosses, dotted
lines and hatched bars. What was measured on smaller graphs than the paper's shares no axis with the paper's numbers or
simulated ones: figures of lines give it panels of its own, bars leave it to the table. Simulated numbers never enter
`ours ÷ paper`. `SIMULATED ÷ paper` has the paper's widths and devices, and a graph
of the paper's number of vertices within 5%, which may be synthetic.

`published.csv` beside it has the paper's numbers, in the columns `)";

constexpr const char* conditions = R"(
## Conditions

Conditions choose cells by the fields of the [spec reference](spec-reference.md) that are part of a cell, in the language of
`--where` and `exclude`: SQL over these names, such as `"scheme = 'mg-gcn' AND NOT scheme.overlap"`. A mapping is short for
equalities: `{gpus: [4, 8], scheme: mg-gcn, scheme.overlap: false}` is `gpus IN (4, 8) AND scheme = 'mg-gcn' AND NOT
scheme.overlap`. The first of several values is the paper's own setting; `null` among them is a cell without the field, such
as one whose scheme has no such parameter. A list of mappings and expressions holds where all of them do.

A plugin is named without its parameters (`scheme: mg-gcn`); `scheme.overlap` is one of them. Name parameters even at their
defaults where cells differ in them; `scheme_label`, the name that tables show, changes with the defaults. On one part
`partitioner` is `none`. `model.hidden` is text, `64,64`, and `model.depth` the number of layers. The cell that differs "in
these fields" need not satisfy conditions on them, nor on the parameters of a plugin that they name.
)";

constexpr const char* scaling = R"(
### Scaling

A number is compared with another cell: the one that matches the same place with the named fields changed. T is the
median of this cell's trials on p devices, T₀ that of the other on p₀; both keep their remarks, such as
oversubscription. If the other was never measured, nothing is shown.

| key | result |
| --- | --- |
| `speed_up_over` | ψ = T₀ / T |
| `relative_to` | T / T₀ |
| `efficiency_over` | ψ / (p / p₀); 1 is linear |
| `karp_flatt_over` | (1/ψ − p₀/p) / (1 − p₀/p), the experimentally determined serial fraction: 0 is linear speed-up, 1 is none, less than 0 superlinear. If it grows with p, overhead grows; if it is constant, the serial part bounds the speed-up. A. H. Karp and H. P. Flatt, Measuring parallel processor performance, Communications of the ACM 33(5), 1990 |
| `overtakes` | devices from which on T is below T₀ at the same number of devices. Between measured numbers of devices both are interpolated linearly in logarithms of both axes, and the number is marked as interpolated; there is no extrapolation. `always`, `never`: one is lower at every number measured for both, at least two |
| `pays_back_over` | (P − P₀) / (T₀ − T), P and P₀ the times of partitioning (`partition_s`): the epochs that amortise it; 0 if it costs no more, `never` if epochs are no shorter |

`rows: {over: gpus, values: [2, 4]}` with `cell: {metric: epoch_s, karp_flatt_over: {scheme: serial, gpus: 1,
partitioner: none}}` is a column of Karp and Flatt's fractions.
)";

}  // namespace

ordered_json table_schema() {
    ordered_json names = ordered_json::array(), units = ordered_json::array(), fields = ordered_json::object();
    for (const Metric& m : metrics()) names.push_back(m.name);
    for (const ShownUnit& u : shown_units())
        if (!u.name.empty()) units.push_back(u.name);
    ordered_json value{{"type", ordered_json::array({"string", "number", "boolean", "null"})}};
    for (const ChoosableField& f : choosable_fields()) {
        ordered_json j{{"description", f.help}};
        j.update(one_or_more(value));
        fields[f.name] = j;
    }
    ordered_json lines;
    lines["anyOf"] = ordered_json::array(
        {{{"type", "array"},
          {"minItems", 1},
          {"items", {{"anyOf", ordered_json::array({scalar(), definition("line")})}}}},
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"over", "values"}},
          {"properties", {{"over", {{"type", "string"}}}, {"values", one_or_more(scalar())}}}}});
    ordered_json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "gnnbench table or figure"},
                        {"description", "Generated from host/spec/table_keys.cpp: see docs/table-reference.md"}};
    schema.update(schema_of("table"));
    schema["definitions"] = {
        {"lines", lines},
        {"line", schema_of("line")},
        {"measure", schema_of("measure")},
        {"plot", schema_of("plot")},
        {"metric", {{"enum", names}}},
        {"unit", {{"enum", units}}},
        {"values",
         {{"type", "object"},
          {"additionalProperties", false},
          {"properties", fields},
          {"patternProperties", {{"^(dataset|scheme|partitioner|kernel)\\..", one_or_more(value)}}}}},
        {"conditions",
         {{"anyOf",
           ordered_json::array({definition("values"),
                                {{"type", "string"}, {"description", "SQL over a cell's fields"}},
                                {{"type", "array"}, {"minItems", 1}, {"items", definition("conditions")}}})}}}};
    return schema;
}

std::string table_reference_page() {
    std::string page =
        table_file_opening + std::string(published_columns) +
        "`:\n`table` is the file's stem, `row` and `column` the lines' names, `value` a number in `unit` or a "
        "word, "
        "`page` its page,\n`verbatim` the original text, `erratum` its correction.\n\n"
        "`measured.csv` beside it has numbers that no trial measures, counted by a command, in the columns\n`" +
        std::string(measured_columns) +
        "`: `of` says what was counted. `gnnbench dataset balance\nFILE --csv-for plexus/table-5-1` writes such "
        "lines.\n";
    page += "\n## Keys\n\n" + key_rows("table");
    page += "\n## A row or a column\n\nA name, or a mapping.\n\n" + key_rows("line");
    page += "\n## `cell`\n\n" + key_rows("measure") + scaling;
    page += "\n## `plot`\n\n" + key_rows("plot");
    page += conditions;
    page += "\n## Metrics\n\n| metric | unit | meaning |\n| --- | --- | --- |\n";
    for (const Metric& m : metrics()) page += fmt::format("| `{}` | {} | {} |\n", m.name, m.unit, m.help);
    page += "\n## Units\n\n";
    for (const ShownUnit& u : shown_units())
        if (!u.name.empty()) page += fmt::format("{}`{}`", page.ends_with('\n') ? "" : ", ", u.name);
    return page + "\n";
}

}  // namespace gnnbench
