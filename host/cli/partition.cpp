// gnnbench partition: the quality of each partitioner's partitions of a dataset, before training.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/strategy.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/partition_export.hpp"
#include "cli/partition_report.hpp"
#include "cli/partition_volume.hpp"
#include "cli/ranges.hpp"
#include "cli/say.hpp"
#include "cli/settings.hpp"
#include "cli/written.hpp"
#include "data/catalog.hpp"
#include "data/checked_store.hpp"
#include "data/npy.hpp"
#include "data/options.hpp"
#include "partition/balance.hpp"
#include "partition/picture.hpp"
#include "partition/stated.hpp"
#include "plugin/loader.hpp"
#include "run/partition_run.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

struct PartitionChoice {
    std::string dataset;
    std::vector<std::string> partitioners, settings;
    std::vector<Part> parts{2, 4, 8};
    std::uint64_t seed = 0;
    double limit_s = no_limit_s;
    int ranks = 1;
    std::string scheme;
    std::vector<std::string> scheme_settings;
    std::vector<std::int64_t> hidden{16};
    std::filesystem::path output, exported;
    bool as_json = false, as_csv = false, per_part = false, volume = false;
    std::string csv_for, row;  ///< "demirci/table-2", "amazon0601 GP"

    static constexpr double no_limit_s = 1e6;
};

/// A partitioner with its parameters.
struct Candidate {
    std::string name;
    std::unique_ptr<Partitioner> plugin;
    Params params;
};

std::vector<Candidate> candidates(const PartitionChoice& choice, const PluginCatalog& plugins) {
    const std::vector<std::string> names =
        choice.partitioners.empty() ? plugins.names(PluginKind::partitioner) : choice.partitioners;
    // "imbalance=0.01" of the one partitioner, "metis.imbalance=0.01" of one of several.
    const auto named = [&](const std::string& setting) {
        return std::ranges::any_of(names, [&](const std::string& n) { return setting.starts_with(n + "."); });
    };
    for (const std::string& setting : choice.settings)
        if (names.size() != 1 && !named(setting))
            throw SpecError(
                fmt::format("--set {} belongs to one partitioner: name it with --partitioner, or write NAME.{}",
                            setting, setting));
    std::vector<Candidate> all;
    for (const std::string& name : names) {
        const PluginDescription plugin = plugins.find(PluginKind::partitioner, name);
        json given = json::object();
        for (const std::string& setting : choice.settings) {
            if (setting.starts_with(name + "."))
                add_setting(given, setting.substr(name.size() + 1));
            else if (!named(setting))
                add_setting(given, setting);
        }
        all.push_back(
            {name, plugins.partitioner(name), resolve_params(plugin.params, given, "partitioner " + name)});
    }
    const auto distributed = [](const Candidate& c) { return c.plugin->distributed(); };
    if (choice.ranks > 1 && std::ranges::none_of(all, distributed))
        throw SpecError(fmt::format(
            "--ranks {} is for partitioners that run over ranks, as distributed-hypergraph; {} run in one process",
            choice.ranks, fmt::join(names, ", ")));
    return all;
}

/// A scheme whose volume is stated, with its parameters and the model of the dataset.
struct StatedScheme {
    std::unique_ptr<Strategy> strategy;
    Params params;
    ModelSpec model;
};

std::optional<StatedScheme> scheme_of(const PartitionChoice& choice, const PluginCatalog& plugins,
                                      const DatasetView& data) {
    if (choice.scheme.empty()) {
        if (!choice.scheme_settings.empty()) throw SpecError("--scheme-set is for the scheme that --scheme names");
        return {};
    }
    json given = json::object();
    for (const std::string& setting : choice.scheme_settings) add_setting(given, setting);
    const PluginDescription plugin = plugins.find(PluginKind::strategy, choice.scheme);
    if (data.feature_count < 1 || data.classes < 1)
        throw DataError(fmt::format("dataset '{}' has no features or classes, which a model needs", data.name));
    StatedScheme scheme{
        plugins.strategy(choice.scheme), resolve_params(plugin.params, given, "scheme " + choice.scheme), {}};
    scheme.model.widths = {data.feature_count};
    scheme.model.widths.insert(scheme.model.widths.end(), choice.hidden.begin(), choice.hidden.end());
    scheme.model.widths.push_back(data.classes);
    return scheme;
}

