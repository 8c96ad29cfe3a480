// verify_product: the whole product of graphs, exact schemes, their parameters and partitioners at one number of
// ranks per launch (run, under mpiexec), which of its cells the launches take (choose), and one page about all launches
// (report).
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "mpi/check.hpp"
#include "launch/die_with_parent.hpp"
#include "verify/check.hpp"
#include "verify/findings.hpp"
#include "verify/report.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench::verify {
namespace {

/// Every number of ranks that the product has; each is a launch.
const std::vector<int> product_ranks = {1, 2, 3, 4, 6, 7, 8, 9, 12};
/// Those among which the pairwise selection is made: CI has two cores, on which twelve ranks take minutes.
const std::vector<int> pairwise_ranks = {1, 2, 3, 4, 8};

struct Options {
    bool pairwise = false;
    std::string shared;                        ///< folder of real datasets
    std::string cache = ".";                   ///< gets stores and references
    std::string out;                           ///< folder of findings; empty: none are written
    std::string choices;                       ///< file that `choose` wrote; empty: each launch chooses for itself
    std::set<std::string> graphs, strategies;  ///< only these; empty: all
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What the product is of: in CI without what takes longest.
std::vector<Subject> subjects_of(const Options& o, const Graphs& graphs) {
    std::vector<Subject> subjects = graphs.subjects();
    if (o.pairwise) std::erase_if(subjects, [](const Subject& s) { return !s.in_ci; });
    return subjects;
}

/// By number of ranks, the places of the chosen cells among the product's cells of that number. The choice depends on the
/// whole product, which takes seconds and gigabytes: one rank makes it for all, or a launch for all launches.
nlohmann::json chosen_cells(const Options& o, const PluginCatalog& catalog, const Graphs& graphs) {
    const std::vector<Subject> subjects = subjects_of(o, graphs);
    const std::vector<ProductCell> product =
        whole_product(catalog, subjects, o.pairwise ? pairwise_ranks : product_ranks);
    const std::vector<std::size_t> all =
        o.pairwise ? pairwise_selection(product) : night_selection(product, subjects);
    std::map<int, std::size_t> first;
    for (std::size_t i = 0; i < product.size(); ++i) first.emplace(product[i].ranks, i);
    nlohmann::json chosen;
    for (const std::size_t i : all)
        chosen[std::to_string(product[i].ranks)].push_back(i - first.at(product[i].ranks));
    return chosen;
}

std::string own_part(const nlohmann::json& chosen, int ranks) {
    return chosen.value(std::to_string(ranks), nlohmann::json::array()).dump();
}

/// Those of one launch, as text.
std::string chosen_of_launch(const Options& o, const PluginCatalog& catalog, const Graphs& graphs, int ranks) {
    if (o.choices.empty()) return own_part(chosen_cells(o, catalog, graphs), ranks);
    std::ifstream file(o.choices);
    if (!file) throw DataError(o.choices + ": cannot be read; verify_product choose writes it");
    return own_part(nlohmann::json::parse(file), ranks);
}

/// The cells of this launch, in the product's order. Collective.
std::vector<ProductCell> cells_of_launch(const Options& o, const PluginCatalog& catalog, const Graphs& graphs,
                                         const ProcessGroup& world) {
    std::string told;
    if (world.rank() == 0) told = chosen_of_launch(o, catalog, graphs, world.size());
    malloc_trim(0);
    const auto chosen = nlohmann::json::parse(world.all_gather(told)[0]).get<std::vector<std::size_t>>();
    std::vector<ProductCell> cells = product_cells(catalog, subjects_of(o, graphs), world.size(), chosen);
    std::erase_if(cells, [&](const ProductCell& c) {
        return (!o.graphs.empty() && !o.graphs.contains(c.graph)) ||
               (!o.strategies.empty() && !o.strategies.contains(c.strategy));
    });
    return cells;
}

/// Cells of one graph, kind of layer and strategy: their line of progress.
class Group {
public:
    explicit Group(const ProductCell& first)
        : graph_(first.graph), layers_(first.layers), strategy_(first.strategy), ranks_(first.ranks) {}
    bool has(const ProductCell& c) const {
        return c.graph == graph_ && c.layers == layers_ && c.strategy == strategy_;
    }
    void add(const Finding& f) {
        if (!trains(f.standing)) return void(++others_);
        ++ran_;
        problems_ += !f.problem.empty();
    }
    void print() const {
        std::fprintf(stderr, "%s\n",
                     fmt::format("{} ranks, {}, {}, {}: {} ran, {} disagreed, {} did not run, {:.1f} s", ranks_,
                                 graph_, layers_, strategy_, ran_, problems_, others_, seconds_since(begin_))
                         .c_str());
    }

private:
    std::string graph_, layers_, strategy_;
    int ranks_, ran_ = 0, problems_ = 0, others_ = 0;
    Clock::time_point begin_ = Clock::now();
};

/// By name, what earlier launches of this build found without a problem. Read on every rank before any writes.
std::map<std::string, Finding> known_findings(const Options& o, const ProcessGroup& world) {
    std::map<std::string, Finding> known;
    if (!o.out.empty())
        for (Finding& f : findings_so_far(o.out, world.size()))
            if (trains(f.standing) && f.problem.empty()) known.emplace(f.name(), std::move(f));
    world.barrier();
    return known;
}

int run(const Options& o, std::string& at) {
    const auto begin = Clock::now();
    const ProcessGroup world = mpi_world();
    const bool speaks = world.rank() == 0;
    if (std::find(product_ranks.begin(), product_ranks.end(), world.size()) == product_ranks.end())
        throw SpecError(fmt::format("the product has {} ranks; {} were started", fmt::join(product_ranks, ", "),
                                    world.size()));
    at = "loading the graphs";
    const PluginCatalog catalog;
    const std::filesystem::path cache = o.cache;
    if (speaks) std::filesystem::create_directories(cache);
    const Graphs graphs = load_graphs(o.shared, cache / "stores", world);
    if (speaks)
        for (const AbsentGraph& a : graphs.absent)
            std::fprintf(stderr, "%s is left out: %s\n", a.name.c_str(), a.reason.c_str());
    at = "choosing the cells";
    const std::vector<ProductCell> cells = cells_of_launch(o, catalog, graphs, world);
    const std::map<std::string, Finding> known = known_findings(o, world);
    CellChecker checker(catalog, graphs, cache / "references", world);
    std::optional<FindingsFile> file;
    if (speaks && !o.out.empty()) file.emplace(o.out, world.size(), mpi_library(), graphs.absent);

    std::optional<Group> group;
    int ran = 0, problems = 0;
    double wall_s = 0;
    for (const ProductCell& cell : cells) {
        if (speaks && group && !group->has(cell)) group->print();
        if (!group || !group->has(cell)) group.emplace(cell);
        at = Finding(cell).name();
        const auto before = known.find(at);
        const Finding f = before != known.end()   ? before->second
                          : trains(cell.standing) ? checker.check(cell)
                                                  : Finding(cell);
        if (!speaks) continue;
        wall_s += f.wall_s;
        group->add(f);
        ran += trains(f.standing);
        problems += !f.problem.empty();
        if (!f.problem.empty()) std::fprintf(stderr, "DISAGREES: %s: %s\n", at.c_str(), f.problem.c_str());
        if (file) file->add(f);
    }
    if (!speaks) return 0;
    if (group) group->print();
    if (file) file->finish(wall_s);
    std::fprintf(stderr, "%d ranks: %d cells ran, %d disagreed, %.1f s\n", world.size(), ran, problems,
                 seconds_since(begin));
    return problems == 0 ? 0 : 1;
}

/// One launch of one rank, for all launches to come.
int choose(const Options& o, std::string& at) {
    at = "choosing the cells";
    const std::filesystem::path cache = o.cache;
    std::filesystem::create_directories(cache);
    const Graphs graphs = load_graphs(o.shared, cache / "stores", mpi_world());
    std::ofstream file(o.choices);
    file << chosen_cells(o, PluginCatalog(), graphs) << std::endl;
    if (!file) throw DataError(o.choices + ": cannot be written");
    return 0;
}

/// Under mpiexec: all ranks end with rank 0's verdict; one that fails ends them all, naming the cell.
int on_all_ranks(int (*work)(const Options&, std::string&), const Options& o) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    std::string at;
    int code = 0;
    try {
        code = work(o, at);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "verify_product, %s: %s\n", at.c_str(), e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}

int report(const std::string& folder) {
    try {
        const auto launches = read_findings(folder);
        std::cout << render_report(launches);
        return count_problems(launches) == 0 ? 0 : 1;
    } catch (const DataError& e) {
        std::fprintf(stderr, "verify_product: %s\n", e.what());
        return 2;
    }
}

}  // namespace
}  // namespace gnnbench::verify

