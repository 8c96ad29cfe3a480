#include "report/figure.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "report/figure_bars.hpp"
#include "report/figure_colours.hpp"
#include "report/figure_data.hpp"
#include "report/figure_parts.hpp"
#include "report/figure_scales.hpp"
#include "report/figure_timelines.hpp"
#include "report/paper_heading.hpp"
#include "report/paper_table.hpp"

namespace gnnbench {
namespace {

/// x and y of a series' points that have both; a logarithmic axis omits non-positive values. An empty line interrupts the
/// line where a point is missing, and around points that stand `apart`.
std::string points(const FigureData& d, const std::vector<std::optional<double>>& y,
                   const std::vector<bool>& apart, const PlotDefinition& plot) {
    std::string block;
    bool interrupted = false;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!y[i] || !d.x[i] || (plot.log_y && *y[i] <= 0) || (plot.log_x && *d.x[i] <= 0)) {
            interrupted = true;
            continue;
        }
        const bool alone = !apart.empty() && apart[i];
        if ((alone || interrupted) && !block.empty()) block += '\n';
        block += fmt::format("{} {}\n", *d.x[i], *y[i]);
        interrupted = alone;
    }
    return block;
}

/// An axis along which points are numbers, with margins beside the outermost.
struct NumberAxis {
    std::vector<double> at;                 ///< where a series has a number, ascending
    double first = 0, last = 0, width = 0;  ///< width: in units of the page
    bool log = false;

    NumberAxis(const FigureData& d, const PlotDefinition& plot, double units) : width(units), log(plot.log_x) {
        for (std::size_t i = 0; i < d.x.size(); ++i)
            for (const FigureSeries& s : d.series)
                if (d.x[i] && (!log || *d.x[i] > 0) &&
                    std::ranges::any_of(s.numbers, [i](const auto& v) { return v[i].has_value(); })) {
                    at.push_back(*d.x[i]);
                    break;
                }
        if (at.empty()) return;
        std::ranges::sort(at);
        const double low = at.front(), high = at.back(), room = std::max(0.05 * (high - low), 0.5);
        first = log ? low / 1.2 : low - room;
        last = log ? high * 1.2 : high + room;
    }
    /// Units from its beginning.
    double place(double x) const {
        return width * (log ? std::log(x / first) / std::log(last / first) : (x - first) / (last - first));
    }
};

/// Tics at the points. The last has a label, and the others that would touch neither it nor the one before.
std::string tics_of(const NumberAxis& axis) {
    if (axis.at.empty()) return "";
    const auto half_of = [](double x) {
        constexpr double character = 8;
        return character * static_cast<double>(fmt::format("{}", x).size() + 1) / 2;
    };
    const double high = axis.at.back();
    std::string tics;
    double free_from = 0;
    for (const double x : axis.at) {
        std::string name = fmt::format("{}", x);
        const double half = half_of(x), place = axis.place(x);
        if (x != high && (place - half < free_from || place + half > axis.place(high) - half_of(high)))
            name.clear();
        else
            free_from = place + half;
        tics += fmt::format("{}\"{}\" {}", tics.empty() ? "" : ", ", name, x);
    }
    return fmt::format("{}set xtics ({}) nomirror\nset xrange [{}:{}]\n", axis.log ? "set logscale x 2\n" : "",
                       tics, axis.first, axis.last);
}

/// What places have instead of numbers, where lines are interrupted: "OOM, paper: SA at 4, 8; BNS-GCN at 4". Below the figure,
/// since in it words would run through lines and marks.
std::vector<std::string> missing_numbers(const FigureData& d, const PlotDefinition& plot) {
    std::map<std::string, std::vector<std::string>> series_of;  // by what is there
    for (const FigureSeries& s : d.series) {
        std::map<std::string, std::vector<std::string>> places;
        for (std::size_t i = 0; i < d.x.size(); ++i) {
            if (!d.x[i] || (plot.log_x && *d.x[i] <= 0)) continue;
            const std::string at = fmt::format("{:g}", *d.x[i]);
            if (!s.words[i].empty() && !s.of(NumberKind::ours)[i] && !s.of(NumberKind::published)[i])
                places[s.words[i] + (s.papers_words[i] ? ", paper" : "")].push_back(at);
            if (!s.simulated_words[i].empty() && !s.of(NumberKind::simulated)[i])
                places[s.simulated_words[i] + ", SIMULATED"].push_back(at);
        }
        for (const auto& [word, at] : places)
            series_of[word].push_back(fmt::format("{} at {}", s.name, fmt::join(at, ", ")));
    }
    std::vector<std::string> lines;
    for (const auto& [word, series] : series_of)
        lines.push_back(fmt::format("{}: {}", word, fmt::join(series, "; ")));
    return lines;
}