/// `continues`: a failure is one of the facts, as others follow.
PartitionFacts facts_of(const PartitionChoice& choice, const Store& store, const DatasetView& data,
                        const Candidate& candidate, Part parts, const std::optional<StatedScheme>& scheme,
                        bool continues) {
    PartitionFacts facts{.partitioner = candidate.name,
                         .parts = parts,
                         .run = {},
                         .failed = {},
                         .cost = {},
                         .volume = {},
                         .stated = {},
                         .unbalanced = {}};
    const ModelSpec none;
    const PartitionTask task{.dataset = data,
                             .model = scheme ? scheme->model : none,
                             .need = {.parts = parts, .vertex_cut = candidate.plugin->cuts_vertices()},
                             .params = candidate.params,
                             .seed = choice.seed};
    try {
        facts.run = choice.ranks > 1 && candidate.plugin->distributed()
                        ? run_distributed(candidate.name, *candidate.plugin, task, store.path(), choice.ranks,
                                          choice.limit_s)
                        : run_partitioner(candidate.name, *candidate.plugin, task, choice.limit_s);
    } catch (const OutOfMemory& e) {
        if (!continues) throw;
        facts.failed = std::string("out of memory: ") + e.what();
    } catch (const Error& e) {
        if (!continues) throw;
        facts.failed = e.what();
    }
    if (facts.missing()) return facts;
    const bool drawn = choice.output.extension() == ".svg";
    if (drawn && parts > most_drawn_parts)
        throw SpecError(fmt::format("a picture shows at most {} parts; found {}", most_drawn_parts, parts));
    facts.cost = measure_cost(data.graph, facts.run.partition, drawn);
    facts.unbalanced = why_not_balanced(data.graph, facts.run.partition.part_of, parts, candidate.params);
    if (choice.volume && !task.need.vertex_cut) facts.volume = partition_volume(data.graph, facts.run.partition);
    if (scheme)
        facts.stated = stated_cost(*scheme->strategy, scheme->params, scheme->model, data, facts.run.partition);
    return facts;
}

std::string command_of(const PartitionChoice& choice) {
    std::string text = fmt::format("gnnbench partition {} --parts {} --partitioner {}", choice.dataset,
                                   fmt::join(choice.parts, ","), fmt::join(choice.partitioners, ","));
    for (const std::string& setting : choice.settings) text += " --set " + setting;
    if (choice.seed != 0) text += fmt::format(" --seed {}", choice.seed);
    if (choice.ranks > 1) text += fmt::format(" --ranks {}", choice.ranks);
    return text;
}

/// The first partitioner over the second, as lines of a measured.csv.
int write_lines(const PartitionChoice& choice, const Store& store, const DatasetView& data,
                const std::vector<Candidate>& all) {
    const GraphView& graph = data.graph;
    if (all.size() != 2 || choice.parts.size() != 1 || choice.partitioners.empty() || choice.row.empty())
        throw SpecError(
            "--csv-for expects a table's row in --row, one number in --parts, and in --partitioner "
            "the partitioner and its baseline, as in --partitioner metis,random");
    const Part parts = choice.parts.front();
    std::vector<PartitionVolume> volumes;
    for (const Candidate& candidate : all) {
        if (candidate.plugin->cuts_vertices())
            throw SpecError("--csv-for counts partitions of vertices; " + candidate.name +
                            " deals edges to parts");
        const PartitionFacts facts = facts_of(choice, store, data, candidate, parts, {}, false);
        if (facts.skipped()) throw SpecError("no partition to count: " + candidate.name + " " + facts.run.skipped);
        volumes.push_back(partition_volume(graph, facts.run.partition));
    }
    const std::string name = store.manifest().name;
    const auto& made_up = store.manifest().synthetic;  // features and labels are made up of many a real graph
    const bool synthetic = std::ranges::find(made_up, "graph") != made_up.end();
    const std::string of = fmt::format(
        "{}{}, {} vertices, {} edges, {} over {}, {} parts, seed {}: what demirci-p2p states for a forward "
        "and a backward product",
        name, synthetic ? " (synthetic)" : "", graph.vertices(), graph.edges(), all[0].name, all[1].name, parts,
        choice.seed);
    std::cout << volume_lines({choice.csv_for, choice.row, name, of, command_of(choice) + " --volume", parts},
                              volumes[0], volumes[1]);
    return exit_ok;
}

