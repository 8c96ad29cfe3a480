#pragma once
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/figure.hpp"
#include "report/figure_data.hpp"

namespace gnnbench {

/// gnuplot's point types, open and filled, in an order in which neighbours look different.
inline constexpr std::array<std::pair<int, int>, 6> point_types{
    {{6, 7}, {4, 5}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}};

/// A text as a gnuplot string.
std::string gnuplot_text(const std::string& text);

/// What a kind of figure adds to the common frame.
struct FigureParts {
    std::string settings;
    std::string blocks;              ///< named data
    std::vector<std::string> plots;  ///< parts of the plot command
    bool legend = false;
    double tic_room = 0;           ///< that slanted labels need below, in pixels
    std::size_t longest_name = 0;  ///< of the legend, in bytes
    std::size_t named = 0;         ///< of the plots, those that the legend has

    /// Data, how to plot it, and what the legend calls it; empty: nothing there.
    void add(const std::string& data, const std::string& how, const std::string& title);
    /// An entry of the legend without data: how, from "with" on.
    void add_key(const std::string& how, const std::string& title);
};

/// Names in a figure's legend. Where it has simulated numbers each series is named once, and the marks of the three
/// kinds of numbers once for all of them; else a series' name says which are the paper's.
class Legend {
public:
    explicit Legend(const ResolvedTable& resolved);
    /// Name of a series' numbers of one kind; empty if the series has already been named.
    std::string name(const FigureSeries& series, NumberKind kind);
    /// The kinds of numbers drawn, with their labels; empty where the series' names state the kind.
    std::vector<std::pair<NumberKind, std::string>> kinds() const;

private:
    bool by_kind_;
    std::string machines_;
    std::set<std::string> named_;
    std::set<NumberKind> drawn_;
};

/// Small figures side by side, with one legend.
struct PanelFigure {
    std::vector<std::pair<std::string, FigureParts>> panels;  ///< with their titles
    std::vector<std::pair<std::string, std::string>> legend;  ///< style and name
    double panel_height = 215;                                ///< with its title and tics, in units of the page
};

/// How many panels stand beside each other.
std::size_t panels_across(std::size_t panels, const FigureLook& look);
/// How long the x axis of each of so many panels is, in units of the page.
double panel_axis_width(std::size_t panels, const FigureLook& look);
/// The whole script; empty if there is no panel.
std::string assembled_panels(const PanelFigure& figure, const PlotDefinition& plot,
                             const std::vector<std::string>& heading, const FigureLook& look);

/// What of a heading a figure shows.
std::vector<std::string> shown_heading(std::vector<std::string> heading, FigureHeading shown);

/// The whole script: first line of the heading as title, the others small below the figure.
std::string assembled(const FigureParts& parts, const PlotDefinition& plot,
                      const std::vector<std::string>& heading, const FigureLook& look);

}  // namespace gnnbench
