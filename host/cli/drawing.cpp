#include "cli/drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launch/gnuplot.hpp"
#include "record/measurements.hpp"
#include "record/timeline_product.hpp"
#include "report/html.hpp"
#include "report/paper_heading.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

/// The traced epoch of each row of places that has one, with the paper's numbers for it.
void add_panels(std::vector<TimelinePanel>& panels, const ResolvedTable& r,
                const std::vector<std::vector<ResolvedCell>>& rows, bool simulated,
                const std::filesystem::path& database) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::string title = r.definition->rows[i].label, published, trial;
        for (const ResolvedCell& place : rows[i]) {
            if (place.given) published += fmt::format(" (paper: {} {})", place.given->text, place.given->unit);
            for (const ComparisonCell* cell : place.cells)
                if (trial.empty()) trial = traced_among(database, cell->ok_trials);
        }
        if (trial.empty()) continue;
        Timeline timeline = read_timeline(database, trial, std::nullopt);
        if (r.definition->plot->product) {
            auto product = largest_product(timeline);
            if (!product) continue;
            timeline = std::move(*product);
            title += fmt::format(", {} ms", three_digits(timeline.wall_s * 1e3));
        }
        panels.push_back({title + published, std::move(timeline), simulated});
    }
}

/// Of each row that was measured, then of each that was simulated.
std::vector<TimelinePanel> panels_of(const ResolvedTable& r, const std::filesystem::path& database) {
    std::vector<TimelinePanel> panels;
    add_panels(panels, r, r.cells, false, database);
    add_panels(panels, r, r.simulated, true, database);
    return panels;
}

/// Gnuplot calls every drawing "Gnuplot", which a browser shows as the tab's name.
std::string with_title(std::string drawing, const std::string& title) {
    static constexpr std::string_view anonymous = "<title>Gnuplot</title>";
    if (const auto at = drawing.find(anonymous); at != std::string::npos)
        drawing.replace(at, anonymous.size(), "<title>" + html_escaped(title) + "</title>");
    return drawing;
}

}  // namespace

std::string script_of(const ResolvedTable& r, const std::filesystem::path& database, const FigureLook& look) {
    std::vector<TimelinePanel> panels;
    if (r.definition->plot && r.definition->plot->kind == PlotKind::timeline) panels = panels_of(r, database);
    return figure_script(r, look, panels);
}

std::string drawn_figure(const ResolvedTable& r, const std::filesystem::path& database, const FigureLook& look) {
    const std::string script = script_of(r, database, look);
    return script.empty() ? "" : with_title(run_gnuplot(script), paper_heading(r).front());
}

std::string drawn_scaling(const ComparisonData& data, const FigureLook& look, ScalingQuantity quantity) {
    return with_title(run_gnuplot(scaling_script(data, look, quantity)), "Scaling of " + data.experiment);
}

}  // namespace gnnbench