/// As METIS writes them, and the partitioner `file` reads: a line for each vertex.
std::string part_lines(const std::vector<Part>& part_of) {
    std::string lines;
    for (const Part part : part_of) lines += fmt::format("{}\n", part);
    return lines;
}

/// The one partition, as a picture, an array or lines.
void write_partition(const PartitionChoice& choice, const PartitionFacts& facts) {
    if (facts.skipped()) throw SpecError("no partition to write: " + facts.partitioner + " " + facts.run.skipped);
    if (facts.cost.replication > 0 && choice.output.extension() != ".svg")
        throw SpecError("--output writes a part for each vertex; " + facts.partitioner +
                        " deals edges to parts, of which only a picture (.svg) can be written");
    if (choice.output.extension() == ".svg")
        write_output(choice.output, picture(facts.cost, fmt::format("{} in {} parts by {}", choice.dataset,
                                                                    facts.parts, facts.partitioner)));
    else if (choice.output.extension() != ".npy")
        write_output(choice.output, part_lines(facts.run.partition.part_of));
    else
        write_npy<Part>(choice.output, facts.run.partition.part_of, {std::ssize(facts.run.partition.part_of)});
}

/// Nothing where no export was asked for. Checked before partitions are made, which may take long.
std::optional<ExpectationFiles> export_files(const PartitionChoice& choice, const std::vector<Candidate>& all) {
    if (choice.exported.empty()) return {};
    if (choice.partitioners.size() != 1)
        throw SpecError("--export expects one partitioner in --partitioner, and several numbers in --parts");
    require_expectable(all.front().name, all.front().plugin->cuts_vertices(), choice.parts);
    return expectation_files(choice.exported);
}

int partition(const PartitionChoice& choice, const Catalog& catalog) {
    const Store store = open_checked(catalog.find(choice.dataset), say);
    const DatasetView data = store.view();
    const GraphView& graph = data.graph;
    const PluginCatalog plugins;
    const std::vector<Candidate> all = candidates(choice, plugins);
    if (!choice.output.empty() && (all.size() != 1 || choice.parts.size() != 1))
        throw SpecError("--output expects one partition: one partitioner in --partitioner, one number in --parts");
    if (!choice.csv_for.empty()) return write_lines(choice, store, data, all);
    const std::optional<ExpectationFiles> exported = export_files(choice, all);

    const std::optional<StatedScheme> scheme = scheme_of(choice, plugins, data);
    const bool several = all.size() * choice.parts.size() > 1;
    std::vector<PartitionFacts> found;
    for (const Part parts : choice.parts)
        for (const Candidate& candidate : all) {
            found.push_back(facts_of(choice, store, data, candidate, parts, scheme, several));
            if (!choice.output.empty()) write_partition(choice, found.back());
            found.back().run.partition = {};  // costs say enough of it
        }
    if (exported)
        export_expectation(
            {.store = store,
             .partitioner = all.front().name,
             .params = beyond_defaults(plugins.find(PluginKind::partitioner, all.front().name).params,
                                       all.front().params),
             .seed = choice.seed,
             .command = command_of(choice) + " --export " + choice.exported.string(),
             .found = found},
            *exported);
    if (choice.as_csv) {
        std::cout << partition_csv(found);
    } else if (choice.as_json) {
        json list = json::array();
        for (const PartitionFacts& facts : found) list.push_back(to_json(facts, choice.per_part));
        print_json(std::cout, {{"dataset", store.manifest().name},
                               {"vertices", graph.vertices()},
                               {"edges", graph.edges()},
                               {"seed", choice.seed},
                               {"partitions", std::move(list)}});
    } else {
        std::cout << fmt::format("{}, {} vertices, {} edges, seed {}\n{}", store.manifest().name, graph.vertices(),
                                 graph.edges(), choice.seed, partition_tables(found, graph.edges()));
        if (choice.per_part) std::cout << "\n" << part_table(found);
    }
    const bool failed = std::ranges::any_of(found, [](const PartitionFacts& f) { return !f.failed.empty(); });
    return failed ? exit_cell_failed : exit_ok;
}

}  // namespace

