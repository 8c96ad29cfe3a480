#include "report/figure_parts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/format.hpp"

namespace gnnbench {
namespace {

constexpr double least_panel_width = 180;  ///< in units of the page
constexpr double legend_row = 20;          ///< as gnuplot draws one, in units of the page
// In units of the page: the label of the panels' y axes, and what is left free at the right; of a panel, what its tics
// take at the left, and what is left free.
constexpr double y_label = 34, page_right = 6, panel_left = 46, panel_right = 8;

double panel_width(std::size_t across, const FigureLook& look) {
    return (look.units_across() - y_label - page_right) / static_cast<double>(across);
}

/// Breaks at blanks.
std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
    std::vector<std::string> all;
    const std::string folded = wrapped(text, width, 2);
    for (std::size_t at = 0; at < folded.size();) {
        const std::size_t end = folded.find('\n', at);
        all.push_back(folded.substr(at, end - at));
        at = end + 1;
    }
    return all;
}

}  // namespace

std::string gnuplot_text(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '`')
            out += '\'';  // gnuplot would run text between backquotes
        else if (c != '\n' && c != '\r')
            out += c;
    }
    return out + "\"";
}

void FigureParts::add(const std::string& data, const std::string& how, const std::string& title) {
    const std::string name = fmt::format("$d{}", plots.size());
    blocks += name + " << EOD\n" + data + "EOD\n";
    plots.push_back(
        fmt::format("{} {} {}", name, how, title.empty() ? "notitle" : "title " + gnuplot_text(title)));
    if (title.empty()) return;
    legend = true;
    ++named;
    longest_name = std::max(longest_name, title.size());
}

void FigureParts::add_key(const std::string& how, const std::string& title) {
    plots.push_back(fmt::format("keyentry {} title {}", how, gnuplot_text(title)));
    ++named;
    longest_name = std::max(longest_name, title.size());
}

Legend::Legend(const ResolvedTable& r)
    : by_kind_(std::ranges::any_of(r.simulated,
                                   [](const auto& row) {
                                       return std::ranges::any_of(
                                           row, [](const ResolvedCell& place) { return place.ours.has_value(); });
                                   })),
      machines_(fmt::format("{}", fmt::join(r.definition->simulated_on, ", "))) {}

std::string Legend::name(const FigureSeries& series, NumberKind kind) {
    drawn_.insert(kind);
    if (!by_kind_) return series.name + (kind == NumberKind::published ? " (paper)" : "");
    return named_.insert(series.name).second ? series.name : "";
}

std::vector<std::pair<NumberKind, std::string>> Legend::kinds() const {
    std::vector<std::pair<NumberKind, std::string>> all;
    if (!by_kind_) return all;
    for (const NumberKind kind : drawn_)
        all.emplace_back(kind, kind == NumberKind::ours        ? "measured"
                               : kind == NumberKind::simulated ? "SIMULATED on " + machines_
                                                               : "published");
    return all;
}

