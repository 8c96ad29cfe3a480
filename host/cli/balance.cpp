#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/training/vertex_order.hpp>
#include <gnnbench/usize.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/say.hpp"
#include "data/catalog.hpp"
#include "data/checked_store.hpp"
#include "launch/machine.hpp"
#include "record/lines.hpp"
#include "report/format.hpp"
#include "run/prepare.hpp"
#include "spec/published.hpp"

namespace gnnbench {

namespace {

struct BalanceChoice {
    std::string dataset, shards = "8x8";
    std::optional<std::uint64_t> seed;
    bool self_loops = true, as_json = false;
    std::string csv_for;  ///< "plexus/table-5-1"
    bool as_text() const { return !as_json && csv_for.empty(); }
};

/// A matrix to cut: a store's graph, with or without a diagonal, and the seed of its permutations.
struct Subject {
    std::string name, store;
    bool self_loops;
    std::uint64_t seed;
    bool operator==(const Subject&) const = default;
};

/// "8x4" → 8 blocks of rows, 4 of columns.
std::pair<Part, Part> parse_shards(const std::string& text, std::int64_t vertices) {
    int rows = 0, columns = 0;
    const char* const end = text.data() + text.size();
    const char* const times = std::from_chars(text.data(), end, rows).ptr;
    const bool whole = times != end && *times == 'x' && std::from_chars(times + 1, end, columns).ptr == end;
    if (!whole || rows < 1 || columns < 1 || rows > vertices || columns > vertices)
        throw SpecError(fmt::format("--shards expects ROWSxCOLUMNS, each from 1 to the {} vertices; found '{}'",
                                    vertices, text));
    return {rows, columns};
}

/// The datasets of an experiment, created if missing; each once for every model and seed of its cells.
std::vector<Subject> subjects_of(const std::filesystem::path& experiment, const BalanceChoice& choice,
                                 const Catalog& catalog) {
    const InstalledPlugins plugins;
    const PreparedExperiment prepared = prepare(load({.file = experiment, .overrides = {}}, catalog, plugins),
                                                catalog, plugins, Datasets::make, say);
    std::vector<Subject> all;
    for (const PreparedCell& p : prepared.cells) {
        const Subject s{p.cell.dataset.name, p.cell.dataset.store, choice.self_loops && p.cell.model.self_loops,
                        choice.seed.value_or(p.cell.train.seed)};
        if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
    }
    return all;
}

/// One row for each order; a table on stdout unless JSON is requested.
nlohmann::json balance_of(const Subject& subject, const BalanceChoice& choice) {
    const Store store = open_checked(subject.store, say);
    const GraphView graph = store.view().graph;
    const auto [rows, columns] = parse_shards(choice.shards, graph.vertices());
    ModelSpec model;
    model.self_loops = subject.self_loops;
    const Adjacency adjacency(graph, model);
    const IndexMap whole = IndexMap::one_part(graph.vertices());
    TextColumns table({"order", "max/mean", "max nonzeros", "mean nonzeros"});
    nlohmann::json orders = nlohmann::json::array();
    const auto add = [&](const char* name, Permutation permutation) {
        const ShardBalance b =
            shard_balance(adjacency, permuted_orders(whole, permutation, subject.seed), rows, columns);
        table.add({name, fmt::format("{:.3f}", b.max_over_mean()), std::to_string(b.largest),
                   fmt::format("{:.1f}", b.mean)});
        orders.push_back({{"order", name},
                          {"max_over_mean", b.max_over_mean()},
                          {"max_nonzeros", b.largest},
                          {"mean_nonzeros", b.mean}});
    };
    add("original", Permutation::original);
    add("single permutation", Permutation::single);
    add("double permutation", Permutation::separate);
    if (choice.as_text())
        std::cout << fmt::format("{}, {} shards, {} vertices, {} nonzeros, seed {}\n{}", subject.name,
                                 choice.shards, graph.vertices(), adjacency.nonzeros(), subject.seed,
                                 table.text());
    return {{"dataset", subject.name},
            {"shards", choice.shards},
            {"vertices", graph.vertices()},
            {"nonzeros", adjacency.nonzeros()},
            {"seed", subject.seed},
            {"balance", orders},
            {"synthetic", store.manifest().synthetic}};
}

/// The command that counted, as a table's remark shows it.
std::string command_of(const BalanceChoice& choice) {
    std::string text = "gnnbench dataset balance " + choice.dataset;
    if (choice.shards != BalanceChoice().shards) text += " --shards " + choice.shards;
    if (choice.seed) text += fmt::format(" --seed {}", *choice.seed);
    if (!choice.self_loops) text += " --no-self-loops";
    return text;
}

/// Lines of the measured.csv beside a table whose rows are the orders.
std::string measured_lines(const nlohmann::json& counted, const BalanceChoice& choice) {
    if (counted.size() != 1)
        throw SpecError(
            fmt::format("--csv-for expects one dataset, because a table has one place for each order; found {}",
                        counted.size()));
    const nlohmann::json& one = counted[0];
    const std::string table = std::filesystem::path(choice.csv_for).filename().string();
    const std::string of =
        fmt::format("{}{}, {} vertices, {} nonzeros, {} shards, seed {}", one.at("dataset").get<std::string>(),
                    one.at("synthetic").empty() ? "" : " (synthetic)", one.at("vertices").get<std::int64_t>(),
                    one.at("nonzeros").get<std::int64_t>(), choice.shards, one.at("seed").get<std::uint64_t>());
    std::string text = std::string(measured_columns) + "\n";
    for (const nlohmann::json& order : one.at("balance"))
        text += csv_line({table, order.at("order").get<std::string>(), "max/mean",
                          fmt::format("{:.6f}", order.at("max_over_mean").get<double>()), "",
                          one.at("dataset").get<std::string>(), "", of, command_of(choice),
                          utc_now().substr(0, 10), build_info().commit.substr(0, 12)});
    return text;
}

int balance(const BalanceChoice& choice, const Catalog& catalog) {
    if (std::filesystem::is_regular_file(choice.dataset)) {
        nlohmann::json all = nlohmann::json::array();
        for (const Subject& s : subjects_of(choice.dataset, choice, catalog)) all.push_back(balance_of(s, choice));
        if (choice.as_json) print_json(std::cout, all);
        if (!choice.csv_for.empty()) std::cout << measured_lines(all, choice);
        return exit_ok;
    }
    const std::filesystem::path store = catalog.find(choice.dataset);
    const nlohmann::json one = balance_of(
        {read_manifest(store / "manifest.json").name, store, choice.self_loops, choice.seed.value_or(0)}, choice);
    if (choice.as_json) print_json(std::cout, one);
    if (!choice.csv_for.empty()) std::cout << measured_lines(nlohmann::json::array({one}), choice);
    return exit_ok;
}

}  // namespace

void add_balance(CLI::App& dataset, const GlobalOptions& options, Action& action) {
    CLI::App* command = dataset.add_subcommand("balance",
                                               "Nonzeros per shard, largest over mean: in the dataset's order, "
                                               "permuted once, and rows and columns apart");
    auto choice = std::make_shared<BalanceChoice>();
    command
        ->add_option("name", choice->dataset,
                     "A name from `gnnbench dataset list`, a store's path, or an experiment file, whose datasets "
                     "are created")
        ->required()
        ->type_name("DATASET");
    command->add_option("--shards", choice->shards, "Blocks of rows x blocks of columns (default: 8x8)")
        ->type_name("N,...");
    command->add_option("--seed", choice->seed, "Of the permutations (default: 0, or the experiment's)")
        ->type_name("SEED");
    command->add_flag("!--no-self-loops", choice->self_loops, "Count the matrix without self-loops");
    auto* as_json = command->add_flag("--json", choice->as_json, "As JSON");
    command
        ->add_option("--csv-for", choice->csv_for,
                     "Print lines for the measured.csv beside a table: plexus/table-5-1")
        ->type_name("TABLE")
        ->excludes(as_json);
    command->callback(
        [&, choice] { action = [&, choice] { return balance(*choice, Catalog::at(options.data_dir)); }; });
}

}  // namespace gnnbench
