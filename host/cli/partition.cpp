// gnnbench partition: the quality of each partitioner's partitions of a dataset, before training.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/partition_volume.hpp"
#include "cli/ranges.hpp"
#include "cli/settings.hpp"
#include "data/catalog.hpp"
#include "data/npy.hpp"
#include "data/options.hpp"
#include "data/store.hpp"
#include "partition/ordered.hpp"
#include "plugin/loader.hpp"
#include "report/format.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

struct PartitionChoice {
    std::string dataset;
    std::vector<std::string> partitioners, settings;
    std::vector<Part> parts{2, 4, 8};
    std::uint64_t seed = 0;
    std::filesystem::path output;
    bool as_json = false, volume = false;
    std::string csv_for, row;  ///< "demirci/table-2", "amazon0601 GP"
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
            throw SpecError(fmt::format(
                "--set {} belongs to one partitioner: name it with --with, or write NAME.{}", setting, setting));
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
    return all;
}

/// One partition of the graph, and its quality.
struct Found {
    Partition partition;
    PartitionVolume volume;  ///< if requested
    json facts;
};

Found partition_of(const DatasetView& data, const Candidate& candidate, Part parts, std::uint64_t seed,
                   bool volume) {
    const GraphView& graph = data.graph;
    Found found{.partition = {}, .volume = {}, .facts = {{"partitioner", candidate.name}, {"parts", parts}}};
    const PartitionNeed need{.parts = parts, .column_parts = 0};
    const std::string reason = candidate.plugin->why_unsupported(
        {graph.vertices(), graph.edges(), !graph.weights.empty()}, need, candidate.params);
    if (!reason.empty()) {
        found.facts["skipped"] = reason;
        return found;
    }
    const auto start = std::chrono::steady_clock::now();
    try {
        found.partition = partition_in_order(
            *candidate.plugin,
            {.dataset = data, .model = {}, .need = need, .params = candidate.params, .seed = seed});
    } catch (const Unsupported& e) {
        found.facts["skipped"] = e.what();
        return found;
    }
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const PartitionQuality q = measure_quality(graph, found.partition);
    const IndexMap map(found.partition);
    std::int64_t empty = 0;
    for (Part p = 0; p < parts; ++p) empty += map.size(p) == 0;
    found.facts.update({{"edge_cut", q.edge_cut},
                        {"connectivity_minus_one", q.connectivity_minus_one},
                        {"vertex_imbalance", q.vertex_imbalance},
                        {"nonzero_imbalance", q.nonzero_imbalance},
                        {"empty_parts", empty},
                        {"partition_s", wall_s}});
    if (volume) {
        found.volume = partition_volume(graph, found.partition);
        found.facts.update({{"mean_sent_rows", found.volume.mean_rows},
                            {"max_sent_rows", found.volume.max_rows},
                            {"mean_messages", found.volume.mean_messages},
                            {"max_messages", found.volume.max_messages}});
    }
    return found;
}

std::vector<std::string> row_of(const json& facts, const GraphView& graph) {
    const auto number = [&](const char* name) { return facts.at(name).get<std::int64_t>(); };
    const auto ratio = [&](const char* name) { return fmt::format("{:.3f}", facts.at(name).get<double>()); };
    const auto share = [](std::int64_t of, std::int64_t all) {
        return fmt::format("{:.1f}%", all == 0 ? 0 : 100.0 * static_cast<double>(of) / static_cast<double>(all));
    };
    const std::string name = facts.at("partitioner"), parts = std::to_string(number("parts"));
    if (facts.contains("skipped")) return {name, parts, facts.at("skipped")};
    const double per_vertex = graph.vertices() == 0 ? 0
                                                    : static_cast<double>(number("connectivity_minus_one")) /
                                                          static_cast<double>(graph.vertices());
    return {name,
            parts,
            std::to_string(number("edge_cut")),
            share(number("edge_cut"), graph.edges()),
            std::to_string(number("connectivity_minus_one")),
            fmt::format("{:.3f}", per_vertex),
            ratio("vertex_imbalance"),
            ratio("nonzero_imbalance"),
            duration_text(facts.at("partition_s").get<double>())};
}

std::vector<std::string> volume_row(const json& facts) {
    const std::string name = facts.at("partitioner"),
                      parts = std::to_string(facts.at("parts").get<std::int64_t>());
    if (facts.contains("skipped")) return {name, parts, facts.at("skipped")};
    const auto mean = [&](const char* key) { return fmt::format("{:.1f}", facts.at(key).get<double>()); };
    const auto most = [&](const char* key) { return std::to_string(facts.at(key).get<std::int64_t>()); };
    return {
        name, parts, mean("mean_sent_rows"), most("max_sent_rows"), mean("mean_messages"), most("max_messages")};
}

/// The partitioner with its given parameters: "metis(imbalance=0.01)".
std::string command_of(const PartitionChoice& choice) {
    std::string text = fmt::format("gnnbench partition {} --parts {} --with {}", choice.dataset,
                                   fmt::join(choice.parts, ","), fmt::join(choice.partitioners, ","));
    for (const std::string& setting : choice.settings) text += " --set " + setting;
    if (choice.seed != 0) text += fmt::format(" --seed {}", choice.seed);
    return text + " --volume";
}

