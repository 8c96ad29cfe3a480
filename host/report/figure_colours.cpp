#include "report/figure_colours.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

constexpr std::array palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#000000", "#E69F00", "#56B4E9", "#8C7000"};

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

}  // namespace gnnbench
