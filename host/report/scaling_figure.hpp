#pragma once
#include <optional>
#include <string>
#include <vector>

#include "record/comparison.hpp"
#include "report/figure.hpp"

namespace gnnbench {

/// Times of one scheme on one dataset, by GPUs.
struct ScalingPoint {
    int gpus = 1;
    Estimate epoch_s;
    bool oversubscribed = false;
    std::optional<double> sent_bytes{};  ///< an epoch, of all ranks
    std::optional<double> efficiency{};  ///< over the base that tables have; empty: the panel's
};
struct ScalingLine {
    std::string name;     ///< the scheme, and the partitioner and further fields where several are measured
    bool serial = false;  ///< the scheme that has no other rank
    std::vector<ScalingPoint> points;  ///< GPUs ascending, each once
};
/// The lines of one dataset.
struct ScalingPanel {
    std::string dataset;
    std::vector<ScalingLine> lines;
    /// The time that an ideal speed-up begins with: serial's on one GPU, else the shortest on the fewest GPUs.
    std::string base_name;
    ScalingPoint base;
};
/// A cell on one GPU has no partition, so it begins the line of each partitioner of its scheme.
std::vector<ScalingPanel> scaling_panels(const ComparisonData& data);

/// Whether anything was measured on several numbers of GPUs, in a time above 0.
bool shows_scaling(const ComparisonData& data);

/// What is drawn over GPUs.
enum class ScalingQuantity {
    time,        ///< of an epoch
    efficiency,  ///< the base's time × its GPUs ÷ (time × GPUs); under weak scaling its time ÷ the time
    volume       ///< bytes that an epoch sends
};

/// An experiment's time per epoch over GPUs as a gnuplot script, both axes logarithmic: a panel for each dataset, a
/// line for each scheme, 95% intervals of four and more trials, and the base's time divided by GPUs as the ideal. Open
/// marks: oversubscribed. Efficiency has a linear axis. Throws SpecError where nothing was measured.
std::string scaling_script(const ComparisonData& data, const FigureLook& look,
                           ScalingQuantity quantity = ScalingQuantity::time);

}  // namespace gnnbench
