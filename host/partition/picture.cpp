#include "partition/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

constexpr double side = 512, left = 70, bars = 110, gap = 12, top = 62;
constexpr double matrix_x = left, matrix_y = top + bars + gap;
constexpr double width = left + side + gap + bars + 90, height = matrix_y + side + 92;

/// From few rows to many; what nobody sends is white.
constexpr std::array shades = {"#dbe9f6", "#bad6eb", "#89bedc", "#539ecd", "#2b7bba", "#0b559f", "#08306b"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

/// "12", "3.4 k", "1.2 M".
std::string short_number(double x) {
    if (x >= 1e6) return fmt::format("{:.1f} M", x / 1e6);
    if (x >= 1e4) return fmt::format("{:.1f} k", x / 1e3);
    return fmt::format("{:.{}f}", x, x == std::floor(x) || x >= 100 ? 0 : 1);
}

class Drawing {
public:
    explicit Drawing(const std::string& title) {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
            "<text x=\"{2:.0f}\" y=\"24\" font-size=\"15\">{3}</text>\n",
            width, height, left, escaped(title));
    }
    template <class... Args>
    void add(fmt::format_string<Args...> form, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
    }
    void label(double x, double y, const std::string& words, const char* anchor = "start") {
        add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(words));
    }
    void vertical_label(double x, double y, const std::string& words) {
        add("<text transform=\"translate({:.1f},{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", x, y,
            escaped(words));
    }
    std::string finish() { return std::move(text_) + "</svg>\n"; }

private:
    std::string text_;
};

/// Equal steps of log(rows), so that hubs do not turn all others pale.
class Shading {
public:
    explicit Shading(std::int64_t most) : most_(std::max<std::int64_t>(most, 1)) {}
    /// Index into shades; −1: nothing is sent.
    int of(std::int64_t rows) const {
        if (rows <= 0) return -1;
        const double share = std::log(static_cast<double>(rows)) / std::log(static_cast<double>(most_) + 1);
        return std::min(static_cast<int>(share * count), count - 1);
    }
    /// The fewest rows with that shade.
    std::int64_t least(int shade) const {
        return static_cast<std::int64_t>(
            std::ceil(std::pow(static_cast<double>(most_) + 1, shade / double{count})));
    }

private:
    static constexpr int count = static_cast<int>(shades.size());
    std::int64_t most_;
};

/// One path for each shade; neighbours of one shade in a row are one stroke.
void draw_matrix(Drawing& d, const PartitionCost& cost, const Shading& shading) {
    const std::size_t parts = cost.parts.size();
    const double cell = side / static_cast<double>(parts);
    std::array<std::string, shades.size()> paths;
    for (std::size_t p = 0; p < parts; ++p)
        for (std::size_t q = 0; q < parts;) {
            const int shade = shading.of(cost.rows_between[p * parts + q]);
            std::size_t end = q + 1;
            while (end < parts && shading.of(cost.rows_between[p * parts + end]) == shade) ++end;
            if (shade >= 0)
                fmt::format_to(std::back_inserter(paths[usize(shade)]), "M{:.5g} {:.5g}h{:.5g}",
                               static_cast<double>(q) * cell, (static_cast<double>(p) + 0.5) * cell,
                               static_cast<double>(end - q) * cell);
            q = end;
        }
    d.add("<g transform=\"translate({:.0f},{:.0f})\" fill=\"none\" stroke-width=\"{:.4g}\">\n", matrix_x, matrix_y,
          cell);
    for (std::size_t s = 0; s < paths.size(); ++s)
        if (!paths[s].empty()) d.add("<path stroke=\"{}\" d=\"{}\"/>\n", shades[s], paths[s]);
    d.add(
        "</g>\n<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"none\" "
        "stroke=\"#888\"/>\n",
        matrix_x, matrix_y, side, side);
    const auto ticks = std::min<std::size_t>(parts, 8);
    for (std::size_t t = 0; t <= ticks; ++t) {
        const std::size_t part = std::min(t * parts / ticks, parts - 1);
        if (t == ticks && parts <= 8) break;
        const double at = (static_cast<double>(part) + 0.5) * cell;
        d.label(matrix_x - 6, matrix_y + at + 4, std::to_string(part), "end");
        d.label(matrix_x + at, matrix_y + side + 16, std::to_string(part), "middle");
    }
    d.vertical_label(18, matrix_y + side / 2, "sending part");
    d.label(matrix_x + side / 2, matrix_y + side + 34, "receiving part", "middle");
}

