#include "report/scaling_figure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "report/figure_colours.hpp"
#include "report/figure_parts.hpp"
#include "report/layout.hpp"
#include "report/remarks.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

constexpr const char* ideal_style = "using 1:2 with lines lc rgb '#888888' lw 1.5 dt 3";

/// What tells lines of one dataset apart.
struct LineKey {
    std::string scheme, partitioner, others;
    auto operator<=>(const LineKey&) const = default;
};

/// As tables have it: over the base of its own setting.
std::optional<double> efficiency_of(const ComparisonCell& cell) {
    if (cell.efficiency || !cell.speed_up) return cell.efficiency;
    return cell.speed_up->value * cell.speed_up->base_gpus / cell.gpus;
}

std::string other_settings(const ComparisonCell& cell, const std::vector<std::string>& keys) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < cell.others.size(); ++i) all.push_back(keys[i] + "=" + cell.others[i]);
    return fmt::format("{}", fmt::join(all, ", "));
}

/// Cells of one dataset by line, in order of appearance.
class LineGathering {
public:
    void add(const ComparisonCell& cell, const std::vector<std::string>& keys) {
        const LineKey key{cell.scheme, cell.partitioner, other_settings(cell, keys)};
        if (!points_.contains(key)) order_.push_back(key);
        points_[key][cell.gpus] = {cell.gpus, *cell.epoch_s, cell.oversubscribed, cell.sent_bytes_per_epoch,
                                   efficiency_of(cell)};
        if (cell.scheme_name == "serial") serial_.insert(key);
        if (cell.partitioner != "none") partitioned_[{cell.scheme, "", key.others}].insert(cell.partitioner);
        partitioners_.insert(cell.partitioner);
    }

    std::vector<ScalingLine> lines() {
        std::vector<ScalingLine> all;
        for (const LineKey& key : order_) {
            const auto split = partitioned_.find({key.scheme, "", key.others});
            if (key.partitioner == "none" && split != partitioned_.end()) continue;  // it begins the others' lines
            ScalingLine line{name_of(key), serial_.contains(key), {}};
            std::map<int, ScalingPoint> points = points_[key];
            if (const auto whole = points_.find({key.scheme, "none", key.others}); whole != points_.end())
                points.insert(whole->second.begin(), whole->second.end());
            for (const auto& [gpus, point] : points) line.points.push_back(point);
            all.push_back(std::move(line));
        }
        return all;
    }

private:
    std::string name_of(const LineKey& key) const {
        const std::size_t several = partitioners_.size() - partitioners_.count("none");
        std::string name = key.scheme;
        if (several > 1 && key.partitioner != "none") name += ", " + key.partitioner;
        return key.others.empty() ? name : name + ", " + key.others;
    }

    std::vector<LineKey> order_;
    std::map<LineKey, std::map<int, ScalingPoint>> points_;
    std::map<LineKey, std::set<std::string>> partitioned_;
    std::set<LineKey> serial_;
    std::set<std::string> partitioners_;
};

/// Serial on one GPU if there is that, else the fewest GPUs, else the shortest time.
void find_base(ScalingPanel& panel) {
    const auto& best = *std::ranges::min_element(panel.lines, {}, [](const ScalingLine& line) {
        const ScalingPoint& first = line.points.front();
        return std::tuple(!(line.serial && first.gpus == 1), first.gpus, first.epoch_s.median);
    });
    panel.base_name = best.name;
    panel.base = best.points.front();
}

/// A point's number and its interval, in the unit of the axis; trials that are too few have none.
struct Drawn {
    double middle = 0, low = 0, high = 0;
};
constexpr std::int64_t fewest_trials = 4;

/// What the y axis shows of a point.
class Quantity {
public:
    Quantity(ScalingQuantity kind, bool weak, const std::vector<ScalingPanel>& panels) : kind_(kind), weak_(weak) {
        double most = 0;
        for (const ScalingPanel& panel : panels)
            for (const ScalingLine& line : panel.lines)
                for (const ScalingPoint& p : line.points)
                    most = std::max(most,
                                    kind == ScalingQuantity::volume ? p.sent_bytes.value_or(0) : p.epoch_s.high);
        if (kind == ScalingQuantity::time) unit_ = time_unit(most);
        if (kind == ScalingQuantity::volume) unit_ = byte_unit(most);
    }