/// What stands above and below a figure, with what there is no room for in it: that is data, and stands there even where the
/// rest is left out.
std::vector<std::string> with_lines(std::vector<std::string> heading, const std::vector<std::string>& lines) {
    if (heading.empty() && !lines.empty()) heading.emplace_back();
    for (const std::string& line : lines)
        if (std::ranges::find(heading, line) == heading.end()) heading.push_back(line);
    return heading;
}

/// The style of a series' lines and marks; `number`: of the series.
std::string line_style(const std::string& colour, std::size_t number, NumberKind kind) {
    const auto& [open, filled] = point_types[number % point_types.size()];
    switch (kind) {
        case NumberKind::ours:
            return fmt::format("with linespoints lc rgb '{}' lw 2 dt 1 pt {} ps 1.2", colour, filled);
        case NumberKind::simulated:
            return fmt::format("with linespoints lc rgb '{}' lw 1.5 dt '-' pt {} ps 1.2", colour, open);
        case NumberKind::published:
            break;
    }
    return fmt::format("with linespoints lc rgb '{}' lw 3 dt '.' pt 2 ps 1.3", colour);
}

/// The marks that stand for a kind of numbers in a legend, whatever the series.
std::string key_style(NumberKind kind) { return line_style("#555555", 0, kind); }

std::string points_of(const FigureData& d, const FigureSeries& s, NumberKind kind, const PlotDefinition& plot) {
    return points(d, s.of(kind), kind == NumberKind::published ? s.disputed : std::vector<bool>(), plot);
}

/// A ring around simulated points that constants of the machine were fitted to: nobody shall take them for predictions.
constexpr const char* ring = "with points pt 6 ps 2.6 lw 1.5 lc rgb '#555555'";
constexpr const char* fitted = "fitted, no prediction";

std::string fitted_points(const FigureData& d, const PlotDefinition& plot) {
    std::string block;
    for (const FigureSeries& s : d.series) {
        const auto& y = s.of(NumberKind::simulated);
        for (std::size_t i = 0; i < y.size(); ++i)
            if (s.fitted[i] && y[i] && d.x[i] && (!plot.log_y || *y[i] > 0))
                block += fmt::format("{} {}\n", *d.x[i], *y[i]);
    }
    return block;
}

/// `below`: gets what there is no room for in the figure.
FigureParts line_parts(const ResolvedTable& r, const FigureData& d, const FigureLook& look,
                       std::vector<std::string>& below) {
    const PlotDefinition& plot = *r.definition->plot;
    FigureParts f;
    Legend legend(r);
    const NumberAxis axis(d, plot, look.units_across() - 120);
    below = missing_numbers(d, plot);
    f.settings = tics_of(axis) + (plot.log_y ? "" : "set yrange [0:*]\n");
    const auto colours = series_colours(d.series);
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        for (const NumberKind kind : number_kinds)
            if (const std::string block = points_of(d, d.series[s], kind, plot); !block.empty())
                f.add(block, "using 1:2 " + line_style(colours[s], s, kind), legend.name(d.series[s], kind));
    }
    const std::string rings = fitted_points(d, plot);
    if (!rings.empty()) f.add(rings, fmt::format("using 1:2 {}", ring), "");
    for (const auto& [kind, name] : legend.kinds()) f.add_key(key_style(kind), name);
    if (!rings.empty()) f.add_key(ring, fitted);
    return f;
}

/// One range for the y axes of panels, so that they can be compared.
std::string common_y_range(const std::vector<FigureSeries>& series, const PlotDefinition& plot) {
    std::vector<double> all;
    for (const FigureSeries& s : series)
        for (const auto& values : s.numbers)
            for (const auto& v : values)
                if (v && (*v > 0 || !plot.log_y)) all.push_back(*v);
    if (all.empty()) return "";
    const auto [low, high] = std::ranges::minmax_element(all);
    return plot.log_y ? fmt::format("set yrange [{}:{}]\n", *low / 1.5, *high * 1.5)
                      : fmt::format("set yrange [{}:{}]\n", std::min(0.0, *low), *high * 1.1 + 1e-12);
}

