#include "report/figure.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "report/figure_bars.hpp"
#include "report/figure_data.hpp"
#include "report/figure_parts.hpp"
#include "report/paper_heading.hpp"
#include "report/paper_table.hpp"

namespace gnnbench {
namespace {

/// x and y of a series' points that have both; a logarithmic axis omits non-positive values. An empty line
/// interrupts the line around points that stand `apart`.
std::string points(const FigureData& d, const std::vector<std::optional<double>>& y,
                   const std::vector<bool>& apart, const PlotDefinition& plot) {
    std::string block;
    bool interrupted = true;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!y[i] || !d.x[i] || (plot.log_y && *y[i] <= 0) || (plot.log_x && *d.x[i] <= 0)) continue;
        const bool alone = !apart.empty() && apart[i];
        if (alone && !interrupted) block += '\n';
        block += fmt::format("{} {}\n{}", *d.x[i], *y[i], alone ? "\n" : "");
        interrupted = alone;
    }
    return block;
}

/// Tics at the points, and margins beside the outermost.
std::string x_axis(const FigureData& d, const PlotDefinition& plot) {
    std::vector<double> at;
    for (std::size_t i = 0; i < d.x.size(); ++i)
        for (const FigureSeries& s : d.series)
            if (d.x[i] && (s.ours[i] || s.published[i])) {
                at.push_back(*d.x[i]);
                break;
            }
    if (at.empty()) return "";
    const auto [low, high] = std::minmax_element(at.begin(), at.end());
    const double room = std::max(0.05 * (*high - *low), 0.5);
    std::string tics;
    for (const double x : at) tics += fmt::format("{}\"{}\" {}", tics.empty() ? "" : ", ", x, x);
    return fmt::format("{}set xtics ({}) nomirror\nset xrange [{}:{}]\n", plot.log_x ? "set logscale x 2\n" : "",
                       tics, plot.log_x ? *low / 1.2 : *low - room, plot.log_x ? *high * 1.2 : *high + room);
}

/// The style of a series' lines and marks; `number`: of the series.
std::string line_style(const std::string& colour, std::size_t number, bool ours) {
    const auto& [open, filled] = point_types[number % point_types.size()];
    return fmt::format("using 1:2 with linespoints lc rgb '{}' lw 2 dt {} pt {} ps 1.2", colour,
                       ours ? "1" : "'-'", ours ? filled : open);
}

FigureParts line_parts(const FigureData& d, const PlotDefinition& plot) {
    FigureParts f;
    f.settings = x_axis(d, plot) + (plot.log_y ? "" : "set yrange [0:*]\n");
    const auto colours = colours_of(d.series);
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        const std::string ours = points(d, d.series[s].ours, {}, plot),
                          published = points(d, d.series[s].published, d.series[s].disputed, plot);
        if (!ours.empty()) f.add(ours, line_style(colours[s], s, true), d.series[s].name);
        if (!published.empty()) f.add(published, line_style(colours[s], s, false), d.series[s].name + " (paper)");
    }
    return f;
}

/// One range for the y axes of all panels, so that they can be compared.
std::string common_y_range(const ResolvedTable& r) {
    std::vector<double> all;
    for (const FigureSeries& s : figure_data(r).series)
        for (const auto* values : {&s.ours, &s.published})
            for (const auto& v : *values)
                if (v && (*v > 0 || !r.definition->plot->log_y)) all.push_back(*v);
    if (all.empty()) return "";
    const auto [low, high] = std::ranges::minmax_element(all);
    return r.definition->plot->log_y
               ? fmt::format("set yrange [{}:{}]\n", *low / 1.5, *high * 1.5)
               : fmt::format("set yrange [{}:{}]\n", std::min(0.0, *low), *high * 1.1 + 1e-12);
}