void add_partition(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("partition", "What partitioners make of a dataset: edges cut, volume, balance, time");
    auto choice = std::make_shared<PartitionChoice>();
    command->add_option("dataset", choice->dataset, "As `gnnbench dataset list` shows it, or a store's path")
        ->required()
        ->type_name("DATASET");
    command->add_option("--parts", choice->parts, "How many parts, several to compare (default: 2 4 8)")
        ->check(at_least(1))
        ->delimiter(',');
    command->add_option("--partitioner", choice->partitioners, "Which of them (default: all there are)")
        ->delimiter(',')
        ->type_name("PARTITIONER,...");
    // Its name before `tune` had the option; commands in results and scripts have it.
    command
        ->add_option_function<std::vector<std::string>>(
            "--with",
            [choice](const std::vector<std::string>& names) {
                say("--with is now --partitioner");
                choice->partitioners.insert(choice->partitioners.end(), names.begin(), names.end());
            },
            "The same")
        ->delimiter(',')
        ->type_name("PARTITIONER,...")
        ->group("");
    command
        ->add_option("--set", choice->settings,
                     "A parameter of the partitioner, or of one of several (repeatable)")
        ->type_name("[NAME.]KEY=VALUE")
        ->take_all();
    command->add_option("--seed", choice->seed, "Of what is drawn at random (default: 0)")->type_name("SEED");
    command
        ->add_option("--scheme", choice->scheme,
                     "Also what this scheme states of an epoch, a rank a part, without running it")
        ->type_name("SCHEME");
    command->add_option("--scheme-set", choice->scheme_settings, "A parameter of the scheme (repeatable)")
        ->type_name("PARAM=VALUE")
        ->take_all();
    command
        ->add_option("--hidden", choice->hidden,
                     "Widths of the hidden layers of the scheme's model, a GCN in float32 (default: 16)")
        ->check(at_least(1))
        ->delimiter(',');
    command->add_option("--limit", choice->limit_s, "Seconds after which a partitioner is ended (default: none)")
        ->check(between(0.1, PartitionChoice::no_limit_s));
    command
        ->add_option(
            "--ranks", choice->ranks,
            "Ranks of this host that a distributed partitioner runs over, each with its rows (default: 1)")
        ->check(at_least(1));
    command->add_flag(
        "--volume", choice->volume,
        "Also the rows and messages that a part sends in a forward and a backward product, as stated by "
        "demirci-p2p: mean and maximum; of partitions of vertices, not of vertex cuts");
    command->add_flag("--per-part", choice->per_part, "Also the numbers of every part, in text and JSON");
    auto* as_json = command->add_flag("--json", choice->as_json, "As JSON");
    command->add_flag("--csv", choice->as_csv, "As CSV, a line for each part")->excludes(as_json);
    auto* csv =
        command
            ->add_option(
                "--csv-for", choice->csv_for,
                "The volumes of the first partitioner in --partitioner relative to the second's, as lines of the "
                "measured.csv beside a table: demirci/table-2")
            ->type_name("TABLE")
            ->excludes(as_json);
    command->add_option("--row", choice->row, "Of that table: \"amazon0601 GP\"")->needs(csv)->type_name("ROW");
    command
        ->add_option(
            "--output", choice->output,
            "Write the one partition there: .svg draws who talks to whom, .npy is an array, any other has a line "
            "for each vertex, as METIS writes them and the partitioner `file` reads them")
        ->type_name("FILE");
    command
        ->add_option(
            "--export", choice->exported,
            "Write an experiment on an expected graph with this one's degrees and parts, for numbers of ranks "
            "that are not there: FILE.yaml, and FILE.profile.json beside it. One partitioner in "
            "--partitioner; several numbers in --parts tell how parts change with their number")
        ->type_name("FILE.yaml")
        ->excludes(csv);
    command->footer(
        "sum(λ−1) counts, over all vertices, the other parts that need a vertex' row: times the row's bytes it is "
        "what sa-1d\nand demirci-p2p send in one forward product; Âᵀ is the same of the transpose, sent in a "
        "backward "
        "one. Time and\nmemory are of the partitioner alone, in a process of its own; memory is what it held at "
        "most "
        "above the graph.\nEach partition is made anew: those that trials keep are not looked at.");
    command->callback(
        [&, choice] { action = [&, choice] { return partition(*choice, Catalog::at(options.data_dir)); }; });
}

}  // namespace gnnbench
