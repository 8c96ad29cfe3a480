#pragma once
#include <string>
#include <vector>

#include "report/figure_data.hpp"

namespace gnnbench {

/// Okabe and Ito's palette, which the colour-blind can distinguish; dark colours first, for print.
std::string colour(std::size_t series);
/// A distinct colour for each series of the figure: shades of one colour within a section, if there are more
/// series than colours.
std::vector<std::string> colours_of(const std::vector<FigureSeries>& series);
/// Where there are several schemes: one colour for each, whatever the figure, in shades by dataset; else colours_of's.
std::vector<std::string> series_colours(const std::vector<FigureSeries>& series);
/// Of bars, which have no marks: several series of a scheme are shades of its colour, from light to full.
std::vector<std::string> bar_colours(const std::vector<FigureSeries>& series);

}  // namespace gnnbench
