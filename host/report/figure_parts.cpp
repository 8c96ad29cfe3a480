#include "report/figure_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/usize.hpp>

#include "report/format.hpp"

namespace gnnbench {
namespace {

constexpr std::array palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#000000", "#E69F00", "#56B4E9", "#8C7000"};

constexpr double least_panel_width = 180;  ///< in units of the page
constexpr double legend_row = 20;          ///< as gnuplot draws one, in units of the page

/// What a timeline's legend calls a span: each kind of communication by its name.
std::string span_class(const TimelineSpan& span) {
    if (span.communicates) return span.operation;
    return span.phase == "spmm" ? "SpMM" : "other computation";
}
constexpr std::array computation_classes{"SpMM", "other computation"};
constexpr std::array computation_colours{"#0072B2", "#009E73"};
constexpr std::array communication_colours{"#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#8C7000"};

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

std::string colour(std::size_t series) { return palette[series % palette.size()]; }

namespace {

/// The `place`th of `count` shades of a colour, from light to the colour itself.
std::string shade(std::size_t hue, std::size_t place, std::size_t count) {
    const std::string full = colour(hue);
    const double white =
        count < 2 ? 0 : 0.6 * static_cast<double>(count - 1 - place) / static_cast<double>(count - 1);
    std::string text = "#";
    for (const std::size_t at : {1U, 3U, 5U}) {
        const auto part = static_cast<double>(std::stoi(full.substr(at, 2), nullptr, 16));
        text += fmt::format("{:02X}", static_cast<int>(part + white * (255 - part)));
    }
    return text;
}

}  // namespace

std::vector<std::string> colours_of(const std::vector<FigureSeries>& series) {
    std::vector<std::string> hues, all;
    const auto hue_of = [](const FigureSeries& s) { return s.section.empty() ? s.name : s.section; };
    for (const FigureSeries& s : series)
        if (std::ranges::find(hues, hue_of(s)) == hues.end()) hues.push_back(hue_of(s));
    for (std::size_t i = 0; i < series.size(); ++i) {
        if (series.size() <= palette.size()) {
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

namespace {

/// The colours of shipped schemes, the same in every figure; those of one paper's figures differ.
constexpr std::pair<std::string_view, std::size_t> scheme_hues[] = {
    {"mg-gcn", 0},        {"plexus-3d", 0}, {"demirci-p2p", 0}, {"gossip-gcn", 0},  {"allreduce-gcn", 1},
    {"sa-1d", 1},         {"cagnet-1d", 3}, {"bns-gcn", 2},     {"cagnet-1.5d", 5}, {"cagnet-2d", 6},
    {"cagnet-3d", 7},     {"serial", 4},    {"cluster-gcn", 4}, {"sa-1.5d", 6},     {"gossip-active-passive", 2},
    {"minibatch-p2p", 5}, {"distgnn", 7},   {"pipegcn", 5},     {"sancus", 6},
};

/// By scheme: its own hue where that is free, else the first that is.
std::map<std::string, std::size_t> hues_of(const std::vector<std::string>& schemes) {
    std::map<std::string, std::size_t> hues;
    std::set<std::size_t> taken;
    for (const std::string& scheme : schemes) {
        if (hues.contains(scheme)) continue;
        const auto* const known =
            std::ranges::find(scheme_hues, scheme, &std::pair<std::string_view, std::size_t>::first);
        std::size_t hue = known == std::end(scheme_hues) ? 0 : known->second;
        while (taken.contains(hue) && taken.size() < palette.size()) hue = (hue + 1) % palette.size();
        hues[scheme] = hue;
        taken.insert(hue);
    }
    return hues;
}

}  // namespace

std::vector<std::string> bar_colours(const std::vector<FigureSeries>& series) {
    std::vector<std::string> schemes;
    for (const FigureSeries& s : series) schemes.push_back(s.scheme);
    const bool named = std::ranges::none_of(schemes, [](const std::string& s) { return s.empty(); });
    const auto hues = hues_of(schemes);
    if (!named || hues.size() < 2) return colours_of(series);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const auto before = std::ranges::count(schemes.begin(), schemes.begin() + std::ssize(all), schemes[i]);
        all.push_back(shade(hues.at(schemes[i]), usize(before), usize(std::ranges::count(schemes, schemes[i]))));
    }
    return all;
}

std::vector<std::string> series_colours(const std::vector<FigureSeries>& series) {
    std::vector<std::string> schemes, datasets;
    for (const FigureSeries& s : series) {
        schemes.push_back(s.scheme);
        if (std::ranges::find(datasets, s.dataset) == datasets.end()) datasets.push_back(s.dataset);
    }
    const bool named = std::ranges::none_of(schemes, [](const std::string& s) { return s.empty(); });
    const auto hues = hues_of(schemes);
    if (!named || hues.size() < 2) return colours_of(series);
    std::vector<std::string> all;
    for (const FigureSeries& s : series) {
        // From the full colour of the first dataset to a light one of the last.
        const auto dataset = usize(std::ranges::find(datasets, s.dataset) - datasets.begin());
        all.push_back(shade(hues.at(s.scheme), datasets.size() - 1 - dataset, datasets.size()));
    }
    return all;
}

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

FigureParts timeline_parts(const std::vector<TimelinePanel>& panels) {
    FigureParts f;
    std::vector<std::string> classes(computation_classes.begin(), computation_classes.end());
    std::map<std::string, std::string> blocks;
    std::string tics;
    double y = 0;
    for (const TimelinePanel& panel : panels) {
        f.settings += fmt::format("set label {} at graph 0, first {} offset 0,0.4 font ',11'\n",
                                  gnuplot_text(panel.title), y);
        for (std::int64_t rank = 0; rank < panel.timeline.ranks; ++rank) {
            tics += fmt::format("{}{} {}", tics.empty() ? "" : ", ", gnuplot_text(fmt::format("rank {}", rank)),
                                y - 0.5);
            for (const TimelineSpan& span : panel.timeline.spans) {
                if (span.rank != rank) continue;
                const double top = y - (span.communicates ? 0.5 : 0.1);
                const std::string name = span_class(span);
                if (std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
                blocks[name] += fmt::format("{} {} {} {} {} {}\n", (span.begin_s + span.end_s) * 500, top - 0.2,
                                            span.begin_s * 1e3, span.end_s * 1e3, top - 0.4, top);
            }
            y -= 1;
        }
        y -= 0.9;
    }
    for (std::size_t c = 0; c < classes.size(); ++c)
        if (const std::string& block = blocks[classes[c]]; !block.empty())
            f.add(
                block,
                fmt::format(
                    "using 1:2:3:4:5:6 with boxxyerror lc rgb '{}' fs solid 1.0 noborder",
                    c < computation_colours.size()
                        ? computation_colours[c]
                        : communication_colours[(c - computation_colours.size()) % communication_colours.size()]),
                classes[c]);
    f.settings +=
        fmt::format("set ytics ({}) nomirror\nset yrange [{}:0.9]\nunset grid\nset grid x\n", tics, y + 0.4);
    return f;
}

PanelFigure timeline_figure(const std::vector<TimelinePanel>& panels, const std::string& measured,
                            const std::string& simulated) {
    PanelFigure figure;
    for (const bool of_model : {false, true}) {
        std::vector<TimelinePanel> some;
        double rows = 0;
        for (const TimelinePanel& p : panels)
            if (p.simulated == of_model) {
                some.push_back(p);
                rows += static_cast<double>(p.timeline.ranks) + 0.9;
            }
        FigureParts f = timeline_parts(some);
        for (std::string& plot : f.plots) {  // the panels share a legend
            const std::string_view word = " title ";
            const std::size_t at = plot.rfind(word);
            const std::string name = plot.substr(at + word.size() + 1, plot.size() - at - word.size() - 2);
            plot.resize(at);
            if (std::ranges::find(figure.legend, name, &std::pair<std::string, std::string>::second) ==
                figure.legend.end())
                figure.legend.emplace_back(plot, name);
            plot += " notitle";
        }
        f.settings += "set xrange [0:*]\n";
        figure.panels.emplace_back(of_model ? simulated : measured, std::move(f));
        figure.panel_height = std::max(figure.panel_height, 70 + 18 * rows);
    }
    return figure;
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
        for (const std::string& line : lines_of(heading[i], characters(120))) below.push_back(line);
    const auto title = lines_of(heading.empty() ? "" : heading.front(), characters(92));
    f.top = heading.empty() ? 8 : 18.0 * static_cast<double>(title.size()) + 8;
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

std::string UprightWords::label(const std::string& text, double at, double units, const std::string& colour) {
    constexpr double line_height = 11;
    const double length = 0.022 * static_cast<double>(display_width(text)) + 0.01;
    double low = 0.02;
    for (bool moved = true; moved;) {
        moved = false;
        for (const Word& w : placed_)
            if (std::abs(w.units - units) < line_height && low < w.high && w.low < low + length) {
                low = w.high;
                moved = true;
            }
    }
    placed_.push_back({units, low, low + length});
    return fmt::format("set label {} at first {}, graph {} rotate by 90 front font ',9' tc rgb '{}'\n",
                       gnuplot_text(text), at, low, colour);
}

std::size_t panels_across(std::size_t panels, const FigureLook& look) {
    const auto fitting = std::clamp(static_cast<std::size_t>(look.units_across() / least_panel_width),
                                    std::size_t{1}, std::size_t{4});
    return std::min(panels, fitting);
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
    // Heights of a panel with its title and tics, and of the x axis' label; widths of the y axis' label, and of a panel's tics.
    const double panel = figure.panel_height;
    constexpr double axis = 50, y_label = 26, tics = 46;
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
        const double width = (width_units - y_label - 6) / static_cast<double>(across);
        const double top = frame.top + legend + row * panel, left = y_label + column * width;
        plots += fmt::format(
            "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n"
            "set bmargin at screen {:.4f}\nset title {} font ',12' offset 0,-0.6\n",
            (left + tics) / width_units, (left + width - 8) / width_units, 1 - (top + 20) / frame.height,
            1 - (top + panel - 48) / frame.height, gnuplot_text(title));
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
