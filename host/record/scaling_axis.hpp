#pragma once
#include <string>

namespace gnnbench {

/// How an experiment declares that it scales (its key `scaling`).
struct ScalingAxis {
    enum class Kind {
        none,
        strong,  ///< one problem on more and more GPUs
        weak     ///< a problem that grows as the GPUs do
    };
    Kind kind = Kind::none;
    std::string per{};  ///< of weak scaling: the dataset's parameter that is a multiple of the GPUs, "vertices"

    bool weak() const { return kind == Kind::weak; }
    bool operator==(const ScalingAxis&) const = default;
};

/// "", "strong", "weak vertices": as the database keeps it.
std::string to_text(const ScalingAxis& axis);
/// Of a text that no version wrote: none.
ScalingAxis scaling_axis(const std::string& text);

}  // namespace gnnbench