/// A bar for each part, with the mean as a line. Sent rows lie beside the matrix' rows, received ones above its
/// columns.
void draw_volumes(Drawing& d, const PartitionCost& cost) {
    const Spread sent = cost.spread(&PartCost::sent_rows), received = cost.spread(&PartCost::received_rows);
    const double most = static_cast<double>(std::max<std::int64_t>({sent.maximum, received.maximum, 1}));
    const double step = side / static_cast<double>(cost.parts.size());
    const double sent_x = matrix_x + side + gap, received_y = matrix_y - gap;
    std::string sent_bars, received_bars;
    for (std::size_t p = 0; p < cost.parts.size(); ++p) {
        const double at = static_cast<double>(p) * step;
        const auto bar = [&](std::int64_t rows) { return static_cast<double>(rows) / most * bars; };
        fmt::format_to(std::back_inserter(sent_bars), "M{:.5g} {:.5g}h{:.5g}v{:.5g}H{:.5g}z", sent_x,
                       matrix_y + at, bar(cost.parts[p].sent_rows), step, sent_x);
        fmt::format_to(std::back_inserter(received_bars), "M{:.5g} {:.5g}v{:.5g}h{:.5g}V{:.5g}z", matrix_x + at,
                       received_y, -bar(cost.parts[p].received_rows), step, received_y);
    }
    d.add("<path fill=\"#539ecd\" d=\"{}\"/>\n<path fill=\"#e08214\" d=\"{}\"/>\n", sent_bars, received_bars);
    const double sent_mean = sent_x + sent.mean / most * bars,
                 received_mean = received_y - received.mean / most * bars;
    d.add("<path stroke=\"black\" stroke-dasharray=\"4 3\" d=\"M{:.1f} {:.1f}v{:.1f}M{:.1f} {:.1f}h{:.1f}\"/>\n",
          sent_mean, matrix_y, side, matrix_x, received_mean, side);
    const auto words = [](const Spread& s) {
        return std::array{fmt::format("mean {}", short_number(s.mean)),
                          fmt::format("max {}", short_number(static_cast<double>(s.maximum))),
                          fmt::format("max ÷ mean {:.2f}", s.imbalance())};
    };
    d.label(sent_x, matrix_y + side + 30, "rows sent");
    for (double y = matrix_y + side + 45; const std::string& line : words(sent)) d.label(sent_x, y, line), y += 15;
    d.label(sent_x, matrix_y - gap - 52, "rows received");
    for (double y = matrix_y - gap - 36; const std::string& line : words(received))
        d.label(sent_x, y, line), y += 15;
}

void draw_legend(Drawing& d, const Shading& shading) {
    double x = matrix_x;
    const double y = matrix_y + side + 52;
    d.label(x, y + 12, "rows:");
    x += 42;
    std::int64_t before = 0;
    for (std::size_t s = 0; s < shades.size(); ++s) {
        const std::int64_t least = shading.least(static_cast<int>(s));
        if (least == before) continue;  // fewer rows than shades
        before = least;
        d.add("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"14\" fill=\"{}\"/>\n", x, y, shades[s]);
        d.label(x + 18, y + 12, "≥ " + short_number(static_cast<double>(least)));
        x += 68;
    }
}

}  // namespace

std::string picture(const PartitionCost& cost, const std::string& title) {
    Drawing d(title);
    d.label(left, 44,
            fmt::format("Σ(λ−1) = {} rows a product, {} of {} pairs of parts exchange any",
                        cost.connectivity_minus_one,
                        std::ranges::count_if(cost.rows_between, [](std::int64_t rows) { return rows > 0; }),
                        cost.parts.size() * (cost.parts.size() - 1)));
    const Shading shading(cost.rows_between.empty() ? 1 : *std::ranges::max_element(cost.rows_between));
    draw_matrix(d, cost, shading);
    draw_volumes(d, cost);
    draw_legend(d, shading);
    return d.finish();
}

}  // namespace gnnbench
