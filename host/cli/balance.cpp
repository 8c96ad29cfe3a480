#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/vertex_order.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "data/catalog.hpp"
#include "data/store.hpp"

namespace gnnbench {

namespace {

struct BalanceChoice {
    std::string dataset, shards = "8x8";
    std::uint64_t seed = 0;
    bool self_loops = true, as_json = false;
};

/// "8x4" → 8 blocks of rows, 4 of columns.
std::pair<Part, Part> parse_shards(const std::string& text, std::int64_t vertices) {
    int rows = 0, columns = 0, read = 0;
    const bool whole = std::sscanf(text.c_str(), "%dx%d%n", &rows, &columns, &read) == 2 &&
                       static_cast<std::size_t>(read) == text.size();
    if (!whole || rows < 1 || columns < 1 || rows > vertices || columns > vertices)
        throw SpecError(fmt::format("--shards expects ROWSxCOLUMNS, each from 1 to the {} vertices; found '{}'", vertices, text));
    return {rows, columns};
}

int balance(const BalanceChoice& choice, const Catalog& catalog) {
    const Store store = Store::open(catalog.find(choice.dataset));
    const GraphView graph = store.view().graph;
    const auto [rows, columns] = parse_shards(choice.shards, graph.vertices());
    ModelSpec model;
    model.self_loops = choice.self_loops;
    const Adjacency adjacency(graph, model);
    const IndexMap whole(
        Partition{.parts = 1, .part_of = std::vector<Part>(static_cast<std::size_t>(graph.vertices())), .column_part_of = {}});
    TextColumns table({"order", "max/mean", "max nonzeros", "mean nonzeros"});
    nlohmann::json all = nlohmann::json::array();
    const auto add = [&](const char* name, Permutation permutation) {
        const ShardBalance b = shard_balance(adjacency, permuted_orders(whole, permutation, choice.seed), rows, columns);
        table.add({name, fmt::format("{:.3f}", b.max_over_mean()), std::to_string(b.largest), fmt::format("{:.1f}", b.mean)});
        all.push_back({{"order", name}, {"max_over_mean", b.max_over_mean()}, {"max_nonzeros", b.largest}, {"mean_nonzeros", b.mean}});
    };
    add("original", Permutation::original);
    add("single permutation", Permutation::single);
    add("double permutation", Permutation::separate);
    if (choice.as_json) print_json(std::cout, {{"dataset", store.manifest().name}, {"shards", choice.shards}, {"balance", all}});
    else std::cout << table.text();
    return exit_ok;
}

}  // namespace

void add_balance(CLI::App& dataset, const GlobalOptions& options, Action& action) {
    CLI::App* command = dataset.add_subcommand(
        "balance", "Nonzeros per shard, largest over mean: in the dataset's order, permuted once, and rows and columns apart");
    auto choice = std::make_shared<BalanceChoice>();
    command->add_option("name", choice->dataset, "As `gnnbench dataset list` shows it, or a store's path")->required();
    command->add_option("--shards", choice->shards, "Blocks of rows x blocks of columns (default: 8x8)");
    command->add_option("--seed", choice->seed, "Of the permutations");
    command->add_flag("!--no-self-loops", choice->self_loops, "Count the matrix without a diagonal");
    command->add_flag("--json", choice->as_json, "As JSON");
    command->callback([&, choice] { action = [&, choice] { return balance(*choice, Catalog::at(options.data_dir)); }; });
}

}  // namespace gnnbench
