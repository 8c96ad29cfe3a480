#include "report/compare_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/plural.hpp"
#include "report/rows.hpp"
#include "report/table_render.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

std::string scheme_text(const ComparedCell& c) {
    return c.scheme_a == c.scheme_b ? c.scheme_a : c.scheme_a + " → " + c.scheme_b;
}

/// "12.0 kB", "12.0 kB → 14.0 kB (+2000 B)" where they differ; empty where trials of one side differ.
std::string bytes_text(const ComparedCell& c) {
    if (!c.bytes_a || !c.bytes_b) return "";
    const auto text = [](std::int64_t bytes) {
        const Unit unit = byte_unit(static_cast<double>(bytes));
        return fmt::format("{} {}", in_unit(static_cast<double>(bytes), unit), unit.name);
    };
    if (*c.bytes_a != *c.bytes_b)
        return fmt::format("{} → {} ({:+} B)", text(*c.bytes_a), text(*c.bytes_b), *c.bytes_b - *c.bytes_a);
    if (!c.messages_a || !c.messages_b || *c.messages_a == *c.messages_b) return text(*c.bytes_a);
    return fmt::format("{} ({:+} messages)", text(*c.bytes_a), *c.messages_b - *c.messages_a);
}

std::string time_text(double seconds) {
    const Unit unit = time_unit(seconds);
    return fmt::format("{} {}", three_digits(seconds / unit.size), unit.name);
}

std::string verdict_text(const ComparedCell& c) {
    const Comparison& v = c.verdict;
    if (!c.paired) return fmt::format("{}, measured at different times", to_text(v.judgement));
    if (v.judgement != Judgement::unclear || v.trials_wanted == 0) return to_text(v.judgement);
    return fmt::format("{}, {} trials would tell", to_text(v.judgement), v.trials_wanted);
}

/// "8" of both sides in pairs; "6 pairs of 8, 12".
std::string trials_text(const ComparedCell& c) {
    std::string trials =
        c.trials_a == c.trials_b ? fmt::format("{}", c.trials_a) : fmt::format("{}, {}", c.trials_a, c.trials_b);
    if (!c.paired || (c.pairs == c.trials_a && c.pairs == c.trials_b)) return trials;
    return fmt::format("{} of {}", plural(c.pairs, "pair"), trials);
}

/// A prediction and a measurement are not two measurements.
std::string simulated_text(const ComparedCell& c) {
    if (c.simulated_a && c.simulated_b) return " (both SIMULATED)";
    if (c.simulated_a) return " (A SIMULATED, B measured)";
    return c.simulated_b ? " (A measured, B SIMULATED)" : "";
}

QueryResult for_people(const ComparedSides& sides) {
    QueryResult table{{"dataset", "scheme", "partitioner", "gpus", "further", "trials", "A", "B", "B ÷ A", "95%",
                       "bytes", "verdict"},
                      {}};
    for (const ComparedCell& c : sides.cells) {
        table.rows.push_back(
            {c.dataset, scheme_text(c), c.partitioner, std::int64_t{c.gpus}, c.others, trials_text(c),
             time_text(c.verdict.a_s), time_text(c.verdict.b_s), fmt::format("{:.3f}", c.verdict.ratio),
             fmt::format("{:.3f} to {:.3f}", c.verdict.low, c.verdict.high), bytes_text(c),
             verdict_text(c) + (c.oversubscribed ? " (oversubscribed)" : "") + simulated_text(c)});
    }
    // Columns with the same value everywhere are omitted.
    for (std::size_t column = table.columns.size(); column-- > 0;) {
        bool said = false;
        for (const SqlRow& row : table.rows) said |= row[column] != SqlValue(std::string());
        if (said) continue;
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
        for (SqlRow& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
    return table;
}

SqlValue number(const std::optional<std::int64_t>& n) { return n ? SqlValue(*n) : SqlValue(); }

QueryResult for_programs(const ComparedSides& sides) {
    QueryResult table{
        {"dataset",    "scheme_a",   "scheme_b",       "partitioner", "gpus",          "others",  "trials_a",
         "trials_b",   "paired",     "pairs",          "a_s",         "b_s",           "ratio",   "low",
         "high",       "p",          "corrected_p",    "verdict",     "trials_wanted", "bytes_a", "bytes_b",
         "messages_a", "messages_b", "oversubscribed", "simulated_a", "simulated_b"},
        {}};
    for (const ComparedCell& c : sides.cells)
        table.rows.push_back({c.dataset,
                              c.scheme_a,
                              c.scheme_b,
                              c.partitioner,
                              std::int64_t{c.gpus},
                              c.others,
                              c.trials_a,
                              c.trials_b,
                              std::int64_t{c.paired},
                              c.pairs,
                              c.verdict.a_s,
                              c.verdict.b_s,
                              c.verdict.ratio,
                              c.verdict.low,
                              c.verdict.high,
                              c.verdict.p,
                              c.verdict.corrected_p,
                              std::string(to_text(c.verdict.judgement)),
                              c.verdict.trials_wanted,
                              number(c.bytes_a),
                              number(c.bytes_b),
                              number(c.messages_a),
                              number(c.messages_b),
                              std::int64_t{c.oversubscribed},
                              std::int64_t{c.simulated_a},
                              std::int64_t{c.simulated_b}});
    return table;
}

std::string below(const ComparedSides& sides) {
    std::string text = fmt::format("\nA is {}, B is {}, on {}.", sides.a, sides.b, sides.machine);
    if (!sides.compared_fields.empty())
        text += fmt::format(" They differ in {}; cells that agree in everything else are compared.",
                            fmt::join(sides.compared_fields, ", "));
    if (sides.borrowed_a || sides.borrowed_b)
        text += fmt::format(
            " {} trials of A and {} of B are of other experiments: where an experiment measured no trial of a "
            "cell's number itself, the newest of another counts.",
            sides.borrowed_a, sides.borrowed_b);
    if (const std::int64_t apart = sides.apart())
        text += fmt::format(
            " The sides of {} were measured at different times, so a difference between them may be the "
            "machine's: "
            "there is no verdict without pairs of trials measured by turns.",
            apart == std::ssize(sides.cells) ? "all cells" : plural(apart, "cell"));
    if (sides.only_a || sides.only_b)
        text += fmt::format(
            " {} cells are only in A, {} only in B{}.", sides.only_a, sides.only_b,
            sides.other_graphs
                ? fmt::format("; of {}, B's dataset has the same name and other content", sides.other_graphs)
                : "");
    return wrapped(text, table_width());
}

}  // namespace

std::string render_compared(const ComparedSides& sides, OutputFormat format) {
    if (format == OutputFormat::csv || format == OutputFormat::json)
        return render_rows(for_programs(sides), format);
    return render_rows(for_people(sides), format) + below(sides);
}

}  // namespace gnnbench