    std::string label() const {
        switch (kind_) {
            case ScalingQuantity::time:
                return fmt::format("time per epoch ({})", unit_.name);
            case ScalingQuantity::volume:
                return fmt::format("sent in an epoch ({})", unit_.name);
            case ScalingQuantity::efficiency:
                break;
        }
        return weak_ ? "weak efficiency" : "parallel efficiency";
    }
    /// What the figure is of.
    std::string title() const {
        return kind_ == ScalingQuantity::time     ? "time of an epoch"
               : kind_ == ScalingQuantity::volume ? "payload sent in an epoch"
               : weak_                            ? "weak efficiency of an epoch"
                                                  : "parallel efficiency of an epoch";
    }
    /// What the legend calls the ideal, given whose time it begins with.
    std::string ideal(const std::string& base) const {
        if (kind_ == ScalingQuantity::efficiency) return "ideal: 1";
        return "ideal: " + base + (weak_ ? "" : " ÷ gpus");
    }
    /// Why no point has a number above 0.
    std::string_view why_nothing() const {
        switch (kind_) {
            case ScalingQuantity::volume:
                return "all its bytes are 0";
            case ScalingQuantity::efficiency:
                return "the time of its base is 0";
            case ScalingQuantity::time:
                break;
        }
        return "all its times are 0";
    }
    bool logarithmic() const { return kind_ != ScalingQuantity::efficiency; }

    /// Empty: the point has none, such as a time or a volume of 0 on a logarithmic axis.
    std::optional<Drawn> of(const ScalingPoint& p, const ScalingPanel& panel) const {
        const Estimate& e = p.epoch_s;
        if (kind_ != ScalingQuantity::volume && !(e.median > 0)) return std::nullopt;
        const bool known = e.has_interval() && e.trials >= fewest_trials;
        const double low = known ? e.low : e.median, high = known ? e.high : e.median;
        switch (kind_) {
            case ScalingQuantity::time:
                return Drawn{e.median / unit_.size, low / unit_.size, high / unit_.size};
            case ScalingQuantity::volume: {
                const double sent = p.sent_bytes.value_or(0) / unit_.size;
                return sent > 0 ? std::optional(Drawn{sent, sent, sent}) : std::nullopt;
            }
            case ScalingQuantity::efficiency:
                break;
        }
        if (p.efficiency)
            return Drawn{*p.efficiency, *p.efficiency * e.median / high, *p.efficiency * e.median / low};
        const double base =
            panel.base.epoch_s.median * (weak_ ? 1 : static_cast<double>(panel.base.gpus) / p.gpus);
        return Drawn{base / e.median, base / high, base / low};
    }

    /// The ideal: the base's time divided by the GPUs, that time under weak scaling, or an efficiency of 1, to the most
    /// GPUs of the panel.
    std::string ideal_points(const ScalingPanel& panel) const {
        int most = panel.base.gpus;
        for (const ScalingLine& line : panel.lines) most = std::max(most, line.points.back().gpus);
        if (most == panel.base.gpus || kind_ == ScalingQuantity::volume) return "";
        if (kind_ == ScalingQuantity::efficiency) return fmt::format("{} 1\n{} 1\n", panel.base.gpus, most);
        const double first = panel.base.epoch_s.median / unit_.size;
        if (!(first > 0)) return "";
        return fmt::format("{} {}\n{} {}\n", panel.base.gpus, first, most,
                           weak_ ? first : first * panel.base.gpus / most);
    }

private:
    ScalingQuantity kind_;
    bool weak_;  ///< the problem grows as the GPUs do
    Unit unit_{};
};

