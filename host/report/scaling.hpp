#pragma once
#include <optional>
#include <span>

namespace gnnbench {

/// Speed-up per device: 1 is linear. `times_devices`: devices over the base's.
double efficiency(double speed_up, double times_devices);

/// The experimentally determined serial fraction e = (1/ψ − 1/p) / (1 − 1/p) of the speed-up ψ on p devices: A. H. Karp
/// and H. P. Flatt, "Measuring parallel processor performance", Communications of the ACM 33(5), 1990. 0 is linear
/// speed-up, 1 is none; where it grows with p, overhead grows. Empty for p ≤ 1, where it is not defined.
std::optional<double> karp_flatt(double speed_up, double times_devices);

/// Two curves over one axis, all positive.
struct CurvePoint {
    double x, ours, other;
};

/// Where one curve goes below another.
struct Crossover {
    enum class Kind {
        unknown,      ///< fewer than two points, or nothing between them
        always,       ///< ours is lower at every point
        never,        ///< the other is
        overtakes,    ///< ours is lower from `at` on
        falls_behind  ///< ours is lower up to `at`
    };
    Kind kind = Kind::unknown;
    double at = 0;
    bool interpolated = false;          ///< else it is at a point
    std::size_t before = 0, after = 0;  ///< points around the crossing
    int times = 0;                      ///< that the curves cross; `at` is the first
};
/// The points in rising order of x. Between two of them curves are straight in logarithms of both axes; beyond the
/// first and the last there is no estimate.
Crossover crossover(std::span<const CurvePoint> points);

/// Epochs that amortise `extra_s` of extra set-up if each is `saved_s` shorter: 0 if there was
/// none, empty if they never do.
std::optional<double> payback_epochs(double extra_s, double saved_s);

}  // namespace gnnbench
