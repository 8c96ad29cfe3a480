#include "spec/cell.hpp"

#include <fmt/format.h>

namespace gnnbench {

std::string slowdown_text(const Slowdown& s) {
    if (!s.declared()) return "none";
    std::string text;
    for (const auto& [rank, factor] : s.factor)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", rank, factor);
    if (s.jitter > 0) text += fmt::format("{}jitter: {}", text.empty() ? "" : ", ", s.jitter);
    if (s.spread > 0) text += fmt::format("{}spread: {}", text.empty() ? "" : ", ", s.spread);
    if (s.lasts_s > 0) text += fmt::format(", lasts: {}", s.lasts_s);
    return "{" + text + "}";
}

std::string device_of(const Cell& cell) { return cell.kernel.name == "cuda" ? "cuda" : "cpu"; }

std::string program_approximation(const Cell& cell) {
    if (!cell.scheme.approximation.empty()) return cell.scheme.approximation;
    return has_dropout(cell.model, cell.train) ? "a program draws different dropout masks" : "";
}

}  // namespace gnnbench
