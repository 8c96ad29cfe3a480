#include "verify/report.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <tuple>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "launch/machine.hpp"
#include "verify/check.hpp"

namespace gnnbench::verify {
namespace {

/// Sums over cells.
struct Tally {
    std::int64_t ran = 0, agreed = 0, rounded = 0, alike = 0, refused = 0, approximate = 0;
    double loss_error = 0, gradient_error = 0, float64_error = 0;

    void take(const Finding& f) {
        alike += f.standing == Standing::alike;
        refused += f.standing == Standing::refused;
        if (!trains(f.standing)) return;
        approximate += f.standing == Standing::approximate;
        ++ran;
        agreed += f.problem.empty();
        rounded += f.problem.empty() && !f.rounding.empty();
        float64_error = std::max(float64_error, f.float64_error);
        if (!f.rounding.empty()) return;  // listed apart
        loss_error = std::max(loss_error, f.loss_error);
        gradient_error = std::max(gradient_error, f.gradient_error);
    }
};

template <class Visit>
void for_each_cell(const std::vector<LaunchFindings>& launches, Visit&& visit) {
    for (const LaunchFindings& l : launches)
        for (const Finding& f : l.cells) visit(f);
}

/// 1.0e-7 as Markdown shows it; a dash where nothing ran.
std::string error_text(const Tally& t, double error) { return t.ran > 0 ? fmt::format("{:.1e}", error) : "–"; }

std::string ranks_text(const std::set<int>& ranks) { return fmt::format("{}", fmt::join(ranks, ", ")); }

std::string head(const std::vector<LaunchFindings>& launches, const Tally& all) {
    const Machine machine = this_machine({.path = {}, .version = launches[0].mpi});
    const std::time_t now = std::time(nullptr);
    std::set<int> ranks;
    std::set<std::string> commits;
    double wall_s = 0;
    for (const LaunchFindings& l : launches) {
        ranks.insert(l.ranks);
        commits.insert(l.commit.empty() ? "unknown" : l.commit);
        wall_s += l.wall_s;
    }
    std::string text = fmt::format(
        "# Every exact scheme against the serial reference\n\n"
        "`./dev verify-all`, {:%Y-%m-%d}, {}, {} cores, {}, commit\n{}, {} of launches.\n"
        "Ranks {}. Kernel cpu, one thread a rank; more ranks than cores time-share them.\n"
        "On 64 and 512 simulated ranks: [verification-at-scale](verification-at-scale.md).\n\n",
        fmt::gmtime(now), machine.cpu, machine.cores, machine.mpi, fmt::join(commits, " and "),
        wall_s < 120 ? fmt::format("{:.0f} s", wall_s) : fmt::format("{:.1f} minutes", wall_s / 60),
        ranks_text(ranks));
    text += fmt::format(
        "**{} cells ran, {} agreed, {} did not.** A cell is graph × layers × scheme × its parameters × "
        "partitioner ×\n"
        "ranks. On graphs of at most 500 vertices all cells run; on larger ones a selection has every pair of "
        "values. Each\n"
        "is verified on the whole graph as `gnnbench verify` does, with {} epochs in each of its three runs\n"
        "([what that means](../docs/decisions/verified-training.md)). Beyond that, as much is received as sent; "
        "and for\n"
        "sa-1d and demirci-p2p, a forward pass moves width × Σ(λ − 1) rows' bytes, an epoch that and the backward "
        "nets'\n"
        "(Σ counted from graph and parts alone, and equal to the partition report's connectivity).\n\n",
        all.ran, all.agreed, all.ran - all.agreed, verified_epochs);
    text += fmt::format(
        "{} of these cells approximate (batches, samples, a shortcut): they have no reference, but their "
        "operations,\n"
        "messages, steps, memory and volumes are checked. {} further cells need no run of their own: their scheme "
        "asks\n"
        "for one part (one rank, or its own permutation), so that every partitioner gives the same. {} were "
        "refused; the\n"
        "reasons are below.\n\n",
        all.approximate, all.alike, all.refused);
    return text;
}

std::string table(const std::vector<LaunchFindings>& launches) {
    std::vector<std::string> graphs;
    std::map<std::tuple<std::size_t, std::string, std::string>, Tally> rows;
    for_each_cell(launches, [&](const Finding& f) {
        auto graph = std::find(graphs.begin(), graphs.end(), f.graph);
        if (graph == graphs.end()) graph = graphs.insert(graphs.end(), f.graph);
        rows[{static_cast<std::size_t>(graph - graphs.begin()), f.strategy, f.layers}].take(f);
    });
    // Layers that a scheme refuses on every graph and number of ranks are listed with the reasons alone.
    std::erase_if(rows, [](const auto& row) { return row.second.ran == 0; });
    std::string text =
        "| graph | scheme | layers | ran | agreed | of these by float64 | approximate | as another | refused | "
        "worst "
        "loss error | worst gradient error | worst in float64 |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (const auto& [key, t] : rows)
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                            graphs[std::get<0>(key)], std::get<1>(key), std::get<2>(key), t.ran, t.agreed,
                            t.rounded, t.approximate, t.alike, t.refused, error_text(t, t.loss_error),
                            error_text(t, t.gradient_error), error_text(t, t.float64_error));
    return text;
}

/// Why cells did not run: by scheme and reason, with the numbers of ranks where that was so.
std::string reasons(const std::vector<LaunchFindings>& launches) {
    struct Where {
        std::set<int> ranks;
        std::int64_t cells = 0;
    };
    std::map<std::pair<std::string, std::string>, Where> found;
    for_each_cell(launches, [&](const Finding& f) {
        if (f.standing != Standing::refused) return;
        Where& w = found[{f.strategy, f.reason}];
        w.ranks.insert(f.ranks);
        ++w.cells;
    });
    std::string text =
        "\n## What did not run\n\n| scheme | ranks | cells | reason |\n| --- | --- | ---: | --- |\n";
    for (const auto& [key, w] : found)
        text += fmt::format("| {} | {} | {} | {} |\n", key.first, ranks_text(w.ranks), w.cells, key.second);
    std::set<std::pair<std::string, std::string>> absent;
    for (const LaunchFindings& l : launches)
        for (const AbsentGraph& a : l.absent) absent.insert({a.name, a.reason});
    for (const auto& [name, reason] : absent)
        text += fmt::format("\n{} is not in this product: {}.\n", name, reason);
    return text;
}

/// Σ(λ − 1) where sa-1d's and demirci-p2p's volumes were compared with it.
std::string connectivity(const std::vector<LaunchFindings>& launches) {
    std::map<std::tuple<std::string, std::string>, std::map<int, std::int64_t>> sums;
    std::set<int> ranks;
    std::int64_t cells = 0;
    for_each_cell(launches, [&](const Finding& f) {
        if (f.connectivity < 0 || f.standing != Standing::runs) return;
        ++cells;
        ranks.insert(f.ranks);
        sums[{f.graph, f.partitioner}][f.ranks] = f.connectivity;
    });
    std::string text = fmt::format(
        "\n## Rows that travel: Σ(λ − 1)\n\nsa-1d (both backward variants) and demirci-p2p, {} cells. At one rank "
        "nothing travels.\n\n| graph | partitioner |",
        cells);
    for (const int r : ranks) text += fmt::format(" {} |", r);
    text += "\n| --- | --- |";
    for (std::size_t i = 0; i < ranks.size(); ++i) text += " ---: |";
    for (const auto& [key, by_ranks] : sums) {
        text += fmt::format("\n| {} | {} |", std::get<0>(key), std::get<1>(key));
        for (const int r : ranks) text += by_ranks.contains(r) ? fmt::format(" {} |", by_ranks.at(r)) : " – |";
    }
    return text + "\n";
}

std::string launches_table(const std::vector<LaunchFindings>& launches) {
    std::string text =
        "\n## Launches\n\n| ranks | ran | agreed | seconds | |\n| ---: | ---: | ---: | ---: | --- |\n";
    for (const LaunchFindings& l : launches) {
        Tally t;
        for (const Finding& f : l.cells) t.take(f);
        text += fmt::format("| {} | {} | {} | {:.0f} | {} |\n", l.ranks, t.ran, t.agreed, l.wall_s,
                            l.complete ? "" : "ended before its last cell");
    }
    return text;
}

std::string problems(const std::vector<LaunchFindings>& launches) {
    std::string text;
    for_each_cell(launches, [&](const Finding& f) {
        if (f.problem.empty()) return;
        std::string line = f.problem;
        std::replace(line.begin(), line.end(), '\n', ' ');
        text += fmt::format("- {}: {}\n", f.name(), line);
    });
    return text.empty() ? text : "\n## Disagreements\n\n" + text;
}

/// Cells that float32's rounding carried past the tolerance.
std::string roundings(const std::vector<LaunchFindings>& launches) {
    std::string text;
    for_each_cell(launches, [&](const Finding& f) {
        if (f.rounding.empty() || !f.problem.empty()) return;
        text += fmt::format("| {} | {} | {:.1e} |\n", f.name(), f.rounding, f.float64_error);
    });
    if (text.empty()) return text;
    return "\n## Agreed in float64\n\n"
           "Beyond 1e-4 in float32; in float64 on the same kernel they agree within 1e-10, and every verb is "
           "within\n"
           "its bounds. So the scheme is exact and the difference is rounding: where the exact sum before ReLU is "
           "zero\n"
           "but for float32's last bit, its derivative is 0 or 1 by the order of summation\n"
           "(docs/decisions/verification-product.md). The table above leaves their float32 errors out.\n\n"
           "| cell | float32 | in float64 |\n| --- | --- | ---: |\n" +
           text;
}

}  // namespace

std::string render_report(const std::vector<LaunchFindings>& launches) {
    Tally all;
    for_each_cell(launches, [&](const Finding& f) { all.take(f); });
    return head(launches, all) + table(launches) + problems(launches) + roundings(launches) + reasons(launches) +
           connectivity(launches) + launches_table(launches);
}

std::int64_t count_problems(const std::vector<LaunchFindings>& launches) {
    std::int64_t count = 0;
    for (const LaunchFindings& l : launches) count += !l.complete;
    for_each_cell(launches, [&](const Finding& f) { count += !f.problem.empty(); });
    return count;
}

}  // namespace gnnbench::verify
