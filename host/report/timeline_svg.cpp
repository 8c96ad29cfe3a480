#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "report/html.hpp"
#include "report/timeline.hpp"
#include "report/timeline_lanes.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

/// Colours that the colour-blind can distinguish (after Okabe and Ito), of different lightness within a lane so that a
/// grey print keeps them apart too. Of a phase, or of an operation of the phase comm.
struct KindColour {
    std::string_view kind, fill, text;
};
constexpr std::array<KindColour, 18> colours = {{{"spmm", "#0072b2", "#ffffff"},
                                                 {"gemm", "#e69f00", "#000000"},
                                                 {"activation", "#009e73", "#ffffff"},
                                                 {"loss", "#7b3294", "#ffffff"},
                                                 {"optimizer", "#f0e442", "#000000"},
                                                 {"pack", "#56b4e9", "#000000"},
                                                 {"sampling", "#8c6d31", "#ffffff"},
                                                 {"broadcast", "#d55e00", "#ffffff"},
                                                 {"all-reduce", "#cc79a7", "#000000"},
                                                 {"point-to-point", "#8c2d04", "#ffffff"},
                                                 {"all-to-all", "#e7298a", "#ffffff"},
                                                 {"all-gather", "#fdae61", "#000000"},
                                                 {"reduce-scatter", "#a50f15", "#ffffff"},
                                                 {"reduce", "#f4a582", "#000000"},
                                                 {"one-sided", "#67000d", "#ffffff"},
                                                 {"comm", "#ff7f50", "#000000"},
                                                 {"wait", "#bbbbbb", "#000000"},
                                                 {"other", "#ffffff", "#000000"}}};
const KindColour& colour_of(const TimelineSpan& s) {
    for (const std::string& kind : {s.phase == "comm" ? s.operation : s.phase, s.phase})
        if (const auto* found = std::ranges::find(colours, kind, &KindColour::kind); found != colours.end())
            return *found;
    return colours.back();
}

// Lengths in pixels.
constexpr double width = 1000, left = 150, right = 20, plot_width = width - left - right;
constexpr double top = 78, lane_height = 22, lane_gap = 3, rank_gap = 14;
constexpr double least_bar = 0.4, least_labelled = 11, letter = 5.5;

