#include "report/figure_parts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/format.hpp"

namespace gnnbench {
namespace {

constexpr std::array palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#000000", "#E69F00", "#56B4E9", "#8C7000"};

/// Which of a timeline's classes a span is drawn as.
std::size_t span_class(const TimelineSpan& span) {
    if (span.communicates) return 2;
    return span.phase == "spmm" ? 0 : 1;
}
constexpr std::array class_names{"SpMM", "other computation", "communication"};
constexpr std::array class_colours{"#0072B2", "#009E73", "#E69F00"};

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

std::string gnuplot_text(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '`')
            out += '\'';  // gnuplot would run what stands between backquotes
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
    legend |= !title.empty();
}

FigureParts timeline_parts(const std::vector<TimelinePanel>& panels) {
    FigureParts f;
    std::array<std::string, class_names.size()> blocks;
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
                blocks[span_class(span)] +=
                    fmt::format("{} {} {} {} {} {}\n", (span.begin_s + span.end_s) * 500, top - 0.2,
                                span.begin_s * 1e3, span.end_s * 1e3, top - 0.4, top);
            }
            y -= 1;
        }
        y -= 0.9;
    }
    for (std::size_t c = 0; c < blocks.size(); ++c)
        if (!blocks[c].empty())
            f.add(blocks[c],
                  fmt::format("using 1:2:3:4:5:6 with boxxyerror lc rgb '{}' fs solid 1.0 noborder",
                              class_colours[c]),
                  class_names[c]);
    f.settings +=
        fmt::format("set ytics ({}) nomirror\nset yrange [{}:0.9]\nunset grid\nset grid x\n", tics, y + 0.4);
    return f;
}

std::string assembled(const FigureParts& parts, const PlotDefinition& plot,
                      const std::vector<std::string>& heading, FigureFormat format) {
    std::vector<std::string> below;
    for (std::size_t i = 1; i < heading.size(); ++i)
        for (const std::string& line : lines_of(heading[i], 120)) below.push_back(line);
    const std::size_t legend_rows = parts.legend ? (parts.plots.size() + 2) / 3 : 0;
    const auto title = lines_of(heading.empty() ? "" : heading.front(), 92);
    const double top = 18.0 * static_cast<double>(title.size()) + 8;
    const double notes = below.empty() ? 0 : 14.0 * static_cast<double>(below.size()) + 12;
    const double height = 420 + parts.tic_room + top + 18.0 * static_cast<double>(legend_rows) + notes;
    std::string s =
        format == FigureFormat::svg
            ? fmt::format(
                  "set terminal svg size 900,{:.0f} font 'Helvetica,13' background rgb 'white' noenhanced\n",
                  height)
            : fmt::format(
                  "set terminal pngcairo size 1800,{:.0f} fontscale 2 linewidth 2 pointscale 2 font 'Sans,10' "
                  "noenhanced\n",
                  2 * height);
    s += "set encoding utf8\nset border 3\nset tics nomirror out\nset grid y lc rgb '#dddddd' lt 1\n";
    for (std::size_t i = 0; i < title.size(); ++i)
        s += fmt::format("set label {} at screen 0.5, screen {:.4f} center font ',13'\n", gnuplot_text(title[i]),
                         1 - (14 + 18.0 * static_cast<double>(i)) / height);
    if (!plot.x_label.empty()) s += "set xlabel " + gnuplot_text(plot.x_label) + "\n";
    if (!plot.y_label.empty()) s += "set ylabel " + gnuplot_text(plot.y_label) + "\n";
    s += parts.legend
             ? fmt::format("set key at screen 0.5, screen {:.4f} center top horizontal maxcols 3 samplen 3\n",
                           1 - top / height)
             : "unset key\n";
    s += fmt::format("set bmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n",
                     (notes + (below.empty() ? 78 : 95) + parts.tic_room) / height,
                     1 - (top + 12 + 18.0 * static_cast<double>(legend_rows)) / height);
    for (std::size_t i = 0; i < below.size(); ++i)
        s += fmt::format("set label {} at screen 0.02, screen {:.4f} left font ',10' tc rgb '#333333'\n",
                         gnuplot_text(below[i]), (notes - 6 - 14.0 * static_cast<double>(i)) / height);
    s += parts.settings + parts.blocks;
    if (!parts.plots.empty()) return s + fmt::format("plot {}\n", fmt::join(parts.plots, ", "));
    s += "unset key\nunset tics\nunset grid\nset xrange [0:1]\nset yrange [0:1]\nunset logscale\n"
         "set label 'nothing measured yet, and no number of the paper that this axis could show' at graph 0.5, "
         "graph 0.5 center\n";
    return s + "plot NaN notitle\n";
}

}  // namespace gnnbench
