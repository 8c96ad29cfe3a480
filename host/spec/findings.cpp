#include "spec/findings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/spelling.hpp>

namespace gnnbench {

std::string to_text(const Place& place) {
    if (place.line == 0) return place.origin;
    return fmt::format("{}:{}:{}", place.origin, place.line, place.column);
}

std::string to_text(const Finding& f) {
    return f.key.empty() ? fmt::format("{}: {}", to_text(f.place), f.message)
                         : fmt::format("{}: {}: {}", to_text(f.place), f.key, f.message);
}

namespace {

std::string joined(const std::vector<Finding>& findings) {
    std::string all;
    for (const Finding& f : findings) all += (all.empty() ? "" : "\n") + to_text(f);
    return all;
}

}  // namespace

ExperimentError::ExperimentError(std::vector<Finding> findings)
    : SpecError(joined(findings)), findings_(std::move(findings)) {}
ExperimentError::~ExperimentError() = default;

void Findings::add(const Place& place, std::string key, std::string message) {
    Finding f{place, std::move(key), std::move(message)};
    if (findings_.size() >= most_findings) {
        ++left_out_;
    } else if (std::find(findings_.begin(), findings_.end(), f) == findings_.end()) {
        findings_.push_back(std::move(f));
    }
}

void Findings::raise() const {
    if (findings_.empty()) return;
    auto sorted = findings_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Finding& a, const Finding& b) {
        return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    if (left_out_ > 0)
        sorted.push_back({{sorted.back().place.origin},
                          "",
                          fmt::format("and {} more; mend the first {}", left_out_, most_findings)});
    throw ExperimentError(std::move(sorted));
}

std::string allowed_words(std::string_view found, std::span<const std::string> allowed) {
    if (allowed.empty()) return "allowed: nothing";
    return fmt::format("allowed: {}{}", fmt::join(allowed, ", "), did_you_mean(found, allowed));
}

}  // namespace gnnbench
