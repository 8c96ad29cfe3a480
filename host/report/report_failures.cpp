#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "report/format.hpp"
#include "report/html.hpp"
#include "report/report_origins.hpp"
#include "report/table_render.hpp"

namespace gnnbench {
namespace {

/// Trials of one experiment that ended the same way for the same reason.
struct Failure {
    std::vector<std::string> cells;
    std::int64_t trials = 0;
    std::string log_tail;
};
using Failures = std::map<std::pair<std::string, std::string>, Failure>;  ///< by status and reason

std::string cell_name(const CellOrigin& c) {
    return fmt::format("{} on {}{}, {}", c.scheme, plural(c.gpus, "gpu"),
                       c.gpus > 1 && !c.partitioner.empty() ? " (" + c.partitioner + ")" : "", c.dataset);
}

Failures failures_of(const ExperimentOrigin& e) {
    Failures all;
    for (const CellOrigin& c : e.cells)
        for (const TrialOrigin& t : c.trials) {
            if (t.status == TrialStatus::ok || t.status == TrialStatus::running) continue;
            Failure& f = all[{to_text(t.status), first_line(t.reason)}];
            const std::string name = cell_name(c);
            if (f.cells.empty() || f.cells.back() != name) f.cells.push_back(name);
            ++f.trials;
            if (!t.log_tail.empty()) f.log_tail = t.log_tail;
        }
    return all;
}

/// Names the first few.
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) text += (i > 0 ? "; " : "") + names[i];
    return names.size() > shown ? text + fmt::format("; and {} more", names.size() - shown) : text;
}

std::string logs(const Failures& failures) {
    std::string out;
    for (const auto& [how, f] : failures) {
        if (f.log_tail.empty()) continue;
        out += "<details><summary>End of the log of " + html_escaped(f.cells.back()) + " (" +
               html_escaped(how.first) + ")</summary><pre>" + html_escaped(f.log_tail) + "</pre></details>\n";
    }
    return out;
}

ReportPart failures_part(const ExperimentOrigin& e, const Failures& failures) {
    Table table;
    table.keys = {{"ended", true}, {"trials", false}, {"cells", true}, {"why", true}};
    for (const auto& [how, f] : failures)
        table.rows.push_back({"", {how.first, fmt::format("{}", f.trials), some_of(f.cells), how.second}, {}});
    return {"failures-" + anchor(e.name), e.name,
            "<div class=\"prose\">" + table_html(table) + "</div>\n" + logs(failures)};
}

}  // namespace

ReportSection failures_section(std::span<const ExperimentOrigin> experiments) {
    ReportSection section{"failures", "Failures", "Trials without a result, with their reasons.", {}};
    for (const ExperimentOrigin& e : experiments)
        if (const Failures failures = failures_of(e); !failures.empty())
            section.parts.push_back(failures_part(e, failures));
    if (section.parts.empty()) {
        section.lead.clear();
        section.parts.push_back({"no-failures", section.title, "<p>No trial ended without a result.</p>\n"});
    }
    return section;
}

}  // namespace gnnbench
