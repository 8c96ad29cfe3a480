#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/comparison.hpp"
#include "report/footnotes.hpp"

namespace gnnbench {

/// A cell in its place.
struct PlacedCell {
    const ComparisonCell* cell = nullptr;  ///< nullptr: the experiment has no such cell
    std::optional<double> speed_up, efficiency;
    bool fastest = false;                       ///< of the times in its row, by intervals that do not overlap
    std::vector<std::string> marks;             ///< letters of ComparisonLayout::notes, in their order
    std::vector<std::string> speed_up_marks{};  ///< what it is over, where its column has several bases

    std::string letters() const;  ///< the marks in a row: "ac"
    bool has_time() const { return cell && cell->epoch_s; }
    /// "OOM", "skipped" … in place of a time; empty for one that was never measured.
    std::string status_word() const;
};

struct ComparisonRow {
    std::string dataset, partitioner;
    int gpus = 1;
    std::vector<std::string> others;
    std::vector<PlacedCell> cells;  ///< one for each scheme
};

/// The layout of the comparison table, and its remarks.
struct ComparisonLayout {
    std::vector<std::string> schemes;
    std::vector<ComparisonRow> rows;      ///< rows of one dataset follow each other
    std::vector<std::string> everywhere;  ///< remarks that hold for every time: shown once, above the table
    Footnotes notes;                      ///< all others
    bool over_serial = false, over_itself = false;  ///< what speed-ups are relative to; both if datasets differ
    bool has_speed_up = false, has_efficiency = false, has_spread = false, has_volume = false;
    std::set<std::string> score_metrics;  ///< of the cells that have a score
    double largest_s = 0, largest_bytes = 0;
    std::int64_t fewest_trials = 0, most_trials = 0;
    std::vector<SpreadMethod> methods;  ///< in use, in order of their number of trials
};
/// Points into `data`, which must outlive it.
ComparisonLayout make_layout(const ComparisonData& data);

/// The caption: experiment, machine, threads, trials, and how values and spreads were computed.
std::vector<std::string> heading(const ComparisonData& data, const ComparisonLayout& layout);

}  // namespace gnnbench