/// One y axis for all panels.
struct Extent {
    double low = 1e300, high = 0;
};
Extent extent_of(const std::vector<ScalingPanel>& panels, const Quantity& quantity) {
    Extent e;
    for (const ScalingPanel& panel : panels)
        for (const ScalingLine& line : panel.lines)
            for (const ScalingPoint& p : line.points)
                if (const auto drawn = quantity.of(p, panel)) {
                    e.low = std::min(e.low, drawn->low > 0 ? drawn->low : drawn->middle);
                    e.high = std::max(e.high, drawn->high);
                }
    return e;
}

/// "set xtics" at the measured numbers of GPUs, "set ytics" at 1, 2 and 5 times the powers of ten.
std::string panel_axes(const ScalingPanel& panel, const Quantity& quantity, const Extent& extent) {
    std::set<int> gpus;
    for (const ScalingLine& line : panel.lines)
        for (const ScalingPoint& p : line.points) gpus.insert(p.gpus);
    std::vector<std::string> x, y;
    for (const int g : gpus) x.push_back(fmt::format("\"{0}\" {0}", g));
    std::string across = fmt::format("set logscale x 2\nset xtics ({}) nomirror\nset xrange [{:g}:{:g}]\n",
                                     fmt::join(x, ", "), *gpus.begin() / 1.25, *gpus.rbegin() * 1.25);
    if (extent.high <= 0) return across;
    if (!quantity.logarithmic())
        return across + fmt::format("set yrange [0:{:g}]\n", std::max(1.05, extent.high * 1.05));
    const double low = extent.low / 1.3, high = extent.high * 1.3;
    // NOLINTNEXTLINE(bugprone-float-loop-counter): powers, not steps
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
        for (const double factor : {1.0, 2.0, 5.0})
            if (factor * power >= low && factor * power <= high)
                y.push_back(fmt::format("\"{0:g}\" {0:g}", factor * power));
    return across + fmt::format("set logscale y\nset ytics ({}) nomirror\nset yrange [{:g}:{:g}]\n",
                                fmt::join(y, ", "), low, high);
}

/// Lines of one number of GPUs beside each other: intervals of several lines would cover each other.
double beside(std::size_t number, std::size_t lines) {
    return std::pow(1.02, static_cast<double>(number) - static_cast<double>(lines - 1) / 2);
}

std::string with_intervals(const ScalingLine& line, const ScalingPanel& panel, const Quantity& quantity,
                           double aside) {
    std::string data;
    for (const ScalingPoint& p : line.points)
        if (const auto d = quantity.of(p, panel))
            data += fmt::format("{:g} {} {} {}\n", p.gpus * aside, d->middle, d->low, d->high);
    return data;
}

std::string mark_points(const ScalingLine& line, const ScalingPanel& panel, const Quantity& quantity, double aside,
                        bool oversubscribed) {
    std::string data;
    for (const ScalingPoint& p : line.points)
        if (const auto d = quantity.of(p, panel); d && p.oversubscribed == oversubscribed)
            data += fmt::format("{:g} {}\n", p.gpus * aside, d->middle);
    return data;
}

std::string interval_style(const std::string& colour) {
    return fmt::format("using 1:2:3:4 with yerrorlines lc rgb '{}' lw 2 pt 0", colour);
}

std::string mark_style(const std::string& colour, std::size_t number, bool open) {
    const auto& [hollow, filled] = point_types[number % point_types.size()];
    return fmt::format("using 1:2 with points lc rgb '{}' lw 2 pt {} ps 1.2", colour, open ? hollow : filled);
}

std::vector<std::string> lines_above(const ComparisonData& data) {
    const ComparisonLayout layout = make_layout(data);
    std::vector<std::string> lines = heading(data, layout);
    std::set<std::string> said(layout.everywhere.begin(), layout.everywhere.end());
    std::string some;
    for (const ComparisonCell& cell : data.cells) {
        if (!cell.epoch_s) continue;
        for (const std::string& remark : remarks_on(cell))
            if (said.insert(remark).second) some += (some.empty() ? "some times: " : "; ") + remark;
    }
    if (!some.empty()) lines.push_back(some);
    if (std::ranges::any_of(data.cells, &ComparisonCell::oversubscribed))
        lines.emplace_back("open marks: oversubscribed");
    return lines;
}

