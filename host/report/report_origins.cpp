#include "report/report_origins.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "report/html.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

std::string cell_id(const CellOrigin& cell) { return "cell-" + anchor(cell.digest.substr(0, 16)); }

std::string setting(const CellOrigin& c) {
    return fmt::format("{}{}, {} × {}, kernel {}{}", c.dataset,
                       c.gpus > 1 && !c.partitioner.empty() ? ", " + c.partitioner + " partition" : "",
                       plural(c.gpus, "gpu"), plural(c.threads_per_rank, "thread"), c.kernel,
                       c.slowdown.empty() || c.slowdown == "none" ? "" : ", slowdown " + c.slowdown);
}

std::string code(const std::string& text) { return "<code>" + html_escaped(text) + "</code>"; }

std::string trial_text(const TrialOrigin& t) {
    std::string text = code(t.uuid.substr(0, 8)) + " ";
    if (t.status != TrialStatus::ok || !t.epoch_s) return text + to_text(t.status);
    const Unit unit = time_unit(*t.epoch_s);
    text += fmt::format("{} {}", three_digits(*t.epoch_s / unit.size), unit.name);
    return t.energy_j ? text + fmt::format(" ({} J)", three_digits(*t.energy_j)) : text;
}

/// Cell, data, build and trials, as far as they are known.
std::string facts(const CellOrigin& c) {
    std::string out = "cell " + code(c.digest);
    if (!c.dataset_digest.empty()) out += " · data " + code(c.dataset_digest);
    std::set<std::string> builds;
    for (const TrialOrigin& t : c.trials)
        builds.insert("gnnbench " + html_escaped(t.version) +
                      (t.commit.empty() ? "" : " at " + code(t.commit.substr(0, 12))));
    for (const std::string& build : builds) out += " · " + build;
    if (c.trials.empty()) return out + " · never measured";
    out += " · " + plural(std::ssize(c.trials), "trial") + ": ";
    constexpr std::size_t shown = 10;
    for (std::size_t i = 0; i < std::min(shown, c.trials.size()); ++i)
        out += (i > 0 ? ", " : "") + trial_text(c.trials[i]);
    if (c.trials.size() > shown) out += fmt::format(" and {} more", c.trials.size() - shown);
    return out;
}

std::string cell_html(const CellOrigin& c, const RunCommand& command, std::set<std::string>& said) {
    const std::string id = cell_id(c);
    std::string again = run_command(command);
    if (!c.where.empty()) again += " --where " + shell_word(c.where);
    return filled_page("report_origin",
                       {// A cell may belong to several experiments; links lead to the first.
                        {"id", said.insert(id).second ? fmt::format(" id=\"{}\"", id) : ""},
                        {"scheme", html_escaped(c.scheme)},
                        {"setting", html_escaped(setting(c))},
                        {"command", html_escaped(again + " --rerun")},
                        {"facts", facts(c)}});
}

}  // namespace

CellAnchors cell_anchors(std::span<const ExperimentOrigin> experiments) {
    CellAnchors anchors;
    for (const ExperimentOrigin& e : experiments)
        for (const CellOrigin& c : e.cells)
            for (const TrialOrigin& t : c.trials) anchors.emplace(t.id, cell_id(c));
    return anchors;
}

std::string shell_word(const std::string& text) {
    if (text.find_first_of(" \t\n'\"$`\\!*?[](){}<>|&;#~") == std::string::npos && !text.empty()) return text;
    if (text.find_first_of("\"$`\\!") == std::string::npos) return "\"" + text + "\"";
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string run_command(const RunCommand& command) {
    std::string text = "gnnbench run " + shell_word(command.file);
    if (!command.profile.empty()) text += " --profile " + shell_word(command.profile);
    for (const std::string& override_text : command.overrides) text += " --set " + shell_word(override_text);
    return text;
}

ReportSection origins_section(std::span<const ExperimentOrigin> experiments) {
    ReportSection section{"origins",
                          "How to reproduce each number",
                          "Each number in a table links here: to the cell it was measured in, the command that "
                          "measures that cell again, and the digests of the cell and of its data, which are the "
                          "same if nothing relevant has changed.",
                          {}};
    std::set<std::string> said;
    for (const ExperimentOrigin& e : experiments) {
        if (e.cells.empty()) continue;
        std::string html;
        if (!e.command.recorded)
            html += "<p class=\"facts\">An older gnnbench ran it and did not keep the name of its file: " +
                    code(e.command.file) + " stands for it.</p>\n";
        html += "<ol class=\"origins\">\n";
        for (const CellOrigin& c : e.cells)
            if (!c.trials.empty()) html += cell_html(c, e.command, said);
        html += "</ol>\n";
        const auto unmeasured =
            std::ranges::count_if(e.cells, [](const CellOrigin& c) { return c.trials.empty(); });
        if (unmeasured > 0) html += "<p class=\"facts\">" + plural(unmeasured, "cell") + " never measured.</p>\n";
        section.parts.push_back({"origins-" + anchor(e.name), e.name, std::move(html)});
    }
    return section;
}

}  // namespace gnnbench