/// 1, 2 or 5 times a power of ten, so that at most ten of them fit.
double tick_step(double length) {
    const double power = std::pow(10.0, std::floor(std::log10(length / 10)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (length / (factor * power) <= 10) return factor * power;
    return 10 * power;
}

/// Writes the figure from top to bottom.
class Figure {
public:
    Figure(const Timeline& timeline, const TimelineWindow& window)
        : t_(timeline), places_(places_of(timeline)), begin_s_(window.begin_s) {
        double last_s = t_.wall_s;
        for (const TimelineSpan& s : t_.spans) last_s = std::max(last_s, s.end_s);
        end_s_ = std::min(window.end_s, last_s);
        if (!(begin_s_ >= 0 && begin_s_ < end_s_))
            throw SpecError(
                fmt::format("a figure of the epoch from {:g} ms on would be empty: the epoch ends "
                            "after {:g} ms. Choose --from and --to within it.",
                            window.begin_s * 1e3, end_s_ * 1e3));
    }

    std::string text() {
        double y = top;
        for (std::int64_t rank = 0; rank < t_.ranks; ++rank) y = draw_rank(rank, y);
        axis(y - rank_gap + 4);
        const double height = y + 40;
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
                   "viewBox=\"0 0 {0:g} {1:g}\" font-family=\"Helvetica, Arial, sans-serif\" "
                   "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
                   width, height) +
               heading() + legend() + grid_ + body_ + "</svg>\n";
    }

private:
    double x_of(double s) const {
        return left + plot_width * std::clamp((s - begin_s_) / (end_s_ - begin_s_), 0.0, 1.0);
    }
    bool shown(const TimelineSpan& s) const { return s.end_s >= begin_s_ && s.begin_s <= end_s_; }

    std::string heading() const {
        std::string setting =
            fmt::format("{}, {} partition, {} rank{} of {} thread{}, {} kernel, epoch {} of trial {}", t_.dataset,
                        t_.partitioner, t_.ranks, t_.ranks == 1 ? "" : "s", t_.threads_per_rank,
                        t_.threads_per_rank == 1 ? "" : "s", t_.kernel, t_.epoch, t_.trial.substr(0, 8));
        if (!t_.simulated_on.empty()) setting += "; SIMULATED on " + t_.simulated_on;
        if (t_.oversubscribed) setting += "; more ranks than cores: not a measure of speed";
        return fmt::format(
            "<text x=\"20\" y=\"24\" font-size=\"16\" font-weight=\"bold\">{}</text>\n"
            "<text x=\"20\" y=\"42\" fill=\"#444444\">{}</text>\n",
            html_escaped(t_.scheme), html_escaped(setting));
    }

    /// The phases and kinds of communication that the figure shows.
    std::string legend() const {
        std::string out;
        double x = 20;  // as the heading, so that every kind has room
        for (const KindColour& c : colours) {
            if (std::ranges::none_of(t_.spans, [&](const auto& s) { return &colour_of(s) == &c && shown(s); }))
                continue;
            out += fmt::format(
                "<rect x=\"{0:g}\" y=\"54\" width=\"14\" height=\"12\" fill=\"{1}\" "
                "stroke=\"#333333\" stroke-width=\"0.5\"/><text x=\"{2:g}\" y=\"64\">{3}</text>\n",
                x, c.fill, x + 19, c.kind);
            x += 38 + 6.0 * static_cast<double>(c.kind.size());
        }
        if (numbered_)
            out += fmt::format(
                "<text x=\"{:g}\" y=\"64\" fill=\"#444444\">numbers: stages of one product</text>\n", x + 6);
        return out;
    }

    double draw_rank(std::int64_t rank, double y) {
        const double begin = y;
        for (const bool communicates : {false, true}) {
            const int lanes = lane_count(t_, places_, rank, communicates);
            const double height = lanes == 1 ? lane_height : lane_height * 0.6 * lanes;
            body_ += fmt::format(
                "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"#f4f4f4\"/>\n"
                "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\" font-size=\"11\">{}</text>\n",
                left, y, plot_width, height, left - 8, y + height / 2 + 4,
                communicates ? "communication" : "computation");
            for (std::size_t i = 0; i < places_.size(); ++i) {
                const TimelineSpan& s = t_.spans[i];
                if (s.rank == rank && s.communicates == communicates && shown(s))
                    bar(s, places_[i], y + height * places_[i].lane / lanes, height / lanes);
            }
            y += height + lane_gap;
        }
        body_ += fmt::format("<text x=\"12\" y=\"{:g}\" font-weight=\"bold\">rank {}</text>\n",
                             (begin + y - lane_gap) / 2 + 4, rank);
        return y - lane_gap + rank_gap;
    }

    void bar(const TimelineSpan& s, const SpanPlace& place, double y, double height) {
        const KindColour& colour = colour_of(s);
        const double x = x_of(s.begin_s), w = std::max(least_bar, x_of(s.end_s) - x);
        std::string about = fmt::format("{}: {} ms", s.operation, three_digits((s.end_s - s.begin_s) * 1e3));
        if (s.group_size > 0) about += fmt::format(", {} bytes, {} ranks", s.bytes, s.group_size);
        // A border would cover all of a narrow bar.
        fmt::format_to(std::back_inserter(body_),
                       "<rect x=\"{:.2f}\" y=\"{:g}\" width=\"{:.2f}\" height=\"{:g}\" fill=\"{}\"{}>"
                       "<title>{}</title></rect>\n",
                       x, y, w, height, colour.fill, w > 3 ? " stroke=\"#333333\" stroke-width=\"0.5\"" : "",
                       html_escaped(about));
        std::string label = place.stage == 0 ? "" : fmt::format("{}", place.stage);
        if (const std::string named = s.operation + (label.empty() ? "" : " " + label);
            s.communicates && w >= letter * static_cast<double>(named.size() + 1))
            label = named;
        if (label.empty() || w < least_labelled) return;
        numbered_ |= place.stage != 0;
        fmt::format_to(
            std::back_inserter(body_),
            "<text x=\"{:.2f}\" y=\"{:g}\" text-anchor=\"middle\" font-size=\"10\" fill=\"{}\">{}</text>\n",
            x + w / 2, y + height / 2 + 3.5, colour.text, html_escaped(label));
    }

    void axis(double y) {
        const double step = tick_step((end_s_ - begin_s_) * 1e3);
        fmt::format_to(std::back_inserter(body_),
                       "<line x1=\"{0:g}\" y1=\"{2:g}\" x2=\"{1:g}\" y2=\"{2:g}\" stroke=\"#333333\"/>\n", left,
                       left + plot_width, y);
        const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
        for (auto k = static_cast<std::int64_t>(std::ceil(begin_s_ * 1e3 / step - 1e-9));
             static_cast<double>(k) * step <= end_s_ * 1e3; ++k) {
            const double ms = static_cast<double>(k) * step, x = x_of(ms / 1e3);
            fmt::format_to(std::back_inserter(grid_),
                           "<line x1=\"{0:.2f}\" y1=\"{1:g}\" x2=\"{0:.2f}\" y2=\"{2:g}\" stroke=\"#cccccc\"/>\n",
                           x, top - 4, y + 4);
            fmt::format_to(std::back_inserter(body_),
                           "<text x=\"{:.2f}\" y=\"{:g}\" text-anchor=\"middle\" font-size=\"11\">{}</text>\n", x,
                           y + 17, fixed(ms, decimals));
        }
        fmt::format_to(std::back_inserter(body_),
                       "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">time in the epoch (ms)</text>\n",
                       left + plot_width / 2, y + 33);
    }

    const Timeline& t_;
    const std::vector<SpanPlace> places_;
    double begin_s_, end_s_ = 0;
    bool numbered_ = false;
    std::string grid_, body_;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline, const TimelineWindow& window) {
    return Figure(timeline, window).text();
}

}  // namespace gnnbench
