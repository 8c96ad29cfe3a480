#include "report/figure_data.hpp"

#include <algorithm>
#include <charconv>

#include "report/paper_table.hpp"

namespace gnnbench {
namespace {

std::optional<double> leading_number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string full_name(const TableLine& line) {
    return line.section.empty() ? line.label : line.section + ", " + line.label;
}

/// The table as the plot sees it: points along x, and one line of places for each series.
class Axes {
public:
    explicit Axes(const ResolvedTable& r) : r_(r), over_columns_(r.definition->plot->over_columns) {}
    const std::vector<TableLine>& points() const {
        return over_columns_ ? r_.definition->columns : r_.definition->rows;
    }
    const std::vector<TableLine>& lines() const {
        return over_columns_ ? r_.definition->rows : r_.definition->columns;
    }
    const ResolvedCell& at(std::size_t point, std::size_t line) const {
        return over_columns_ ? r_.cells[line][point] : r_.cells[point][line];
    }

private:
    const ResolvedTable& r_;
    bool over_columns_;
};

/// Of the first place that we could measure, else of the first number.
std::string axis_unit(const ResolvedTable& r) {
    for (const auto& row : r.cells)
        for (const ResolvedCell& place : row)
            if (place.measurable) return unit_of(place);
    for (const auto& row : r.cells)
        for (const ResolvedCell& place : row)
            if (place.published) return unit_of(place);
    return "";
}

/// Points with sections are as many series as sections, where x is a number; else each point is a place of its own.
std::vector<std::string> sections_of(const std::vector<TableLine>& points, bool numeric) {
    std::vector<std::string> all;
    for (const TableLine& p : points)
        if (numeric && p.measured && std::find(all.begin(), all.end(), p.section) == all.end())
            all.push_back(p.section);
    if (all.empty()) all.emplace_back();
    return all;
}

}  // namespace

bool FigureSeries::empty() const {
    const auto none = [](const auto& v) {
        return std::none_of(v.begin(), v.end(), [](const auto& x) { return x.has_value(); });
    };
    return none(ours) && none(published) &&
           std::all_of(words.begin(), words.end(), [](const auto& w) { return w.empty(); });
}

FigureData figure_data(const ResolvedTable& r) {
    const Axes axes(r);
    const PlotKind kind = r.definition->plot->kind;
    const bool numeric = kind == PlotKind::line || kind == PlotKind::scaling;
    FigureData d;
    for (const TableLine& p : axes.points()) {
        if (!p.measured) continue;  // a number of the text, which stands in the table only
        const std::string label = numeric ? p.label : full_name(p);
        if (std::find(d.labels.begin(), d.labels.end(), label) != d.labels.end()) continue;
        d.labels.push_back(label);
        d.x.push_back(leading_number(label));
    }
    const std::string unit = axis_unit(r);
    for (const std::string& section : sections_of(axes.points(), numeric))
        for (std::size_t l = 0; l < axes.lines().size(); ++l) {
            FigureSeries s;
            const std::string line = full_name(axes.lines()[l]);
            s.name = section.empty() ? line : axes.lines().size() == 1 ? section : line + ", " + section;
            s.ours.resize(d.labels.size());
            s.published.resize(d.labels.size());
            s.words.resize(d.labels.size());
            for (std::size_t p = 0; p < axes.points().size(); ++p) {
                const TableLine& point = axes.points()[p];
                if (!point.measured || (numeric && point.section != section)) continue;
                const ResolvedCell& place = axes.at(p, l);
                if (!place.measurable && !place.given) continue;
                const auto i = static_cast<std::size_t>(
                    std::find(d.labels.begin(), d.labels.end(), numeric ? point.label : full_name(point)) -
                    d.labels.begin());
                if (numeric && !d.x[i]) continue;
                const bool of_figure = unit == unit_of(place);
                const double size = size_of(*place.measure);
                if (of_figure && place.ours) s.ours[i] = place.ours->median / size;
                if (of_figure && place.published) s.published[i] = *place.published / size;
                if (!place.word.empty())
                    s.words[i] = place.word;
                else if (place.given && !place.given->value && !place.ours)
                    s.words[i] = place.given->text;
            }
            d.has_ours |= std::any_of(s.ours.begin(), s.ours.end(), [](const auto& v) { return v.has_value(); });
            d.has_published |=
                std::any_of(s.published.begin(), s.published.end(), [](const auto& v) { return v.has_value(); });
            if (!s.empty()) d.series.push_back(std::move(s));
        }
    return d;
}

}  // namespace gnnbench
