#include "report/report_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "report/format.hpp"
#include "report/html.hpp"
#include "report/layout.hpp"
#include "report/paper_heading.hpp"
#include "report/paper_table.hpp"
#include "report/rows.hpp"
#include "report/table.hpp"
#include "report/timeline.hpp"
#include "report/verify_table.hpp"

namespace gnnbench {
namespace {

/// The link from a cell's number to its measurement.
void lead_from(Table::Cell& shown, const ComparisonCell* cell, const CellAnchors& anchors) {
    if (!cell || cell->ok_trials.empty() || shown.fields.empty()) return;
    if (const auto found = anchors.find(cell->ok_trials.front()); found != anchors.end())
        shown.fields.front().link = "#" + found->second;
}

std::string paragraphs(const std::vector<std::string>& lines, std::size_t from) {
    std::string out;
    for (std::size_t i = from; i < lines.size(); ++i)
        out += "<p class=\"source\">" + html_escaped(lines[i]) + "</p>\n";
    return out;
}

std::string folded(const std::string& summary, const std::string& html) {
    return "<details><summary>" + html_escaped(summary) + "</summary>\n" + html + "</details>\n";
}

/// What a screen of its width shows.
std::string picture(const Drawing& drawing, const std::string& id, const std::string& label) {
    std::string html;
    const auto add = [&](const char* width, const std::string& svg, const std::string& prefix) {
        html += fmt::format("<div class=\"scroll picture {}\" tabindex=\"0\">\n{}</div>\n", width,
                            inlined_svg(svg, prefix, label));
    };
    add("wide", drawing.wide, id);
    if (!drawing.narrow.empty()) add("narrow", drawing.narrow, id + "-narrow");
    return html;
}

/// "12 combinations: 10 verified, 2 unverified"
std::string tally_of(std::span<const VerificationRow> rows) {
    std::map<VerificationStatus, int> by_status;
    for (const VerificationRow& row : rows) ++by_status[row.found.status];
    std::string text = fmt::format("Verification of {}:", plural(rows.size(), "combination"));
    const char* between = " ";
    for (const auto& [status, count] : by_status) {
        text += fmt::format("{}{} {}", between, count, verdict_text(status));
        between = ", ";
    }
    return text;
}

/// The table, with each number linked to its cell.
Table linked_table(const ResolvedTable& r, const CellAnchors& anchors) {
    Table table = paper_table(r);
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        for (std::size_t c = 0; c < table.groups.size(); ++c)
            if (r.cells[i][c].ours && table.groups[c].parts.front().head == "ours" && !r.cells[i][c].cells.empty())
                lead_from(table.rows[i].cells[c], r.cells[i][c].cells.front(), anchors);
    return table;
}

}  // namespace

ReportPart experiment_part(const ComparisonData& data, const ExperimentOrigin& origin,
                           std::span<const VerificationRow> verified, const CellAnchors& anchors,
                           const Drawing& drawing) {
    const std::string id = "experiment-" + anchor(data.experiment);
    Table table = comparison_table(data);
    const ComparisonLayout layout = make_layout(data);
    for (std::size_t i = 0; i < layout.rows.size(); ++i)
        for (std::size_t s = 0; s < layout.schemes.size(); ++s)
            lead_from(table.rows[i].cells[s], layout.rows[i].cells[s].cell, anchors);
    if (!table.heading.empty() && table.heading.front().starts_with(data.experiment + ": "))
        table.heading.front().erase(0, data.experiment.size() + 2);
    std::string html = "<pre class=\"command\"><code>" + html_escaped(run_command(origin.command)) +
                       "</code></pre>\n" + table_html(table);
    if (!drawing.empty())
        html += picture(drawing, id, data.experiment + ": time per epoch over GPUs") +
                "<p class=\"source\">Time per epoch over GPUs, both axes logarithmic, with 95% intervals; "
                "open "
                "marks: oversubscribed; dotted: ideal.</p>\n";
    if (!verified.empty()) {
        Table rows = verification_table(verified);
        rows.heading.clear();
        html += folded(tally_of(verified), table_html(rows));
    }
    if (!origin.spec.empty())
        html += folded("The experiment's file", "<pre>" + html_escaped(origin.spec) + "</pre>\n");
    return {id, data.experiment, std::move(html)};
}

namespace {

/// Of the id of a part that has the name of others: it is the `number`-th of them.
std::string suffix(int number) { return number > 1 ? fmt::format("..{}", number) : ""; }

}  // namespace

ReportPart definition_part(const ResolvedTable& r, const CellAnchors& anchors, const Drawing& drawing,
                           const std::string& undrawn, int number) {
    const TableDefinition& t = *r.definition;
    ReportPart part{"table-" + anchor(t.name) + suffix(number), t.title, ""};
    const auto comma = t.source.find(", ");  // "Plexus, Table 5.1"
    if (comma != std::string::npos) part.title = t.source.substr(comma + 2) + ": " + t.title;
    Table table = linked_table(r, anchors);
    if (!table.heading.empty()) table.heading.front().clear();  // the part's title
    if (t.plot) {
        part.html += paragraphs(remarks_on_figure(r), 0);
        if (drawing.empty())
            part.html += "<p>" + html_escaped(undrawn.empty() ? "Nothing to draw yet." : undrawn) + "</p>\n";
        else
            part.html += picture(drawing, part.id, part.title);
        part.html += folded("The numbers", table_html(table));
    } else {
        part.html += table_html(table);
    }
    return part;
}

ReportPart claims_part(const ClaimsView& paper, int number) {
    const QueryResult counts = claim_counts_table({&paper, 1});
    return {"claims-" + anchor(paper.file->name) + suffix(number), "Claims, and which of them hold",
            paragraphs({paper.file->source}, 0) + "<div class=\"counts\">\n" + table_html(rows_table(counts)) +
                "</div>\n" +
                folded("Each claim", "<div class=\"claims\">\n" +
                                         table_html(rows_table(claims_table(paper, false))) + "</div>\n")};
}

ReportPart timeline_part(const Timeline& t) {
    const std::string id = "timeline-" + anchor(t.trial);
    const std::string title =
        fmt::format("{}: {}, {}{}, {}, trial {}", t.experiment, t.dataset, t.scheme,
                    t.ranks > 1 ? ", " + t.partitioner : "", plural(t.ranks, "gpu"), t.trial.substr(0, 8));
    return {id, title,
            "<div class=\"scroll picture\">\n" + inlined_svg(timeline_svg(t), id, title) +
                "</div>\n<pre class=\"command\"><code>gnnbench trace " + html_escaped(t.trial.substr(0, 8)) +
                fmt::format(" --epoch {} --output epoch.json</code></pre>\n", t.epoch)};
}

namespace {

/// Transposed, for few entries with many fields.
Table flipped(const QueryResult& rows) {
    Table table;
    table.keys.assign(rows.rows.size() + 1, {});
    for (std::size_t c = 0; c < rows.columns.size(); ++c) {
        Table::Row& line = table.rows.emplace_back();
        line.keys.push_back(rows.columns[c]);
        for (const SqlRow& row : rows.rows) line.keys.push_back(field_text(row[c]));
    }
    return table;
}

}  // namespace

ReportSection environment_section(const EnvironmentSummary& e) {
    ReportSection section{
        "environment", "Environment", "Machines, builds, datasets and plugins of the trials.", {}};
    const auto add = [&](const char* title, const QueryResult& rows, const Table& table) {
        if (!rows.rows.empty())
            section.parts.push_back({"environment-" + anchor(title), title, table_html(table)});
    };
    add("Machines", e.machines, flipped(e.machines));
    add("Builds of gnnbench", e.builds, rows_table(e.builds));
    add("Datasets", e.datasets, rows_table(e.datasets));
    add("Plugins", e.plugins, rows_table(e.plugins));
    return section;
}

}  // namespace gnnbench
