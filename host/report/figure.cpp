#include "report/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "report/figure_data.hpp"
#include "report/figure_parts.hpp"
#include "report/format.hpp"
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

/// A distinct colour for each series of the figure: shades of one colour within a section, if there are more
/// series than colours.
std::vector<std::string> colours_of(const std::vector<FigureSeries>& series) {
    std::vector<std::string> hues, all;
    const auto hue_of = [](const FigureSeries& s) { return s.section.empty() ? s.name : s.section; };
    for (const FigureSeries& s : series)
        if (std::ranges::find(hues, hue_of(s)) == hues.end()) hues.push_back(hue_of(s));
    for (std::size_t i = 0; i < series.size(); ++i) {
        if (series.size() <= palette_size()) {
            all.push_back(colour(i));
            continue;
        }
        std::size_t members = 0, place = 0;
        for (std::size_t k = 0; k < series.size(); ++k)
            if (hue_of(series[k]) == hue_of(series[i])) members += 1, place += k < i;
        const auto hue = usize(std::ranges::find(hues, hue_of(series[i])) - hues.begin());
        all.push_back(shade(hue, place, members));
    }
    return all;
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

/// A box from (x0, y0) to (x1, y1), as boxxyerror takes it.
std::string box(double x0, double x1, double y0, double y1) {
    return fmt::format("{} {} {} {} {} {}\n", (x0 + x1) / 2, (y0 + y1) / 2, x0, x1, y0, y1);
}

std::string bar_style(const std::string& colour, bool ours) {
    // Hatching distinguishes the paper's bars without colour.
    return fmt::format("using 1:2:3:4:5:6 with boxxyerror lc rgb '{}' lw 1 fs {}", colour,
                       ours ? "solid 0.9 border lc rgb 'black'" : "pattern 4 border");
}

/// A label below each place; slanted where they are many or long.
void put_tics(FigureParts& f, const std::vector<std::string>& labels) {
    std::string list;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::string label = shortened(labels[i], 28);
        longest = std::max(longest, display_width(label));
        list += fmt::format("{}{} {}", i > 0 ? ", " : "", gnuplot_text(label), i);
    }
    const bool slanted = labels.size() > 6 || longest > 12;
    if (slanted) f.tic_room = 4.0 * static_cast<double>(longest);
    f.settings += fmt::format("set xtics ({}) nomirror{}\nset xrange [-0.6:{}]\n", list,
                              slanted ? " rotate by -30" : "", static_cast<double>(labels.size()) - 0.4);
}

/// Grouped bars: for each x the series in turn, ours and then the paper's.
FigureParts bar_parts(const FigureData& d, const PlotDefinition& plot) {
    FigureParts f;
    put_tics(f, d.labels);
    // A slot for each kind of number that a series has anywhere.
    struct Slots {
        std::optional<double> ours, published;
    };
    std::vector<Slots> slots;
    double count = 0;
    for (const FigureSeries& s : d.series) {
        Slots& slot = slots.emplace_back();
        if (s.has_ours() || s.has_words()) slot.ours = count++;
        if (s.has_published()) slot.published = count++;
    }
    const double width = 0.86 / std::max(count, 1.0);
    const auto colours = colours_of(d.series);
    double smallest = 1e300;
    for (const FigureSeries& s : d.series)
        for (const auto* values : {&s.ours, &s.published})
            for (const auto& v : *values)
                if (v && *v > 0) smallest = std::min(smallest, *v);
    const double floor = plot.log_y ? std::pow(10, std::floor(std::log10(smallest)) - 0.3) : 0;
    if (plot.log_y) f.settings += fmt::format("set yrange [{}:*]\n", floor);
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        const auto left = [&](std::size_t i, bool ours) {
            const double slot = ours ? slots[s].ours.value_or(0) : slots[s].published.value_or(0);
            return static_cast<double>(i) - 0.43 + slot * width;
        };
        const auto add = [&](const std::vector<std::optional<double>>& values, bool ours) {
            std::string block;
            for (std::size_t i = 0; i < values.size(); ++i)
                if (values[i] && *values[i] > floor)
                    block += box(left(i, ours), left(i, ours) + width, floor, *values[i]);
            if (!block.empty())
                f.add(block, bar_style(colours[s], ours), d.series[s].name + (ours ? "" : " (paper)"));
        };
        add(d.series[s].ours, true);
        add(d.series[s].published, false);
        // The legend omits a series that consists of words only.
        const bool in_legend = slots[s].published || d.series[s].has_ours();
        const std::string named = in_legend ? "" : d.series[s].name + ": ";
        for (std::size_t i = 0; i < d.labels.size(); ++i)
            if (!d.series[s].words[i].empty() && !d.series[s].ours[i])
                f.settings +=
                    fmt::format("set label {} at first {}, graph 0.02 rotate by 90 font ',9' tc rgb '#555555'\n",
                                gnuplot_text(named + d.series[s].words[i]), left(i, true) + width / 2);
    }
    return f;
}

/// Stacked bars; where the paper has numbers for an x, its bar is beside ours.
FigureParts stacked_parts(const FigureData& d) {
    FigureParts f;
    put_tics(f, d.labels);
    f.settings += "set yrange [0:*]\n";
    std::vector<double> ours(d.labels.size(), 0), paper(d.labels.size(), 0);
    const double gap = d.has_ours && d.has_published ? 0 : 0.3;  // a single bar is centred
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        std::string blocks[2];
        for (std::size_t i = 0; i < d.labels.size(); ++i) {
            const auto x = static_cast<double>(i);
            if (const auto& v = d.series[s].ours[i])
                blocks[0] += box(x - (gap > 0 ? gap : 0.4), x + gap, ours[i], ours[i] + *v), ours[i] += *v;
            if (const auto& v = d.series[s].published[i])
                blocks[1] += box(x - gap, x + (gap > 0 ? gap : 0.4), paper[i], paper[i] + *v), paper[i] += *v;
        }
        if (!blocks[0].empty()) f.add(blocks[0], bar_style(colour(s), true), d.series[s].name);
        if (!blocks[1].empty()) f.add(blocks[1], bar_style(colour(s), false), d.series[s].name + " (paper)");
    }
    return f;
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
