#pragma once
#include <span>
#include <string_view>

namespace gnnbench {

/// What a metric depends on, which determines the remarks on a cell that concern it.
enum class MetricKind {
    data,       ///< the dataset alone
    partition,  ///< the dataset and how it is cut
    volume,     ///< what is sent, exactly
    quality,    ///< loss and accuracy
    memory,
    time
};

/// A number that a table or figure can show of a cell: one of each trial.
struct Metric {
    std::string_view name;
    std::string_view unit;  ///< of the stored number: s, B, "" (a count or a fraction)
    MetricKind kind;
    std::string_view help;
};

std::span<const Metric> metrics();
/// nullptr where there is none of that name.
const Metric* find_metric(std::string_view name);

/// A unit that numbers are shown in, and how many of the metric's own unit it is: "ms" → 1e-3. Empty name: as they
/// are.
struct ShownUnit {
    std::string_view name, of;
    double size;
};
std::span<const ShownUnit> shown_units();
/// nullptr where there is none of that name.
const ShownUnit* find_unit(std::string_view name);

}  // namespace gnnbench