/// What one panel shows.
struct PanelData {
    std::string title;
    FigureData data;
    std::string y_range;
};

/// A panel for each row that has numbers, with a series for each section of columns; or one for the whole figure.
std::vector<PanelData> panel_data(const ResolvedTable& r, const std::string& whole, const std::string& after) {
    const TableDefinition& t = *r.definition;
    if (!t.plot->panels) {
        FigureData all = figure_data(r);
        std::string range = common_y_range(all.series, *t.plot);
        return {{whole, std::move(all), std::move(range)}};
    }
    std::vector<PanelData> panels;
    const std::string range = common_y_range(figure_data(r).series, *t.plot);
    for (std::size_t i = 0; i < r.cells.size(); ++i) {
        TableDefinition one = t;
        one.rows = {t.rows[i]};
        ResolvedTable part{&one, r.measured, r.profile, {r.cells[i]}, {}, {}, r.simulations, {}};
        if (!r.simulated.empty()) part.simulated = {r.simulated[i]};
        panels.push_back({t.rows[i].label + after, figure_data(part), range});
    }
    return panels;
}

/// The panels share one legend. What was measured on smaller graphs has panels of its own, after the others.
std::string panel_script(const ResolvedTable& r, const FigureScales& scales,
                         const std::vector<std::string>& heading, const FigureLook& look) {
    const PlotDefinition& plot = *r.definition->plot;
    std::vector<PanelData> panels = panel_data(scales.papers, "graphs of the paper's size", "");
    if (scales.smaller)
        for (PanelData& p : panel_data(*scales.smaller, "measured, on smaller graphs", ", smaller"))
            panels.push_back(std::move(p));
    PanelFigure figure;
    Legend legend(r);
    std::vector<FigureSeries> series, all_series;  // of all panels, those of one name once
    for (const PanelData& p : panels)
        for (const FigureSeries& s : p.data.series) {
            if (std::ranges::find(series, s.name, &FigureSeries::name) == series.end()) series.push_back(s);
            all_series.push_back(s);
        }
    const auto colours = series_colours(series);
    const double width = panel_axis_width(panels.size(), look);
    // Ratios of toys and of the paper's graphs are compared; their times would not fit one axis.
    const std::string one_range = axis_unit(r) == "×" && !series.empty() ? common_y_range(all_series, plot) : "";
    std::vector<std::string> below;
    bool any_fitted = false;
    for (const PanelData& p : panels) {
        FigureParts f;
        for (const FigureSeries& s : p.data.series) {
            const auto number = usize(std::ranges::find(series, s.name, &FigureSeries::name) - series.begin());
            for (const NumberKind kind : number_kinds) {
                const std::string block = points_of(p.data, s, kind, plot);
                if (block.empty()) continue;
                const std::string style = line_style(colours[number], number, kind);
                f.add(block, "using 1:2 " + style, "");
                const std::string name = legend.name(s, kind);
                if (!name.empty() &&
                    std::ranges::find(figure.legend, name, &std::pair<std::string, std::string>::second) ==
                        figure.legend.end())
                    figure.legend.emplace_back(style, name);
            }
        }
        for (const std::string& missing : missing_numbers(p.data, plot))
            below.push_back(panels.size() > 1 ? p.title + ": " + missing : missing);
        if (f.plots.empty()) continue;
        const NumberAxis axis(p.data, plot, width);
        f.settings = tics_of(axis) + (one_range.empty() ? p.y_range : one_range);
        if (const std::string block = fitted_points(p.data, plot); !block.empty()) {
            f.add(block, fmt::format("using 1:2 {}", ring), "");
            any_fitted = true;
        }
        figure.panels.emplace_back(p.title, std::move(f));
    }
    for (const auto& [kind, name] : legend.kinds()) figure.legend.emplace_back(key_style(kind), name);
    if (any_fitted) figure.legend.emplace_back(ring, fitted);
    return assembled_panels(figure, plot, with_lines(heading, below), look);
}

/// x and y of each row's place that has both, with the row's name.
std::string scatter_points(const ResolvedTable& r, const std::vector<std::vector<ResolvedCell>>& cells) {
    std::string block;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].size() < 2) continue;
        const ResolvedCell &x = cells[i][0], &y = cells[i][1];
        if (x.ours && y.ours)
            block += fmt::format("{} {} {}\n", x.ours->median / size_of(*x.measure),
                                 y.ours->median / size_of(*y.measure), gnuplot_text(r.definition->rows[i].label));
    }
    return block;
}

