// gnnbench compare and gate: two sides of measured trials, cell by cell; with --interleave measured first, by turns.
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "cli/experiment_options.hpp"
#include "cli/formats.hpp"
#include "cli/interleaving.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "record/database.hpp"
#include "report/compare_table.hpp"

namespace gnnbench {

namespace {

struct CompareRequest {
    std::string a, b, where;
    CompareRules rules;
    Interleaving interleaving;
};

void add_options(CLI::App& command, CompareRequest& request) {
    command
        .add_option("A", request.a,
                    "A tag, an experiment or a commit; or tag:…, experiment:…, commit:…, where:EXPR, with commas "
                    "between, where: last. With --interleave a tag, which its trials get")
        ->required()
        ->type_name("SIDE");
    command.add_option("B", request.b, "The side that is compared with A")->required()->type_name("SIDE");
    add_where_option(command, request.where);
    command
        .add_option("--margin", request.rules.margin,
                    "Sides that differ by less than this fraction are SAME (default: 0.03)")
        ->check(between(0.0, 1.0));
    command.add_option("--seed", request.rules.seed, "Of the bootstrap (default: 0)")->type_name("SEED");
    add_interleaving_options(command, request.interleaving);
}

ComparedSides compared(const CompareRequest& request, const GlobalOptions& options) {
    if (request.interleaving.wanted())
        return compare_sides(options.database, "tag:" + request.a, "tag:" + request.b, request.where,
                             request.rules);
    if (std::filesystem::exists(options.database)) Database(options.database);  // migrates its schema
    return compare_sides(options.database, request.a, request.b, request.where, request.rules);
}

/// Measures first if that is asked for; false if it was interrupted.
bool measured(const CompareRequest& request, const GlobalOptions& options) {
    return !request.interleaving.wanted() ||
           measure_by_turns(request.interleaving, request.a, request.b, request.where, options);
}

/// The table, and where sides were measured at different times how to measure them by turns.
void print(const ComparedSides& sides, OutputFormat format, const std::string& command,
           const CompareRequest& request, const GlobalOptions& options) {
    std::cout << render_compared(sides, format);
    if (sides.apart() == 0) return;
    // Beside JSON or CSV it is no part of the result.
    (format == OutputFormat::text ? std::cout : std::cerr)
        << how_to_interleave(sides, command, request.where, options);
}

/// B moves more than A, in bytes or messages.
bool moves_more(const ComparedCell& c) {
    return (c.bytes_a && c.bytes_b && *c.bytes_b > *c.bytes_a) ||
           (c.messages_a && c.messages_b && *c.messages_b > *c.messages_a);
}

int gate(const CompareRequest& request, OutputFormat format, const GlobalOptions& options) {
    if (!measured(request, options)) return exit_interrupted;
    const ComparedSides sides = compared(request, options);
    print(sides, format, "gate", request, options);
    std::size_t regressions = 0, unclear = usize(sides.only_a);
    std::int64_t wanted = 0;
    for (const ComparedCell& c : sides.cells) {
        regressions += c.verdict.judgement == Judgement::slower || moves_more(c);
        unclear += c.verdict.judgement == Judgement::unclear;
        wanted = std::max(wanted, c.verdict.trials_wanted);
    }
    if (sides.cells.empty())
        throw SpecError(
            fmt::format("'{}' and '{}' have no cell in common{}", request.a, request.b,
                        sides.other_graphs ? "; their datasets have the same names and other content" : ""));
    std::cerr << fmt::format("gate: {} cells, {} worse in B, {} unclear{}{}{}\n", sides.cells.size(), regressions,
                             unclear,
                             sides.only_a ? fmt::format(" ({} were not measured in B)", sides.only_a) : "",
                             sides.apart() ? fmt::format(" ({} measured at different times)", sides.apart()) : "",
                             wanted ? fmt::format("; {} trials a side would tell", wanted) : "");
    return regressions ? exit_regression : unclear ? exit_unclear : exit_ok;
}

}  // namespace

void add_compare(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "compare", "Judge two sides of what was measured, cell by cell: FASTER, SLOWER, SAME, UNCLEAR");
    auto request = std::make_shared<CompareRequest>();
    add_options(*command, *request);
    const auto format = add_format_options(*command);
    command->callback([=, &options, &action] {
        action = [=, &options]() -> int {
            if (!measured(*request, options)) return exit_interrupted;
            print(compared(*request, options), *format, "compare", *request, options);
            return exit_ok;
        };
    });
}

void add_gate(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "gate", "The same for CI: exit code 3 where B is slower or moves more, 4 where that is unclear");
    auto request = std::make_shared<CompareRequest>();
    add_options(*command, *request);
    const auto format = add_format_options(*command);
    command->callback(
        [=, &options, &action] { action = [=, &options] { return gate(*request, *format, options); }; });
}

}  // namespace gnnbench
