#include "report/figure_bars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/figure_colours.hpp"
#include "report/format.hpp"

namespace gnnbench {
namespace {

/// A box from (x0, y0) to (x1, y1), as boxxyerror takes it.
std::string box(double x0, double x1, double y0, double y1) {
    return fmt::format("{} {} {} {} {} {}\n", (x0 + x1) / 2, (y0 + y1) / 2, x0, x1, y0, y1);
}

/// Full, pale or hatched: kinds of numbers are told apart without colour.
std::string bar_style(const std::string& colour, NumberKind kind) {
    const std::string boxes = fmt::format("with boxxyerror lc rgb '{}' lw 1 fs ", colour);
    switch (kind) {
        case NumberKind::ours:
            return boxes + "solid 0.9 border lc rgb 'black'";
        case NumberKind::simulated:
            return fmt::format("with boxxyerror lc rgb '{}' lw 2 fs solid 0.25 border lc rgb '{}'", colour,
                               colour);
        case NumberKind::published:
            break;
    }
    return boxes + "pattern 4 border";
}

void add_keys(FigureParts& f, const Legend& legend) {
    for (const auto& [kind, name] : legend.kinds()) f.add_key(bar_style("#555555", kind), name);
}

/// A label below each place; slanted where they are wider than it.
void put_tics(FigureParts& f, const std::vector<std::string>& labels, const FigureLook& look) {
    std::string list;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::string label = shortened(labels[i], 36);
        longest = std::max(longest, display_width(label));
        list += fmt::format("{}{} {}", i > 0 ? ", " : "", gnuplot_text(label), i);
    }
    constexpr double character = 7;
    const double place = (look.units_across() - 120) / static_cast<double>(labels.size());
    const bool slanted = character * static_cast<double>(longest) > place;
    if (slanted) f.tic_room = 5.0 * static_cast<double>(longest);
    f.settings += fmt::format("set xtics ({}) nomirror{}\nset xrange [-0.6:{}]\n", list,
                              slanted ? " rotate by -30" : "", static_cast<double>(labels.size()) - 0.4);
}

constexpr double line_height = 11;  // of a word, in units of the page

/// A word upright in a place without a bar.
std::string upright(const std::string& word, double x, const std::string& colour) {
    return fmt::format("set label {} at first {}, graph 0.02 rotate by 90 front font ',9' tc rgb '{}'\n",
                       gnuplot_text(word), x, colour);
}

/// A slot for each kind of number that a series has anywhere, and for its words.
using Slots = std::array<std::optional<double>, number_kinds.size()>;

bool has_words(const FigureSeries& s, NumberKind kind) {
    return kind == NumberKind::ours ? s.has_words() : kind == NumberKind::simulated && s.has_simulated_words();
}

/// Of each series; how many in all.
std::pair<std::vector<Slots>, double> slots_of(const FigureData& d, bool with_words) {
    std::vector<Slots> slots;
    double count = 0;
    for (const FigureSeries& s : d.series) {
        Slots& slot = slots.emplace_back();
        for (const NumberKind kind : number_kinds)
            if (s.has(kind) || (with_words && has_words(s, kind))) slot[usize(kind)] = count++;
    }
    return {slots, count};
}

/// What series have at place i instead of a number: f(series' index, kind, words).
template <typename F>
void each_word(const FigureData& d, std::size_t i, F f) {
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        const FigureSeries& series = d.series[s];
        if (!series.words[i].empty() && !series.of(NumberKind::ours)[i])
            f(s, NumberKind::ours, series.words[i] + (series.papers_words[i] ? ", paper" : ""));
        if (!series.simulated_words[i].empty() && !series.of(NumberKind::simulated)[i])
            f(s, NumberKind::simulated, series.simulated_words[i]);
    }
}

/// "OOM, paper, at Proteins: DGL; CAGNET".
std::vector<std::string> words_by_place(const FigureData& d) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < d.labels.size(); ++i) {
        std::map<std::string, std::vector<std::string>> series_of;
        each_word(d, i, [&](std::size_t s, NumberKind kind, const std::string& word) {
            series_of[word + (kind == NumberKind::simulated ? ", SIMULATED" : "")].push_back(d.series[s].name);
        });
        for (const auto& [word, series] : series_of)
            lines.push_back(fmt::format("{}, at {}: {}", word, d.labels[i], fmt::join(series, "; ")));
    }
    return lines;
}

}  // namespace

