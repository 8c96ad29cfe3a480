#include "report/figure_timelines.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace gnnbench {
namespace {

/// What a timeline's legend calls a span: each kind of communication by its name.
std::string span_class(const TimelineSpan& span) {
    if (span.communicates) return span.operation;
    return span.phase == "spmm" ? "SpMM" : "other computation";
}
constexpr std::array computation_classes{"SpMM", "other computation"};
constexpr std::array computation_colours{"#0072B2", "#009E73"};
constexpr std::array communication_colours{"#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#8C7000"};

}  // namespace

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

}  // namespace gnnbench
