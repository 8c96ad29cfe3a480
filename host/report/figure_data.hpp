#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// What a figure draws, in the unit it is shown in.
struct FigureSeries {
    std::string name;
    std::string section;  ///< of its lines; series of one section have shades of one colour
    /// One for each x; empty where there is no number.
    std::vector<std::optional<double>> ours, published;
    std::vector<bool> disputed;      ///< published numbers with an erratum: no line joins them
    std::vector<std::string> words;  ///< "OOM" where one of ours or the paper's ended so
    bool has_ours() const;
    bool has_published() const;
    bool has_words() const;
    bool empty() const { return !has_ours() && !has_published() && !has_words(); }
};
struct FigureData {
    std::vector<std::string> labels;       ///< along x
    std::vector<std::optional<double>> x;  ///< the labels as numbers, where they begin with one
    std::vector<FigureSeries> series;      ///< those with a number or a word
    bool has_ours = false, has_published = false;
};
/// The unit of a figure's numbers: that of the first place that we can measure, else of the first number. Places
/// with other units are not drawn.
std::string axis_unit(const ResolvedTable& resolved);

/// Series whose unit is not the first one's are left out: one axis has one unit.
FigureData figure_data(const ResolvedTable& resolved);

}  // namespace gnnbench
