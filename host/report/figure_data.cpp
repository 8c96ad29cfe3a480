#include "report/figure_data.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <gnnbench/usize.hpp>

#include "report/paper_table.hpp"

namespace gnnbench {
namespace {

std::optional<double> leading_number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

bool any_number(const std::vector<std::optional<double>>& values) {
    return std::any_of(values.begin(), values.end(), [](const auto& v) { return v.has_value(); });
}

bool any_word(const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [](const auto& w) { return !w.empty(); });
}

std::string full_name(const TableLine& line) {
    return line.section.empty() ? line.label : line.section + ", " + line.label;
}

/// Completes legends that are bare numbers, such as "2".
std::string series_name(const TableLine& line) {
    std::string name = full_name(line);
    const bool bare = !name.empty() && name.find_first_not_of("0123456789.") == std::string::npos;
    if (!bare || line.where.size() != 1) return name;
    const std::string& field = line.where.front().field;
    if (field == "gpus") return name + (name == "1" ? " GPU" : " GPUs");
    return field.substr(field.rfind('.') + 1) + " " + name;
}

/// The first value that places ask of a field, if all ask for the same.
class AskedValue {
public:
    explicit AskedValue(std::string field) : field_(std::move(field)) {}
    void add(const ResolvedCell& place) {
        std::string value;
        for (const Condition& c : place.where)
            if (c.field == field_ && !c.values.empty()) value = c.values.front();
        values_.insert(value);
    }
    std::string value() const { return values_.size() == 1 ? *values_.begin() : ""; }

private:
    std::string field_;
    std::set<std::string> values_;
};

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
    const ResolvedCell* simulated_at(std::size_t point, std::size_t line) const {
        return over_columns_ ? r_.simulated_at(line, point) : r_.simulated_at(point, line);
    }

private:
    const ResolvedTable& r_;
    bool over_columns_;
};

/// If x is a number, each section is a series; otherwise each point has its own place on the axis.
std::vector<std::string> sections_of(const std::vector<TableLine>& points, bool numeric) {
    std::vector<std::string> all;
    for (const TableLine& p : points)
        if (numeric && p.measured && std::find(all.begin(), all.end(), p.section) == all.end())
            all.push_back(p.section);
    if (all.empty()) all.emplace_back();
    return all;
}

/// Drops places along x that have neither a number nor a word in any series.
void leave_out_empty(FigureData& d) {
    for (std::size_t i = d.labels.size(); i-- > 0;) {
        const bool used = std::ranges::any_of(d.series, [i](const FigureSeries& s) {
            return std::ranges::any_of(s.numbers, [i](const auto& values) { return values[i].has_value(); }) ||
                   !s.words[i].empty() || !s.simulated_words[i].empty();
        });
        if (used) continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        d.labels.erase(d.labels.begin() + at);
        d.x.erase(d.x.begin() + at);
        for (FigureSeries& s : d.series) {
            for (auto& values : s.numbers) values.erase(values.begin() + at);
            s.disputed.erase(s.disputed.begin() + at);
            s.fitted.erase(s.fitted.begin() + at);
            s.words.erase(s.words.begin() + at);
            s.simulated_words.erase(s.simulated_words.begin() + at);
            s.papers_words.erase(s.papers_words.begin() + at);
        }
    }
}

}  // namespace

bool FigureSeries::has(NumberKind kind) const { return any_number(of(kind)); }
bool FigureSeries::has_words() const { return any_word(words); }
bool FigureSeries::has_simulated_words() const { return any_word(simulated_words); }
bool FigureSeries::empty() const {
    return std::ranges::none_of(number_kinds, [this](NumberKind k) { return has(k); }) && !has_words() &&
           !has_simulated_words();
}
bool FigureData::has(NumberKind kind) const {
    return std::ranges::any_of(series, [kind](const FigureSeries& s) { return s.has(kind); });
}

std::string axis_unit(const ResolvedTable& r) {
    for (const auto& row : r.cells)
        for (const ResolvedCell& place : row)
            if (place.measurable) return unit_of(place);
    for (const auto& row : r.cells)
        for (const ResolvedCell& place : row)
            if (place.published) return unit_of(place);
    return "";
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
            const std::string line = series_name(axes.lines()[l]);
            s.name = section.empty() ? line : axes.lines().size() == 1 ? section : line + ", " + section;
            s.section = !section.empty() ? section : axes.lines()[l].section;
            for (auto& values : s.numbers) values.resize(d.labels.size());
            s.disputed.resize(d.labels.size());
            s.fitted.resize(d.labels.size());
            s.words.resize(d.labels.size());
            s.simulated_words.resize(d.labels.size());
            s.papers_words.resize(d.labels.size());
            AskedValue scheme("scheme"), dataset("dataset");
            for (std::size_t p = 0; p < axes.points().size(); ++p) {
                const TableLine& point = axes.points()[p];
                if (!point.measured || (numeric && point.section != section)) continue;
                const ResolvedCell& place = axes.at(p, l);
                if (!place.measurable && !place.given) continue;
                scheme.add(place);
                dataset.add(place);
                const auto i =
                    usize(std::find(d.labels.begin(), d.labels.end(), numeric ? point.label : full_name(point)) -
                          d.labels.begin());
                if (numeric && !d.x[i]) continue;
                const bool of_figure = unit == unit_of(place);
                if (place.measurable && !of_figure)
                    continue;  // a quotient beside times: its words are the table's, too
                const double size = size_of(*place.measure);
                const auto put = [&](NumberKind kind, double value) { s.numbers[usize(kind)][i] = value / size; };
                if (of_figure && place.ours) put(NumberKind::ours, place.ours->median);
                if (of_figure && place.published) put(NumberKind::published, *place.published);
                if (const ResolvedCell* predicted = axes.simulated_at(p, l)) {
                    if (of_figure && predicted->ours) put(NumberKind::simulated, predicted->ours->median);
                    s.fitted[i] = predicted->fitted;
                    s.simulated_words[i] = predicted->word;
                }
                s.disputed[i] = place.given && !place.given->erratum.empty();
                if (!place.word.empty())
                    s.words[i] = place.word;
                else if (place.given && !place.given->value && !place.ours)
                    s.words[i] = place.given->text, s.papers_words[i] = true;
            }
            s.scheme = scheme.value();
            s.dataset = dataset.value();
            if (!s.empty()) d.series.push_back(std::move(s));
        }
    if (!numeric) leave_out_empty(d);
    return d;
}

}  // namespace gnnbench
