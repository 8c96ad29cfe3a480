#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/findings.hpp"

namespace gnnbench {

/// A cell's field has one of these values, or an SQL expression over its fields holds (see CellFilter). Of the values, the
/// first is the paper's own setting.
struct Condition {
    std::string field;  ///< as expressions name it: "model.hidden"; empty: `expression`
    std::vector<std::string> values;
    bool or_none = false;  ///< null is among the values: a cell without this field, too
    std::string expression{};
    bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;

/// How several matching cells of a place are combined.
enum class OverCells { only, minimum, maximum, median, mean, geometric_mean };
/// A number relative to another cell's; report/scaling.hpp defines the last four.
enum class Against {
    nothing,
    speed_up_over,
    relative_to,
    efficiency_over,
    karp_flatt_over,
    overtakes,
    pays_back_over
};
/// The default unit of the result.
std::string_view unit_of(Against against);

/// The number that a place shows.
struct Measure {
    std::string metric, unit;
    std::optional<double> until;  ///< of training_s: up to the first evaluation with this test score
    std::optional<int> decimals;
    OverCells over_cells = OverCells::only;
    Against against = Against::nothing;
    Conditions base;  ///< fields in which the other cell differs
};

/// A row or a column.
struct TableLine {
    std::string name;     ///< its unique name in published.csv
    std::string label;    ///< what readers see
    std::string section;  ///< the title above it
    Conditions where;
    std::optional<Measure> measure;
    Conditions base{};     ///< in place of the base of the measures that it meets; empty: theirs
    bool measured = true;  ///< false: another system's, with published numbers only
    Place place;
};

/// A number that a paper gives.
struct Published {
    std::string row, column, text;  ///< the value as the file has it
    std::optional<double> value;    ///< in `unit`; empty where it is a word
    std::string unit, page, verbatim, erratum;
};

/// A number of ours that no trial measures: the count of a command, with its provenance.
struct Counted {
    std::string row, column;
    double value = 0;  ///< in `unit`
    std::string unit;
    std::string dataset, gpus;              ///< as in a cell's fields; gpus is empty if it does not apply
    std::string of, command, date, commit;  ///< of: what was counted, "grid-80000x50, 4000000 vertices"
};

enum class PlotKind { line, scaling, bars, stacked, scatter, timeline };
struct PlotDefinition {
    PlotKind kind = PlotKind::line;
    std::string x_label, y_label;
    bool log_x = false, log_y = false;
    bool over_columns = false;  ///< x runs over columns, and rows are the series
    bool panels = false;        ///< a panel for each row; its series are the columns' sections
    bool product = false;       ///< a timeline shows one distributed SpMM, not the epoch
};

/// How a cell without a number shows.
enum class FailureStyle { word, dash, empty };
enum class Best { none, lowest, highest };

/// A table or a figure as data: its layout, and which cells of which experiments it shows.
struct TableDefinition {
    std::string name;  ///< "plexus/table-5-1"
    std::filesystem::path file;
    std::string title, source;
    std::vector<std::string> experiments;  ///< whose trials it shows, without a profile's name
    Measure measure;
    Conditions where;
    std::string row_head;
    std::vector<TableLine> rows, columns;
    bool show_ours = true, show_published = true, show_ratio = true;
    Best best = Best::none;
    FailureStyle failures = FailureStyle::word;
    std::vector<std::string> notes;
    std::string missing;                    ///< what this program lacks to measure it
    std::string device;                     ///< what the paper's numbers were measured on
    std::vector<std::string> simulated_on;  ///< machines whose simulated trials stand beside ours
    Conditions fitted_to;  ///< cells whose published numbers constants of these machines were fitted to
    std::optional<PlotDefinition> plot;
    std::map<std::pair<std::string, std::string>, Published> published;  ///< by row and column
    std::map<std::pair<std::string, std::string>, Counted> counted;      ///< likewise
    std::map<std::pair<std::string, std::string>, Measure> rebased;      ///< of lines with a base of their own
    std::map<std::string, double> vertices;  ///< of the paper's graphs, by the name of a dataset

    const Measure& measure_of(const TableLine& row, const TableLine& column) const;
};

/// Reads a definition and the numbers for it from published.csv and measured.csv beside it. Throws ExperimentError with
/// everything that is wrong in either, SpecError if there is no such file.
TableDefinition load_table_definition(const std::filesystem::path& file);
/// The same for texts; `published` and `measured` may be empty.
TableDefinition read_table_definition(const std::string& text, const std::filesystem::path& file,
                                      const std::string& published, const std::string& measured = "");

/// The profiles that the papers' experiments have; "": other experiments, which have none.
inline constexpr const char* paper_profiles[] = {"small", "paper", ""};
/// The profile whose trials are simulated, on the paper's machine and at the paper's size. It is shown beside another,
/// so it is not among those.
inline constexpr const char* simulated_profile = "simulated";
/// An experiment's name under a profile: "mg-gcn-epochs-small"; without a profile, its own name.
std::vector<std::string> under_profile(const std::vector<std::string>& experiments, const std::string& profile);

/// Whether a YAML text is a definition rather than an experiment: it has columns.
bool is_table_definition(const std::string& text);

/// Names of the tables that a published.csv has numbers for, each with its line.
std::map<std::string, int> published_tables(const std::filesystem::path& file);

}  // namespace gnnbench