namespace {

/// Title above, remarks below, and the space between.
struct Frame {
    std::string script;
    double height = 0, top = 0, notes = 0;  ///< pixels: of all, of the title, of the remarks
};

/// `height`: in units of the layout.
std::string terminal_of(const FigureLook& look, double height) {
    const double across = look.units_across(), unit = look.unit_pt();
    const std::string font = gnuplot_text(fmt::format("{},13", look.font.empty() ? "Sans" : look.font));
    const bool sized = look.width_mm > 0;
    switch (look.format) {
        case FigureFormat::svg: {
            const double pixels = sized ? unit * 96 / 72 : 1;
            return fmt::format(
                "set terminal svg size {:.0f},{:.0f} fontscale {:g} linewidth {:g} font {} background rgb 'white' "
                "noenhanced\n",
                across * pixels, height * pixels, pixels, pixels, look.font.empty() ? "'Helvetica,13'" : font);
        }
        case FigureFormat::png: {
            const double pixels = sized ? unit * 300 / 72 : 2;  // 300 to an inch
            return fmt::format(
                "set terminal pngcairo size {:.0f},{:.0f} fontscale {:g} linewidth {:g} pointscale {:g} font {} "
                "noenhanced\n",
                across * pixels, height * pixels, pixels, pixels, pixels,
                look.font.empty() ? "'Sans,10'" : gnuplot_text(look.font + ",10"));
        }
        case FigureFormat::pdf:
            return fmt::format(
                "set terminal pdfcairo size {:.3f}in,{:.3f}in fontscale {:g} linewidth {:g} pointscale {:g} font "
                "{} "
                "noenhanced\n",
                across * unit / 72, height * unit / 72, unit, sized ? unit : 1, sized ? unit : 1, font);
    }
    return "";
}

Frame frame_of(double content, const std::vector<std::string>& heading, const FigureLook& look) {
    Frame f;
    const double across = look.units_across();
    const auto characters = [&](double of_900) { return static_cast<std::size_t>(of_900 * across / 900); };
    std::vector<std::string> below;
    for (std::size_t i = 1; i < heading.size(); ++i)
        for (const std::string& line : lines_of(heading[i], characters(110))) below.push_back(line);
    const bool titled = !heading.empty() && !heading.front().empty();
    const auto title = titled ? lines_of(heading.front(), characters(92)) : std::vector<std::string>();
    f.top = 18.0 * static_cast<double>(title.size()) + 8;
    f.notes = below.empty() ? 0 : 14.0 * static_cast<double>(below.size()) + 12;
    f.height = content + f.top + f.notes;
    f.script = terminal_of(look, f.height);
    f.script += "set encoding utf8\nset border 3\nset tics nomirror out\nset grid y lc rgb '#dddddd' lt 1\n";
    for (std::size_t i = 0; i < title.size(); ++i)
        f.script += fmt::format("set label {} at screen 0.5, screen {:.4f} center font ',13'\n",
                                gnuplot_text(title[i]), 1 - (14 + 18.0 * static_cast<double>(i)) / f.height);
    for (std::size_t i = 0; i < below.size(); ++i)
        f.script += fmt::format("set label {} at screen 0.02, screen {:.4f} left font ',10' tc rgb '#333333'\n",
                                gnuplot_text(below[i]), (f.notes - 6 - 14.0 * static_cast<double>(i)) / f.height);
    return f;
}

}  // namespace

std::vector<std::string> shown_heading(std::vector<std::string> heading, FigureHeading shown) {
    if (shown == FigureHeading::left_out) heading.clear();
    if (shown == FigureHeading::title && heading.size() > 1) heading.resize(1);
    return heading;
}

std::size_t panels_across(std::size_t panels, const FigureLook& look) {
    const auto fitting = std::clamp(static_cast<std::size_t>(look.units_across() / least_panel_width),
                                    std::size_t{1}, std::size_t{4});
    return std::min(panels, fitting);
}

double panel_axis_width(std::size_t panels, const FigureLook& look) {
    return panel_width(panels_across(panels, look), look) - panel_left - panel_right;
}

