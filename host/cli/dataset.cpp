#include <charconv>
#include <iostream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "cli/say.hpp"
#include "cli/settings.hpp"
#include "data/catalog.hpp"
#include "data/checked_store.hpp"
#include "data/generate.hpp"
#include "data/import.hpp"
#include "data/store_tiles.hpp"
#include "run/progress.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

/// Arguments of import and generate.
struct MakeChoice {
    std::string what;  ///< path or generator
    std::string format, name;
    std::vector<std::string> settings;  ///< "key=value"
    std::string memory;                 ///< of an import; empty: its default
    bool as_json = false;
};

json summary(const Manifest& manifest, const std::filesystem::path& store) {
    json j = to_json(manifest);
    j["store"] = store.string();
    j.erase("checksums");  // of thousands of blocks
    return j;
}

std::string made_up(const Manifest& manifest) {
    return manifest.synthetic.empty() ? "" : fmt::format("{}", fmt::join(manifest.synthetic, ", "));
}

/// What a generator was asked for beside what it reached.
void show_report(TextColumns& columns, const json& report) {
    if (report.is_null()) return;
    const auto number = [&](const char* part, const char* key) { return report.at(part).at(key).get<double>(); };
    columns.add({"degrees", fmt::format("wanted {:.5g} on average, {:.0f} at most; reached {:.5g} and {:.0f}; "
                                        "Kolmogorov-Smirnov distance {:.2g}",
                                        number("degrees", "wanted_mean"), number("degrees", "wanted_maximum"),
                                        number("degrees", "reached_mean"), number("degrees", "reached_maximum"),
                                        number("degrees", "kolmogorov_smirnov"))});
    const bool wanted = report.at("clustering").contains("wanted_mean");
    columns.add(
        {"clustering",
         (wanted ? fmt::format("wanted {:.4f} on average, ", number("clustering", "wanted_mean"))
                 : std::string()) +
             fmt::format("reached {:.4f}", number("clustering", "reached_mean")) +
             (wanted ? fmt::format("; mean error by degree {:.1f}%", 100 * number("clustering", "mean_error"))
                     : std::string())});
    columns.add({"components", fmt::format("{}; the largest has {} vertices", report.at("components").dump(),
                                           report.at("largest_component").dump())});
}

void print_manifest(const Manifest& manifest, const std::filesystem::path& store) {
    TextColumns columns({"name", manifest.name});
    columns.add({"store", store.string()});
    columns.add({"vertices", std::to_string(manifest.vertices)});
    columns.add({"edges", fmt::format("{} stored ({} listed, {} loops dropped, {} repeats merged)", manifest.edges,
                                      manifest.listed_edges, manifest.loops_dropped, manifest.repeats_merged)});
    columns.add({"self-loops", std::to_string(manifest.self_loops)});
    columns.add({"weighted", manifest.weighted ? "yes" : "no"});
    columns.add({"directed", manifest.symmetric_pattern ? "no" : "yes"});
    columns.add({"features", std::to_string(manifest.features)});
    columns.add({"classes", std::to_string(manifest.classes)});
    columns.add({"labels", manifest.multi_label ? "any number for each vertex" : "one for each vertex"});
    columns.add({"splits", std::to_string(manifest.splits)});
    if (!manifest.synthetic.empty()) columns.add({"synthetic", made_up(manifest)});
    if (!manifest.tiles.empty()) columns.add({"tiles", fmt::format("{}", fmt::join(manifest.tiles, " × "))});
    columns.add({"digest", manifest.digest});
    columns.add({"source", manifest.source});
    columns.add({"licence", manifest.licence});
    columns.add({"options", manifest.options.dump()});
    show_report(columns, manifest.report);
    std::cout << columns.text();
}

int show(const std::filesystem::path& store, bool as_json) {
    const Manifest manifest = read_manifest(store / "manifest.json");
    if (as_json)
        print_json(std::cout, summary(manifest, store));
    else
        print_manifest(manifest, store);
    return exit_ok;
}