int main(int argc, char** argv) {
    using namespace gnnbench::verify;
    CLI::App app("Exact schemes against the serial reference and their own stated volume");
    app.require_subcommand(1);
    Options o;
    CLI::App* run_command = app.add_subcommand("run", "This launch's part of the product (under mpiexec)");
    run_command->add_flag("--pairwise", o.pairwise, "only a selection that covers every pair of values");
    run_command->add_option("--shared", o.shared, "folder of real datasets")->envname("GNNBENCH_SHARED_DATA");
    run_command->add_option("--cache", o.cache, "folder that keeps stores and references")->required();
    run_command->add_option("--choices", o.choices, "file that `choose` wrote, of the same product");
    run_command->add_option("--out", o.out, "folder for the findings");
    run_command->add_option("--graph", o.graphs, "only these graphs");
    run_command->add_option("--strategy", o.strategies, "only these strategies");
    CLI::App* choose_command = app.add_subcommand("choose", "Which cells each number of ranks runs (one process)");
    choose_command->add_flag("--pairwise", o.pairwise, "only a selection that covers every pair of values");
    choose_command->add_option("--shared", o.shared, "folder of real datasets")->envname("GNNBENCH_SHARED_DATA");
    choose_command->add_option("--cache", o.cache, "folder that keeps stores and references")->required();
    choose_command->add_option("--choices", o.choices, "the file to write")->required();
    std::string folder;
    CLI::App* report_command = app.add_subcommand("report", "A page of Markdown about all findings of a folder");
    report_command->add_option("folder", folder)->required();
    CLI11_PARSE(app, argc, argv);
    gnnbench::die_with_parent();
    return report_command->parsed() ? report(folder) : on_all_ranks(choose_command->parsed() ? choose : run, o);
}