/// A panel for each row that has numbers, with a series for each section of columns; they share one legend.
std::string panel_script(const ResolvedTable& r, const std::vector<std::string>& heading, FigureFormat format) {
    const TableDefinition& t = *r.definition;
    PanelFigure figure;
    const std::string range = common_y_range(r);
    for (std::size_t i = 0; i < r.cells.size(); ++i) {
        TableDefinition one = t;
        one.rows = {t.rows[i]};
        const ResolvedTable part{&one, r.measured, r.profile, {r.cells[i]}, {}};
        const FigureData d = figure_data(part);
        FigureParts f;
        for (const FigureSeries& s : d.series) {
            const auto found = std::ranges::find(figure.series, s.name);
            const auto number = usize(found - figure.series.begin());
            if (found == figure.series.end()) figure.series.push_back(s.name);
            const std::string ours = points(d, s.ours, {}, *t.plot),
                              published = points(d, s.published, s.disputed, *t.plot);
            if (!ours.empty()) f.add(ours, line_style(colour(number), number, true), "");
            if (!published.empty()) f.add(published, line_style(colour(number), number, false), "");
            const auto in_legend = [&](const std::string& style, const std::string& name) {
                if (std::ranges::find(figure.legend, name, &std::pair<std::string, std::string>::second) ==
                    figure.legend.end())
                    figure.legend.emplace_back(style, name);
            };
            if (!ours.empty()) in_legend(line_style(colour(number), number, true), s.name);
            if (!published.empty()) in_legend(line_style(colour(number), number, false), s.name + " (paper)");
        }
        if (f.plots.empty()) continue;
        f.settings = x_axis(d, *t.plot) + range;
        figure.panels.emplace_back(t.rows[i].label, std::move(f));
    }
    return assembled_panels(figure, *t.plot, heading, format);
}

/// The second column over the first, each row a point with its name.
FigureParts scatter_parts(const ResolvedTable& r) {
    FigureParts f;
    std::string ours, paper;
    for (std::size_t i = 0; i < r.cells.size(); ++i) {
        if (r.cells[i].size() < 2) continue;
        const ResolvedCell &x = r.cells[i][0], &y = r.cells[i][1];
        const std::string name = gnuplot_text(r.definition->rows[i].label);
        if (x.ours && y.ours)
            ours += fmt::format("{} {} {}\n", x.ours->median / size_of(*x.measure),
                                y.ours->median / size_of(*y.measure), name);
        if (x.published && y.published)
            paper += fmt::format("{} {} {}\n", *x.published / size_of(*x.measure),
                                 *y.published / size_of(*y.measure), name);
    }
    if (!ours.empty()) {
        f.add(ours, fmt::format("using 1:2 with points lc rgb '{}' pt 7 ps 1.4", colour(0)), "ours");
        f.add(ours, "using 1:2:3 with labels offset 0.8,0.6 left font ',10'", "");
    }
    if (!paper.empty())
        f.add(paper, fmt::format("using 1:2 with points lc rgb '{}' pt 4 ps 1.4", colour(1)), "paper");
    f.settings = "set offsets graph 0.05, graph 0.12, graph 0.08, graph 0.05\n";
    return f;
}

}  // namespace

std::string figure_script(const ResolvedTable& r, FigureFormat format, const std::vector<TimelinePanel>& panels,
                          FigureHeading heading) {
    const TableDefinition& t = *r.definition;
    if (!t.plot)
        throw SpecError(
            fmt::format("{} is a table without a plot; `gnnbench table {}` prints it", t.name, t.name));
    std::vector<std::string> lines;
    if (heading == FigureHeading::shown) {
        lines = paper_heading(r);
        for (const std::string& remark : remarks_on_figure(r)) lines.push_back(remark);
    }
    if (t.plot->panels) {
        std::string script = panel_script(r, lines, format);
        if (!script.empty()) return script;
    }
    const FigureData d = figure_data(r);
    FigureParts parts;
    switch (t.plot->kind) {
        case PlotKind::line:
        case PlotKind::scaling:
            parts = line_parts(d, *t.plot);
            break;
        case PlotKind::bars:
            parts = bar_parts(d, *t.plot);
            break;
        case PlotKind::stacked:
            parts = stacked_parts(d);
            break;
        case PlotKind::scatter:
            parts = scatter_parts(r);
            break;
        case PlotKind::timeline:
            parts = timeline_parts(panels);
            break;
    }
    if (t.plot->log_y) parts.settings = "set logscale y\n" + parts.settings;
    if (heading == FigureHeading::left_out && parts.plots.empty()) return "";
    return assembled(parts, *t.plot, lines, format);
}

}  // namespace gnnbench