/// The first partitioner over the second, as lines of a measured.csv.
int write_lines(const PartitionChoice& choice, const Store& store, const DatasetView& data,
                const std::vector<Candidate>& all) {
    const GraphView& graph = data.graph;
    if (all.size() != 2 || choice.parts.size() != 1 || choice.partitioners.empty() || choice.row.empty())
        throw SpecError(
            "--csv-for expects a table's row in --row, one number in --parts, and in --with the partitioner and "
            "what "
            "its baseline, as in --with metis,random");
    const Part parts = choice.parts.front();
    std::vector<PartitionVolume> volumes;
    for (const Candidate& candidate : all) {
        const Found found = partition_of(data, candidate, parts, choice.seed, true);
        if (found.facts.contains("skipped"))
            throw SpecError("no partition to count: " + candidate.name + " " +
                            found.facts["skipped"].get<std::string>());
        volumes.push_back(found.volume);
    }
    const std::string name = store.manifest().name;
    const auto& made_up = store.manifest().synthetic;  // features and labels are made up of many a real graph
    const bool synthetic = std::ranges::find(made_up, "graph") != made_up.end();
    const std::string of = fmt::format(
        "{}{}, {} vertices, {} edges, {} over {}, {} parts, seed {}: what demirci-p2p states for a forward "
        "and a backward product",
        name, synthetic ? " (synthetic)" : "", graph.vertices(), graph.edges(), all[0].name, all[1].name, parts,
        choice.seed);
    std::cout << volume_lines({choice.csv_for, choice.row, name, of, command_of(choice), parts}, volumes[0],
                              volumes[1]);
    return exit_ok;
}

int partition(const PartitionChoice& choice, const Catalog& catalog) {
    const Store store = Store::open(catalog.find(choice.dataset));
    const DatasetView data = store.view();
    const GraphView& graph = data.graph;
    const PluginCatalog plugins;
    const std::vector<Candidate> all = candidates(choice, plugins);
    if (!choice.output.empty() && (all.size() != 1 || choice.parts.size() != 1))
        throw SpecError("--output expects one partition: one partitioner in --with, one number in --parts");

    if (!choice.csv_for.empty()) return write_lines(choice, store, data, all);
    json list = json::array();
    TextColumns volumes({"partitioner", "parts", "rows sent, mean", "max", "messages, mean", "max"});
    TextColumns columns({"partitioner", "parts", "edges cut", "of all", "sum(λ−1)", "per vertex",
                         "vertices max/mean", "nonzeros max/mean", "time"});
    for (const Part parts : choice.parts)
        for (const Candidate& candidate : all) {
            Found found = partition_of(data, candidate, parts, choice.seed, choice.volume);
            columns.add(row_of(found.facts, graph));
            if (choice.volume) volumes.add(volume_row(found.facts));
            if (!choice.output.empty()) {
                if (found.facts.contains("skipped"))
                    throw SpecError("no partition to write: " + candidate.name + " " +
                                    found.facts["skipped"].get<std::string>());
                write_npy<Part>(choice.output, found.partition.part_of, {graph.vertices()});
            }
            list.push_back(std::move(found.facts));
        }
    if (choice.as_json)
        print_json(std::cout, {{"dataset", store.manifest().name},
                               {"vertices", graph.vertices()},
                               {"edges", graph.edges()},
                               {"seed", choice.seed},
                               {"partitions", std::move(list)}});
    else
        std::cout << fmt::format("{}, {} vertices, {} edges, seed {}\n{}", store.manifest().name, graph.vertices(),
                                 graph.edges(), choice.seed, columns.text());
    if (choice.volume && !choice.as_json)
        std::cout << "\nper part, in a forward and a backward product by point-to-point messages\n"
                  << volumes.text();
    return exit_ok;
}

}  // namespace

void add_partition(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("partition", "What partitioners make of a dataset: edges cut, volume, balance, time");
    auto choice = std::make_shared<PartitionChoice>();
    command->add_option("dataset", choice->dataset, "As `gnnbench dataset list` shows it, or a store's path")
        ->required();
    command->add_option("--parts", choice->parts, "How many parts, several to compare (default: 2 4 8)")
        ->check(at_least(1))
        ->delimiter(',');
    command->add_option("--with", choice->partitioners, "Partitioners (default: all there are)")->delimiter(',');
    command
        ->add_option("--set", choice->settings,
                     "A parameter of the partitioner, or of one of several (repeatable)")
        ->type_name("[NAME.]KEY=VALUE")
        ->take_all();
    command->add_option("--seed", choice->seed, "Of what is drawn at random (default: 0)");
    auto* as_json = command->add_flag("--json", choice->as_json, "As JSON");
    command->add_flag("--volume", choice->volume,
                      "Also the rows and messages that a part sends, as stated by demirci-p2p: mean and maximum");
    auto* csv = command
                    ->add_option(
                        "--csv-for", choice->csv_for,
                        "The volumes of the first partitioner in --with relative to the second's, as lines of the "
                        "measured.csv beside a table: demirci/table-2")
                    ->type_name("TABLE")
                    ->excludes(as_json);
    command->add_option("--row", choice->row, "Of that table: \"amazon0601 GP\"")->needs(csv);
    command
        ->add_option("--output", choice->output, "Write the one partition there, as an .npy of every vertex' part")
        ->type_name("FILE")
        ->excludes(as_json);
    command->footer(
        "sum(λ−1) counts, over all vertices, the other parts that need a vertex' row: times the row's bytes it is "
        "what sa-1d\nand demirci-p2p send in one forward product.");
    command->callback(
        [&, choice] { action = [&, choice] { return partition(*choice, Catalog::at(options.data_dir)); }; });
}

}  // namespace gnnbench
