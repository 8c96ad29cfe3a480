#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/usize.hpp>

#include "report/resolved_table.hpp"

namespace gnnbench {

/// Three kinds of numbers in a figure, which readers must not take for each other.
enum class NumberKind { ours, simulated, published };
inline constexpr std::array number_kinds{NumberKind::ours, NumberKind::simulated, NumberKind::published};

/// What a figure draws, in the unit it is shown in.
struct FigureSeries {
    std::string name;
    std::string section;          ///< of its lines; series of one section have shades of one colour
    std::string scheme, dataset;  ///< that its places ask for; empty: several, or none
    /// By kind of number, one for each x; empty where there is no number.
    std::array<std::vector<std::optional<double>>, number_kinds.size()> numbers;
    std::vector<bool> fitted;  ///< constants of the simulated machine were fitted to this place's published number
    std::vector<bool> disputed;                ///< published numbers with an erratum: no line joins them
    std::vector<std::string> words;            ///< "OOM" where one of ours or the paper's ended so
    std::vector<std::string> simulated_words;  ///< likewise of simulated ones
    std::vector<bool> papers_words;            ///< whether `words` has the paper's
    const std::vector<std::optional<double>>& of(NumberKind kind) const { return numbers[usize(kind)]; }
    bool has(NumberKind kind) const;
    bool has_words() const;
    bool has_simulated_words() const;
    bool empty() const;
};
struct FigureData {
    std::vector<std::string> labels;       ///< along x
    std::vector<std::optional<double>> x;  ///< the labels as numbers, where they begin with one
    std::vector<FigureSeries> series;      ///< those with a number or a word
    bool has(NumberKind kind) const;       ///< in any series
};
/// The unit of a figure's numbers: that of the first place that we can measure, else of the first number. Places
/// with other units are not drawn.
std::string axis_unit(const ResolvedTable& resolved);

/// Series whose unit is not the first one's are left out: one axis has one unit.
FigureData figure_data(const ResolvedTable& resolved);

}  // namespace gnnbench