FigureParts panel_parts(const ScalingPanel& panel, const Quantity& quantity, const Extent& extent,
                        const std::vector<std::string>& names, bool legend) {
    FigureParts parts;
    parts.settings = panel_axes(panel, quantity, extent);
    for (const ScalingLine& line : panel.lines) {
        const auto number = usize(std::ranges::find(names, line.name) - names.begin());
        const std::string hue = colour(number);
        const double aside = beside(number, names.size());
        if (const std::string data = with_intervals(line, panel, quantity, aside); !data.empty())
            parts.add(data, interval_style(hue), "");
        bool named = !legend;
        for (const bool open : {false, true}) {
            const std::string data = mark_points(line, panel, quantity, aside, open);
            if (data.empty()) continue;
            parts.add(data, mark_style(hue, number, open), named ? "" : line.name);
            named = true;
        }
    }
    if (const std::string data = quantity.ideal_points(panel); !data.empty())
        parts.add(data, ideal_style, legend ? quantity.ideal(panel.base_name) : "");
    return parts;
}

}  // namespace

std::vector<ScalingPanel> scaling_panels(const ComparisonData& data) {
    std::vector<std::string> datasets;
    std::map<std::string, LineGathering> cells;
    for (const ComparisonCell& cell : data.cells) {
        if (!cell.epoch_s) continue;
        if (!cells.contains(cell.dataset)) datasets.push_back(cell.dataset);
        cells[cell.dataset].add(cell, data.other_keys);
    }
    std::vector<ScalingPanel> panels;
    for (const std::string& dataset : datasets) {
        panels.push_back({dataset, cells[dataset].lines(), "", {}});
        find_base(panels.back());
    }
    return panels;
}

bool shows_scaling(const ComparisonData& data) {
    for (const ScalingPanel& panel : scaling_panels(data))
        for (const ScalingLine& line : panel.lines)
            if (line.points.size() > 1 &&
                std::ranges::any_of(line.points, [](const ScalingPoint& p) { return p.epoch_s.median > 0; }))
                return true;
    return false;
}

std::string scaling_script(const ComparisonData& data, const FigureLook& look, ScalingQuantity shown) {
    const std::vector<ScalingPanel> panels = scaling_panels(data);
    if (panels.empty())
        throw SpecError(fmt::format("the experiment '{}' has no measured time to draw; gnnbench run measures it",
                                    data.experiment));
    const Quantity quantity(shown, data.scaling.weak(), panels);
    const Extent extent = extent_of(panels, quantity);
    if (extent.high <= 0)
        throw SpecError(fmt::format("the experiment '{}' has nothing that could be drawn: {}", data.experiment,
                                    quantity.why_nothing()));
    PlotDefinition plot;
    plot.kind = PlotKind::scaling;
    plot.x_label = "GPUs (ranks)";
    plot.y_label = quantity.label();
    std::vector<std::string> above = lines_above(data);
    const std::string time = ": time of an epoch";
    if (const auto at = above.front().find(time); at != std::string::npos)
        above.front().replace(at, time.size(), ": " + quantity.title());
    above = shown_heading(std::move(above), look.heading);
    std::vector<std::string> names;
    for (const ScalingPanel& panel : panels)
        for (const ScalingLine& line : panel.lines)
            if (std::ranges::find(names, line.name) == names.end()) names.push_back(line.name);
    if (panels.size() == 1) {
        if (!above.empty()) above.front() = panels.front().dataset + ", " + above.front();
        return assembled(panel_parts(panels.front(), quantity, extent, names, true), plot, above, look);
    }
    PanelFigure figure;
    for (const ScalingPanel& panel : panels)
        figure.panels.emplace_back(panel.dataset, panel_parts(panel, quantity, extent, names, false));
    for (std::size_t i = 0; i < names.size(); ++i)
        figure.legend.emplace_back(mark_style(colour(i), i, false), names[i]);
    if (shown != ScalingQuantity::volume)
        figure.legend.emplace_back(ideal_style, quantity.ideal("the base's time"));
    return assembled_panels(figure, plot, above, look);
}

}  // namespace gnnbench
