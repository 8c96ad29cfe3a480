#pragma once
#include <string>
#include <vector>

#include "record/timeline.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

enum class FigureFormat { svg, png, pdf };

/// A row's traced epoch, for figures of kind timeline.
struct TimelinePanel {
    std::string title;
    Timeline timeline;
    bool simulated = false;
};

/// What a figure says of itself: all of its heading, only the first line, or nothing because the page around it does; then
/// an empty figure has no script.
enum class FigureHeading { shown, title, left_out };

/// How a figure is drawn. The layout is 900 units wide where no width is given, with text 13 units high; a given width has
/// as many units as its text of `font_pt` leaves room for.
struct FigureLook {
    FigureFormat format = FigureFormat::svg;
    FigureHeading heading = FigureHeading::shown;
    double width_mm = 0;  ///< 0: 12.5 inches, or 900 pixels
    double font_pt = 8;   ///< of a figure whose width is given
    std::string font{};   ///< empty: gnuplot's default sans serif

    // Implicit, since most figures say no more than their format.
    FigureLook(FigureFormat f = FigureFormat::svg, FigureHeading h = FigureHeading::shown)
        : format(f), heading(h) {}
    double units_across() const { return width_mm > 0 ? width_mm / 25.4 * 72 * 13 / font_pt : 900; }
    /// Points on paper of a unit.
    double unit_pt() const { return width_mm > 0 ? font_pt / 13 : 1; }
};

/// A definition with a plot as a gnuplot script, without `set output`. Ours are filled marks and solid lines, simulated
/// numbers open marks and dashed lines, the paper's crosses and dotted lines; of bars ours are full, simulated ones pale
/// and the paper's hatched; in one colour per series, safe for the colour-blind. Places without a number are
/// not drawn; an empty figure says so. Throws SpecError for a definition without a plot.
std::string figure_script(const ResolvedTable& resolved, const FigureLook& look,
                          const std::vector<TimelinePanel>& panels = {});

}  // namespace gnnbench