int list(const Catalog& catalog, bool as_json) {
    json all = json::array();
    TextColumns columns({"dataset", "vertices", "edges", "features", "classes", "splits", "synthetic"});
    for (const CatalogEntry& entry : catalog.list()) {
        const Manifest& m = entry.manifest;
        json j =
            entry.problem.empty() ? summary(m, catalog.folder() / entry.folder) : json{{"problem", entry.problem}};
        j["folder"] = entry.folder;
        all.push_back(std::move(j));
        if (entry.problem.empty())
            columns.add({entry.folder, std::to_string(m.vertices), std::to_string(m.edges),
                         std::to_string(m.features), std::to_string(m.classes), std::to_string(m.splits),
                         made_up(m)});
        else
            std::cerr << "gnnbench: " << entry.problem << '\n';
    }
    if (as_json)
        print_json(std::cout, all);
    else if (columns.empty())
        std::cerr << "no datasets in " << catalog.folder().string() << '\n';
    else
        std::cout << columns.text();
    return exit_ok;
}

/// Less would be taken by what an import needs besides.
std::uint64_t import_memory(const std::string& text) {
    constexpr std::uint64_t least = std::uint64_t{32} << 20;
    const std::uint64_t bytes = parse_memory(text, "--memory");
    if (bytes < least)
        throw SpecError(fmt::format("--memory is {}, allowed are {} and more", text, memory_text(least)));
    return bytes;
}

int make(json source, const MakeChoice& choice, const Catalog& catalog) {
    if (!choice.format.empty()) source["format"] = choice.format;
    if (!choice.name.empty()) source["name"] = choice.name;
    for (const std::string& setting : choice.settings) add_setting(source, setting);
    std::optional<std::uint64_t> memory;
    if (!choice.memory.empty()) memory = import_memory(choice.memory);
    Progress progress;
    const ResolvedDataset made =
        ensure_dataset(source, catalog, [&](const std::string& line) { progress.message(line); }, memory);
    if (made.was_there) progress.message(fmt::format("{} was there already: {}", made.name, made.store.string()));
    return show(made.store, choice.as_json);
}

/// What --set accepts, for the help text.
std::string params_help(std::span<const ParamDecl> params) {
    TextColumns columns({"  key", "default", ""});
    for (const ParamDecl& param : params)
        columns.add({std::string("  ") + param.name, param.default_value, param.help});
    return columns.text();
}

std::string generators_help() {
    std::string text;
    for (const std::string& kind : generator_kinds())
        text += fmt::format("{}: {}\n{}\n", kind, generator_summary(kind), params_help(generator_params(kind)));
    return text;
}

std::string importers_help() {
    std::string text;
    for (const ImportForm& form : import_forms())
        text += fmt::format("{}: {}\n{}\n", form.name, form.summary, params_help(form.params));
    return text;
}

void add_make_options(CLI::App& command, MakeChoice& choice) {
    command.add_option("--name", choice.name, "Its name (default: derived from its source)")->type_name("NAME");
    command.add_option("--set", choice.settings, "An option from the lists below (repeatable)")
        ->type_name("OPTION=VALUE")
        ->take_all();
    command.add_flag("--json", choice.as_json, "Print the new dataset's description as JSON");
}

void add_import(CLI::App& dataset, const GlobalOptions& options, Action& action) {
    CLI::App* command = dataset.add_subcommand("import", "Import a dataset from files; a second call reuses it");
    auto choice = std::make_shared<MakeChoice>();
    command->add_option("path", choice->what, "A file, or a folder for formats of several files")
        ->required()
        ->type_name("FILE");
    command->add_option("--format", choice->format, "One of the formats below (default: from the file's name)")
        ->check(one_of(importer_formats()));
    command
        ->add_option(
            "--memory", choice->memory,
            "How much memory it may take, as 2G or 500M; edges of a text that do not fit are sorted on disk, "
            "beside the store (default: three quarters of what is available)")
        ->type_name("SIZE");
    add_make_options(*command, *choice);
    command->footer(importers_help);
    command->callback([&, choice] {
        action = [&, choice] {
            const std::string path = std::filesystem::absolute(choice->what).lexically_normal().string();
            return make({{"path", path}}, *choice, Catalog::at(options.data_dir));
        };
    });
}

