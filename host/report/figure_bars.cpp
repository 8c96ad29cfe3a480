#include "report/figure_bars.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "report/format.hpp"

namespace gnnbench {
namespace {

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

}  // namespace

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

}  // namespace gnnbench