FigureParts bar_parts(const ResolvedTable& r, const FigureData& d, const FigureLook& look,
                      std::vector<std::string>& below) {
    FigureParts f;
    Legend legend(r);
    const PlotDefinition& plot = *r.definition->plot;
    put_tics(f, d.labels, look);
    const double units = (look.units_across() - 120) / static_cast<double>(d.labels.size());
    auto [slots, count] = slots_of(d, true);
    const bool words_fit = 0.86 / std::max(count, 1.0) * units >= line_height;
    if (!words_fit) {
        std::tie(slots, count) = slots_of(d, false);
        below = words_by_place(d);
    }
    const double width = 0.86 / std::max(count, 1.0);
    const auto colours = bar_colours(d.series);
    double smallest = 1e300;
    for (const FigureSeries& s : d.series)
        for (const auto& values : s.numbers)
            for (const auto& v : values)
                if (v && *v > 0) smallest = std::min(smallest, *v);
    const double floor = plot.log_y ? std::pow(10, std::floor(std::log10(smallest)) - 0.3) : 0;
    if (plot.log_y) f.settings += fmt::format("set yrange [{}:*]\n", floor);
    const auto left = [&, &slots = slots](std::size_t s, std::size_t i, NumberKind kind) {
        return static_cast<double>(i) - 0.43 + slots[s][usize(kind)].value_or(0) * width;
    };
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        const FigureSeries& series = d.series[s];
        for (const NumberKind kind : number_kinds) {
            const auto& values = series.of(kind);
            std::string block;
            for (std::size_t i = 0; i < values.size(); ++i)
                if (values[i] && *values[i] > floor)
                    block += box(left(s, i, kind), left(s, i, kind) + width, floor, *values[i]);
            if (!block.empty())
                f.add(block, "using 1:2:3:4:5:6 " + bar_style(colours[s], kind), legend.name(series, kind));
        }
    }
    for (std::size_t i = 0; words_fit && i < d.labels.size(); ++i)
        each_word(d, i, [&](std::size_t s, NumberKind kind, const std::string& word) {
            // The legend omits a series that consists of words only.
            const FigureSeries& series = d.series[s];
            const bool in_legend = std::ranges::any_of(number_kinds, [&](NumberKind k) { return series.has(k); });
            f.settings += upright(in_legend ? word : series.name + ": " + word, left(s, i, kind) + width / 2,
                                  kind == NumberKind::simulated ? colours[s] : "#555555");
        });
    add_keys(f, legend);
    return f;
}

FigureParts stacked_parts(const ResolvedTable& r, const FigureData& d, const FigureLook& look) {
    FigureParts f;
    Legend legend(r);
    put_tics(f, d.labels, look);
    f.settings += "set yrange [0:*]\n";
    const auto kinds =
        static_cast<double>(std::ranges::count_if(number_kinds, [&](NumberKind k) { return d.has(k); }));
    const double width = kinds < 2 ? 0.6 : 0.8 / kinds;  // a single bar is centred
    std::vector<std::vector<double>> heights(number_kinds.size(), std::vector<double>(d.labels.size(), 0));
    for (std::size_t s = 0; s < d.series.size(); ++s) {
        double slot = 0;
        for (const NumberKind kind : number_kinds) {
            if (!d.has(kind)) continue;
            std::string block;
            for (std::size_t i = 0; i < d.labels.size(); ++i) {
                const auto& v = d.series[s].of(kind)[i];
                if (!v) continue;
                const double left = static_cast<double>(i) - width * std::max(kinds, 1.0) / 2 + slot * width;
                double& height = heights[usize(kind)][i];
                block += box(left, left + width, height, height + *v);
                height += *v;
            }
            ++slot;
            if (!block.empty())
                f.add(block, "using 1:2:3:4:5:6 " + bar_style(colour(s), kind), legend.name(d.series[s], kind));
        }
    }
    // Why a place has no bar.
    for (std::size_t i = 0; i < d.labels.size(); ++i) {
        if (std::ranges::any_of(heights, [i](const auto& of_kind) { return of_kind[i] > 0; })) continue;
        for (const FigureSeries& s : d.series) {
            const std::string& word = s.words[i].empty() ? s.simulated_words[i] : s.words[i];
            if (word.empty()) continue;
            f.settings += upright(word, static_cast<double>(i), "#555555");
            break;
        }
    }
    add_keys(f, legend);
    return f;
}

}  // namespace gnnbench
