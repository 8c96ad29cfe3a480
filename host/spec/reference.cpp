#include <fmt/format.h>

#include "spec/fields.hpp"
#include "spec/schema.hpp"

namespace gnnbench {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* opening = R"(# The experiment file

<!-- Generated: GNNBENCH_REWRITE=1 ctest --test-dir build/release -R unit.spec -->

An experiment is one YAML file. `gnnbench validate` checks it, `gnnbench plan` shows its cells, and `gnnbench run`
measures them. With this first line, an editor completes and checks keys while you type:

```yaml
# yaml-language-server: $schema=../schemas/experiment.schema.json
name: quickstart
dataset: {generate: dcsbm, vertices: 20000, average_degree: 40, features: 64, classes: 8}
model: {layers: gcn, hidden: [64], activation: relu}
matrix:
  scheme: [serial, cagnet-1d, mg-gcn]
  partitioner: [random, metis]
  gpus: [1, 2, 4]
kernel: cpu
epochs: 20
trials: 3
```

## What varies

- Every list in `matrix` multiplies with the others; any other value there holds for all cells. A key of `model` or
  `train` is written with its section: `train.lr: [0.1, 0.01]`, `model.hidden: [[64], [64, 64]]`. Whole sections may
  vary too: `model: [{hidden: [64]}, {hidden: [256], activation: sigmoid}]`.
- A list at the top level is equivalent to that list in `matrix`, for every key marked "varies" below.
- A generated dataset may have a list of seeds, `{generate: bter, name: web, seed: [1, 2, 3]}`: three samples of one graph,
  which share its name and differ in the field `dataset.seed`.
- `scaling` gives numbers of GPUs of which tables and figures show the efficiency ([below](#scaling)).
- A key may be given at the top level or in `matrix`, but not in both.
- Equal cells are merged. Where all vertices are in one part (one GPU), partitioners make no difference, so such a
  cell has none, and tables show `none`.
- A cell that a plugin does not support (`serial` on two GPUs) is skipped with the reason; this is not an error.

`--set key=value` on the command line replaces a key, wherever it is given: `--set gpus=2`, `--set train.lr=0.1`,
`--set scheme.overlap=false`, `--set 'matrix.seed=[0, 1, 2]'`. The value is YAML.

### Scaling

```yaml
scaling: {strong: [1, 2, 4, 8]}                  # one dataset on more and more GPUs: gpus: [1, 2, 4, 8]
scaling: {weak: [1, 2, 4, 8], per: vertices}     # a dataset whose vertices are those of one GPU × the GPUs
```

One of the two, in place of `gpus`. It multiplies with the lists of `matrix`. Under weak scaling `per` is any number among
the parameters of a dataset that is generated or expected; what the dataset gives is one GPU's, and a dataset with a
`name` has its size appended. `--set gpus=…` replaces the axis by other numbers, as a profile's or an importing file's
`gpus` does.

Tables have a column `eff`: under strong scaling the speed-up ÷ (GPUs ÷ GPUs of its base), under weak scaling the time of
the base ÷ the cell's, where the base is serial on one GPU, or else the same scheme on its fewest. `gnnbench figure
--efficiency` draws it, with one base for all lines of a panel. A weak series is one section of a table and one panel of a
figure, although each row has a dataset of its own.

### Zip, exclude, include

```yaml
matrix:
  scheme: [serial, cagnet-1d, {name: mg-gcn, overlap: false}]
  zip: {gpus: [1, 2, 4], threads_per_rank: [4, 2, 1]}      # three pairs, not nine; a list of such mappings is several zips
  exclude:
    - {where: scheme = 'serial' AND gpus > 1, reason: it has one rank}
    - {scheme: cagnet-1d, gpus: 1}                        # cells with all these values
  include:
    - {scheme: mg-gcn, epochs: 50}                        # mg-gcn's cells have 50 epochs
    - {scheme: serial, gpus: 1, kernel: reference}        # matches serial's cell on one GPU and changes its kernel
    - {scheme: cagnet-1d, gpus: 8}                        # matches no cell, so it adds one
```

As in GitHub's workflows, `exclude` comes first, then `include`. Each entry of `include` adds its values to every cell of
the lists whose varied values match it. If none does, it adds a new cell, with the values of the top level and defaults for
the rest; so it can restore a cell that `exclude` dropped. A plugin named without parameters matches any parameters.
`plan` lists the excluded cells with the reason.

### Expressions

`exclude`'s `where` and the option `--where`, which most commands have, take an SQL expression over the fields of one
cell, as in `gnnbench query` (SQLite evaluates it): comparisons, `AND OR NOT IN BETWEEN LIKE`, arithmetic, functions. Text
is written in single quotes; inside `{…}`, an expression with commas needs double quotes around it.

Fields are the keys below: `gpus`, `train.lr`, `model.hidden` (as `'64,32'`), `model.depth` (number of layers). `scheme`,
`partitioner`, `kernel` and `dataset` are names; `scheme.overlap` is a parameter, `scheme_label` the name with the
parameters that differ from their defaults, and `dataset.vertices` a generator's parameter. Booleans are `true` and
`false`. A parameter that a cell's scheme does not have is unknown, which does not match, even after `NOT`.

### Imports and profiles

```yaml
imports: [common.yaml]            # its keys apply unless this file overrides them; later files override earlier ones
profiles:
  small: {dataset: {generate: dcsbm, vertices: 20000}, epochs: 5, matrix: {gpus: [1, 2]}}
  paper: {dataset: reddit, trials: 10}
profile: small                    # used where --profile names none
```

`model`, `train`, `limits`, `launcher` and `matrix` are merged key by key; everything else is replaced. If a profile or an
importing file sets a key outside `matrix`, the key no longer varies; if it varies a key, the value at the top level is
dropped. With a profile the experiment is named `<name>-<profile>` (unless the profile sets `name`), so that results of
several profiles are kept side by side.

Values are typed as in YAML 1.2: `true` and `false` are booleans, `yes` is text; `20` is an integer and `"20"` is text.
Anchors work, and so do merge keys: `<<: *base`, or `<<: [*a, *b]` of which the first wins, adds what the mapping does not
have itself. A key given twice in one mapping is an error.

Each imported file is read once, however many files import it; 200 files of 16 MiB together are the limit. Others: a file of
16 MiB and 1,000,000 nodes, a mapping of 10,000 keys, 1,000,000 cells of lists, and 100,000,000 pairs of a rule (`exclude`,
`include`) and a cell. Messages repeat nothing of a file that is not an experiment.
)";

std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
    return text;
}

std::string field_rows(std::string_view section) {
    std::string rows = "| key | value | default | varies | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const Field& f : fields()) {
        const bool top = last_word(f.path) == f.path;
        if (top != section.empty() || (!top && section_of(f.path) != section)) continue;
        const std::string fallback = f.required()                           ? "required"
                                     : f.computed                           ? f.computed
                                     : std::string_view(f.fallback) == "''" ? "empty"
                                                                            : fmt::format("`{}`", f.fallback);
        rows += fmt::format("| `{}` | {} | {} | {} | {} |\n", last_word(f.path), cell(expectation(f)),
                            cell(fallback), f.varies ? "yes" : "", cell(f.help));
    }
    return rows;
}

std::string allowed(const json& p) {
    if (p.contains("enum")) {
        std::string words;
        for (const json& w : p["enum"])
            words += fmt::format("{}`{}`", words.empty() ? "" : ", ", w.get<std::string>());
        return words;
    }
    if (p.at("type").is_array()) {  // [one, "array"]
        json one = p;
        one["type"] = p["type"][0];
        return allowed(one) + ", or a list of such";
    }
    const std::string type = p["type"];
    if (type == "boolean") return "true or false";
    const std::string what = type == "integer" ? "an integer" : "a number";
    if (!p.contains("minimum")) return type == "string" ? "text" : what;
    if (!p.contains("maximum")) return fmt::format("{} of at least {}", what, p["minimum"].dump());
    return fmt::format("{} from {} to {}", what, p["minimum"].dump(), p["maximum"].dump());
}

std::string param_rows(const json& form) {
    std::string rows;
    for (const auto& [key, p] : form["properties"].items()) {
        if (p.contains("const") || !p.contains("default") || key == "split") continue;
        const std::string fallback =
            p["default"].is_string() ? p["default"].get<std::string>() : p["default"].dump();
        rows += fmt::format("| `{}` | {} | `{}` | {} |\n", key, cell(allowed(p)), fallback,
                            cell(p["description"].get<std::string>()));
    }
    if (rows.empty()) return "No parameters.\n";
    return "| parameter | value | default | meaning |\n| --- | --- | --- | --- |\n" + rows;
}

/// One heading for each definition "prefix:name".
std::string forms(const json& schema, const std::string& prefix) {
    std::string text;
    for (const auto& [key, form] : schema["definitions"].items()) {
        if (!key.starts_with(prefix + ":")) continue;
        text += fmt::format("\n### {}\n\n{}\n\n{}", key.substr(prefix.size() + 1),
                            form["description"].get<std::string>(), param_rows(form));
    }
    return text;
}

}  // namespace

std::string reference_page(const nlohmann::ordered_json& schema) {
    std::string page = opening;
    page += "\n## Keys\n\n" + field_rows("");
    for (const Section& s : sections())
        page += fmt::format("\n## `{}`\n\n{}.\n\n{}", s.name, s.help, field_rows(s.name));
    page +=
        "\n## `dataset`: generators\n\n`{generate: name, …}`; `name` is its name in tables, `split` says "
        "which of its splits is used, counted from 0.\n" +
        forms(schema, "generate");
    page += fmt::format(
        "\n## `dataset`: expected graphs\n\n`{{expect: profile, …}}`, {}.\n[Machines you don't "
        "have](simulation.md) "
        "says more.\n\n{}",
        schema["definitions"]["expect"]["description"].get<std::string>(),
        param_rows(schema["definitions"]["expect"]));
    page +=
        "\n## `dataset`: files\n\n`{path: file, …}`; the file's name determines the format, or `format` does. In "
        "the path, "
        "`${VARIABLE}` and\n`${VARIABLE:-otherwise}` are replaced; a relative one starts at the experiment's "
        "folder, "
        "in `--set` at the current one.\n" +
        forms(schema, "format");
    page +=
        "\n## `scheme`\n\nA name, or `{name: …}` with parameters; so for every plugin. `{command: [./program, "
        "word, "
        "…], name: …}` runs\na program of your own instead, which prints one JSON line per epoch: "
        "[baselines](baselines.md).\n" +
        forms(schema, "scheme");
    page += "\n## `partitioner`\n" + forms(schema, "partitioner");
    page += "\n## `kernel`\n" + forms(schema, "kernel");
    return page;
}

}  // namespace gnnbench