/// The second column over the first, each row a point with its name.
FigureParts scatter_parts(const ResolvedTable& r) {
    FigureParts f;
    std::string paper;
    for (const auto& row : r.cells)
        if (row.size() >= 2 && row[0].published && row[1].published)
            paper += fmt::format("{} {}\n", *row[0].published / size_of(*row[0].measure),
                                 *row[1].published / size_of(*row[1].measure));
    const auto named = [&](const std::string& block, const std::string& colour, int mark,
                           const std::string& title) {
        if (block.empty()) return;
        f.add(block, fmt::format("using 1:2 with points lc rgb '{}' pt {} ps 1.4", colour, mark), title);
        if (std::ranges::count(block, '\n') <= 12)  // more names would cover each other
            f.add(block, "using 1:2:3 with labels offset 0.8,0.6 left font ',10'", "");
    };
    named(scatter_points(r, r.cells), colour(0), 7, "ours");
    named(scatter_points(r, r.simulated), colour(1), 6,
          fmt::format("SIMULATED on {}", fmt::join(r.definition->simulated_on, ", ")));
    if (!paper.empty())
        f.add(paper, fmt::format("using 1:2 with points lc rgb '{}' pt 2 ps 1.4 lw 3", colour(2)), "paper");
    const auto& columns = r.cells.empty() ? std::vector<ResolvedCell>() : r.cells.front();
    if (columns.size() >= 2 && columns[0].measure->unit == columns[1].measure->unit)
        f.plots.emplace_back("x with lines lc rgb '#999999' dt 3 notitle");  // where both are equal
    f.settings = "set rmargin 6\nset offsets graph 0.05, graph 0.12, graph 0.08, graph 0.05\n";
    return f;
}

}  // namespace

std::string figure_script(const ResolvedTable& r, const FigureLook& look,
                          const std::vector<TimelinePanel>& panels) {
    const TableDefinition& t = *r.definition;
    if (!t.plot)
        throw SpecError(
            fmt::format("{} is a table without a plot; `gnnbench table {}` prints it", t.name, t.name));
    const bool is_line = t.plot->kind == PlotKind::line || t.plot->kind == PlotKind::scaling;
    const FigureScales scales = by_scale(r);
    std::vector<std::string> lines = paper_heading(r);
    if (scales.smaller && !is_line && t.plot->kind != PlotKind::timeline)
        lines.insert(lines.begin() + std::min<std::ptrdiff_t>(1, std::ssize(lines)),
                     "what was measured is of smaller graphs and in the table alone, as is what is said of ours");
    for (const std::string& remark : remarks_on_figure(r)) lines.push_back(remark);
    lines = shown_heading(std::move(lines), look.heading);
    if (t.plot->panels || (is_line && scales.smaller)) {
        std::string script = panel_script(r, scales, lines, look);
        if (!script.empty()) return script;
    }
    if (t.plot->kind == PlotKind::timeline && std::ranges::any_of(panels, &TimelinePanel::simulated) &&
        !std::ranges::all_of(panels, &TimelinePanel::simulated))
        return assembled_panels(
            timeline_figure(panels, scales.smaller ? "measured, on smaller graphs" : "measured",
                            fmt::format("SIMULATED on {}", fmt::join(t.simulated_on, ", "))),
            *t.plot, lines, look);
    const FigureData d = figure_data(scales.papers);
    FigureParts parts;
    std::vector<std::string> below;
    switch (t.plot->kind) {
        case PlotKind::line:
        case PlotKind::scaling:
            parts = line_parts(scales.papers, d, look, below);
            break;
        case PlotKind::bars:
            parts = bar_parts(scales.papers, d, look, below);
            break;
        case PlotKind::stacked:
            parts = stacked_parts(scales.papers, d, look);
            break;
        case PlotKind::scatter:
            parts = scatter_parts(scales.papers);
            break;
        case PlotKind::timeline:
            parts = timeline_parts(panels);
            break;
    }
    if (t.plot->log_y) parts.settings = "set logscale y\n" + parts.settings;
    if (look.heading == FigureHeading::left_out && parts.plots.empty()) return "";
    PlotDefinition plot = *t.plot;
    if (d.has(NumberKind::simulated) && !d.has(NumberKind::ours))
        plot.y_label += d.has(NumberKind::published) ? ", SIMULATED and published" : ", SIMULATED";
    return assembled(parts, plot, with_lines(lines, below), look);
}

}  // namespace gnnbench