std::string assembled_panels(const PanelFigure& figure, const PlotDefinition& plot,
                             const std::vector<std::string>& heading, const FigureLook& look) {
    if (figure.panels.empty()) return "";
    const double width_units = look.units_across();
    const std::size_t across = panels_across(figure.panels.size(), look),
                      down = (figure.panels.size() + across - 1) / across;
    std::size_t longest = 0;
    for (const auto& named : figure.legend) longest = std::max(longest, named.second.size());
    const std::size_t columns = std::clamp(static_cast<std::size_t>(width_units - 30) / (80 + 8 * longest),
                                           std::size_t{1}, std::size_t{6});
    const std::size_t legend_lines = (figure.legend.size() + columns - 1) / columns;
    const double legend = legend_row * static_cast<double>(legend_lines) + 10;
    // Heights of a panel with its title and tics, and of the x axis' label.
    const double panel = figure.panel_height;
    constexpr double axis = 50;
    const Frame frame = frame_of(static_cast<double>(down) * panel + legend + axis - 25, heading, look);
    std::string s = frame.script;
    s += fmt::format("set label {} at screen 0.5, screen {:.4f} center\n", gnuplot_text(plot.x_label),
                     (frame.notes + 14) / frame.height);
    s += fmt::format("set label {} at screen 0.015, screen {:.4f} center rotate by 90\n",
                     gnuplot_text(plot.y_label),
                     1 - (frame.top + legend + static_cast<double>(down) * panel / 2 - 14) / frame.height);
    s += plot.log_y ? "set logscale y\n" : "";
    s += "set tics font ',10'\n";
    const char* const y_format = plot.log_y ? "set format y '%g'\n" : "";
    std::string blocks, plots;
    for (std::size_t p = 0; p < figure.panels.size(); ++p) {
        const auto& [title, parts] = figure.panels[p];
        const std::size_t line = p / across;
        const auto column = static_cast<double>(p % across), row = static_cast<double>(line);
        const double width = panel_width(across, look);
        const double top = frame.top + legend + row * panel, left = y_label + column * width;
        plots += fmt::format(
            "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n"
            "set bmargin at screen {:.4f}\nset title {} font ',{}' offset 0,-0.6\n",
            (left + panel_left) / width_units, (left + width - panel_right) / width_units,
            1 - (top + 20) / frame.height, 1 - (top + panel - 48) / frame.height, gnuplot_text(title),
            8.2 * static_cast<double>(display_width(title)) > width - 40 ? 10 : 12);
        plots += parts.settings;
        std::string own = parts.blocks;
        std::vector<std::string> drawn = parts.plots;
        const std::string prefix = fmt::format("$p{}d", p);
        for (std::size_t at = 0; (at = own.find("$d", at)) != std::string::npos; at += prefix.size())
            own.replace(at, 2, prefix);
        for (std::string& one : drawn) one.replace(0, 2, prefix);
        blocks += own;
        plots += fmt::format("plot {}\nunset label\n", fmt::join(drawn, ", "));
    }
    // A strip as wide as the page has the legend, with title and remarks: a key is laid out within its plot's width.
    std::vector<std::string> named;
    for (const auto& [style, name] : figure.legend)
        named.push_back(fmt::format("NaN {} title {}", style.substr(style.find("with")), gnuplot_text(name)));
    const std::string strip = fmt::format(
        "set lmargin at screen 0.02\nset rmargin at screen 0.98\nset tmargin at screen {:.4f}\n"
        "set bmargin at screen {:.4f}\nset key inside center top horizontal maxcols {} samplen 2 font ',11'\n"
        "unset border\nset tics scale 0\nset format ''\nunset grid\nset xrange [0:1]\nset yrange [1:2]\nplot {}\n"
        "unset key\nunset label\nset border 3\nset tics scale 1\nset format '% h'\n{}set grid y lc rgb '#dddddd' "
        "lt "
        "1\n",
        1 - (frame.top - 6) / frame.height, 1 - (frame.top + legend) / frame.height, columns,
        fmt::join(named, ", "), y_format);
    return s + blocks + "set multiplot\n" + strip + plots + "unset multiplot\n";
}

std::string assembled(const FigureParts& parts, const PlotDefinition& plot,
                      const std::vector<std::string>& heading, const FigureLook& look) {
    // gnuplot takes fewer columns where names are too long for the plot's width; the frame must know how many rows that makes.
    constexpr double beside_plot = 120;
    const std::size_t across =
        std::clamp(static_cast<std::size_t>(look.units_across() - beside_plot) / (80 + 9 * parts.longest_name),
                   std::size_t{1}, std::size_t{3});
    const std::size_t legend_rows = parts.legend ? (parts.named + across - 1) / across : 0;
    const double plot_height = std::clamp(420 * look.units_across() / 900, 280.0, 420.0);
    const Frame frame =
        frame_of(plot_height + parts.tic_room + legend_row * static_cast<double>(legend_rows), heading, look);
    const double height = frame.height, top = frame.top, notes = frame.notes;
    std::string s = frame.script;
    if (!plot.x_label.empty()) s += "set xlabel " + gnuplot_text(plot.x_label) + "\n";
    if (!plot.y_label.empty()) s += "set ylabel " + gnuplot_text(plot.y_label) + "\n";
    if (plot.log_y) s += "set format y '%g'\n";
    s += parts.legend
             ? fmt::format("set key at screen 0.5, screen {:.4f} center top horizontal maxcols {} samplen 3\n",
                           1 - top / height, across)
             : "unset key\n";
    s += fmt::format("set bmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n",
                     (notes + (notes == 0 ? 78 : 95) + parts.tic_room) / height,
                     1 - (top + 18 + legend_row * static_cast<double>(legend_rows)) / height);
    s += parts.settings + parts.blocks;
    if (!parts.plots.empty()) return s + fmt::format("plot {}\n", fmt::join(parts.plots, ", "));
    s += "unset key\nunset tics\nunset grid\nset xrange [0:1]\nset yrange [0:1]\nunset logscale\n"
         "set label 'nothing measured yet, and no published number in this unit' at graph 0.5, "
         "graph 0.5 center\n";
    return s + "plot NaN notitle\n";
}

}  // namespace gnnbench
