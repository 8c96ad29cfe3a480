#include "record/scaling_axis.hpp"

#include <string_view>

namespace gnnbench {

std::string to_text(const ScalingAxis& axis) {
    if (axis.kind == ScalingAxis::Kind::strong) return "strong";
    return axis.weak() ? "weak " + axis.per : "";
}

ScalingAxis scaling_axis(const std::string& text) {
    if (text == "strong") return {ScalingAxis::Kind::strong};
    constexpr std::string_view weak = "weak ";
    if (text.starts_with(weak)) return {ScalingAxis::Kind::weak, text.substr(weak.size())};
    return {};
}

}  // namespace gnnbench