void add_generate(CLI::App& dataset, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        dataset.add_subcommand("generate", "Generate a random dataset; the same parameters give the same dataset");
    auto choice = std::make_shared<MakeChoice>();
    command->add_option("generator", choice->what, "One of those below")
        ->required()
        ->check(one_of(generator_kinds()));
    add_make_options(*command, *choice);
    command->footer(generators_help);
    command->callback([&, choice] {
        action = [&, choice] {
            return make({{"generate", choice->what}}, *choice, Catalog::at(options.data_dir));
        };
    });
}

/// "16x8" → 16 down, 8 across.
std::pair<std::int64_t, std::int64_t> parse_tiles(const std::string& text) {
    std::int64_t down = 0, across = 0;
    const char* const end = text.data() + text.size();
    const char* const times = std::from_chars(text.data(), end, down).ptr;
    if (times == end || *times != 'x' || std::from_chars(times + 1, end, across).ptr != end)
        throw SpecError(
            fmt::format("--tiles expects DOWNxACROSS, two numbers from 1 to {}; found '{}'", most_tiles, text));
    return {down, across};
}

void add_shard(CLI::App& dataset, const GlobalOptions& options, Action& action) {
    CLI::App* command = dataset.add_subcommand(
        "shard", "Store a dataset's graph in tiles too, of which a rank of a 2D or 3D scheme reads its own");
    auto name = std::make_shared<std::string>();
    auto tiles = std::make_shared<std::string>("16x16");
    auto as_json = std::make_shared<bool>(false);
    command->add_option("name", *name, "As `gnnbench dataset list` shows it, or a store's path")
        ->required()
        ->type_name("DATASET");
    command->add_option("--tiles", *tiles, "How many tiles of rows and of columns; 1x1 removes them")
        ->type_name("DOWNxACROSS")
        ->capture_default_str();
    command->add_flag("--json", *as_json, "Print the dataset's description as JSON");
    command->callback([&, name, tiles, as_json] {
        action = [&, name, tiles, as_json] {
            const auto [down, across] = parse_tiles(*tiles);
            const std::filesystem::path store = Catalog::at(options.data_dir).find(*name);
            tile_store(store, down, across);
            return show(store, *as_json);
        };
    });
}

}  // namespace

void add_dataset(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* dataset = app.add_subcommand("dataset", "Import, generate and inspect datasets");
    dataset->require_subcommand(1);
    add_import(*dataset, options, action);
    add_generate(*dataset, options, action);
    add_shard(*dataset, options, action);
    add_balance(*dataset, options, action);
    add_profiles(*dataset, options, action);

    auto name = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    CLI::App* info = dataset->add_subcommand("info", "Describe a dataset")->alias("show");
    info->add_option("name", *name, "As `gnnbench dataset list` shows it, or a store's path")
        ->required()
        ->type_name("DATASET");
    info->add_flag("--json", *as_json, "As JSON");
    info->callback([&, name, as_json] {
        action = [&, name, as_json] { return show(Catalog::at(options.data_dir).find(*name), *as_json); };
    });
    CLI::App* check = dataset->add_subcommand(
        "check",
        "Read a whole dataset: are its bytes those that were written, and its flags those of its arrays?");
    check->add_option("name", *name, "As `gnnbench dataset list` shows it, or a store's path")
        ->required()
        ->type_name("DATASET");
    check->callback([&, name] {
        action = [&, name] {
            const Manifest m = check_now(Catalog::at(options.data_dir).find(*name), say).manifest();
            std::cout << fmt::format("{}: {} vertices, {} edges: {}\n", m.name, m.vertices, m.edges,
                                     m.checksums.empty()
                                         ? "as its digest says; its manifest has no checksums yet, "
                                           "as of a new import"
                                         : "as it was written");
            return exit_ok;
        };
    });
    CLI::App* all = dataset->add_subcommand("list", "List the datasets");
    all->add_flag("--json", *as_json, "As JSON");
    all->callback(
        [&, as_json] { action = [&, as_json] { return list(Catalog::at(options.data_dir), *as_json); }; });
}

}  // namespace gnnbench
