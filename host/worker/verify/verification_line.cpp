#include "worker/verify/verification_line.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gnnbench {

using nlohmann::json;

namespace {

/// What is kept of the trainings: runs, checks, faults.
json to_json(const VerifiedTraining& v) {
    json checks = json::object(), faults = json::array();
    for (const auto& [name, c] : v.checks)
        checks[name] = {{"calls", c.calls},
                        {"elements", c.elements},
                        {"worst_ratio", finite_or_null(c.worst_ratio)},
                        {"worst", c.worst}};
    for (const Fault& f : v.faults) faults.push_back({{"check", f.check}, {"text", f.text}});
    return {
        {"checks", std::move(checks)},
        {"faults", std::move(faults)},
        {"same_bits", v.same_bits},
        {"rounding", v.rounding},
        {"ill_conditioned", v.ill_conditioned},
        {"learning_rate", v.learning_rate},
        {"response", finite_or_null(v.response)},
        {"float64_error", v.in_float64 ? finite_or_null(v.float64_error) : json(nullptr)},
        {"seconds",
         {{"plain", v.plain_s}, {"checked", v.checked_s}, {"float64", v.float64_s}, {"response", v.response_s}}}};
}

/// "check: what", a line each.
std::string text_of(const std::vector<Fault>& faults) {
    std::string text;
    for (const Fault& f : faults) text += (text.empty() ? "" : "\n") + f.check + ": " + f.text;
    return text;
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The first of the volumes that differ, with both numbers.
std::string volume_reason(const VerifiedTraining& v) {
    const auto first = std::ranges::find(v.faults, "volume", &Fault::check);
    std::string text = "counted volume differs from the stated one";
    if (first != v.faults.end()) text += ": " + first_line_of(first->text);
    return text;
}

}  // namespace

VerificationLine line_of(const VerifiedTraining& v, const VerificationFacts& facts) {
    const bool exact = facts.approximation.empty();
    std::string detail = text_of(v.faults), reason = exact ? "" : "approximate: " + facts.approximation;
    if (exact && !v.ill_conditioned.empty()) reason = std::string(ill_conditioned_here) + v.ill_conditioned;
    if (!v.faults.empty()) reason = v.volume_equal ? first_line_of(detail) : volume_reason(v);
    json checks = to_json(v);
    checks["float64_kernel"] = facts.float64_kernel;
    checks["seconds"]["probe"] = facts.probe_s;
    if (facts.in_virtual_time) checks["in_virtual_time"] = true;
    const bool agrees = exact && v.ill_conditioned.empty();
    VerificationLine line{.status = !v.faults.empty() ? VerificationStatus::failed
                                    : agrees          ? VerificationStatus::verified
                                                      : VerificationStatus::unverified,
                          .reason = std::move(reason),
                          .volume_equal = v.volume_equal,
                          .sampled_vertices = facts.sampled_vertices,
                          .detail = std::move(detail),
                          .checks = std::move(checks)};
    if (exact) {
        line.loss_error = v.loss_error;
        line.gradient_error = v.gradient_error;
    }
    return line;
}

VerificationLine line_of(const LateStep& late, std::int64_t epochs) {
    const VerifiedTraining& v = late.found;
    VerificationLine line{.status = VerificationStatus::verified,
                          .loss_error = v.loss_error,
                          .gradient_error = v.gradient_error,
                          .detail = text_of(v.faults),
                          .checks = to_json(v)};
    if (!v.faults.empty()) {
        line.status = VerificationStatus::failed;
        line.reason = fmt::format("after {} epochs: {}", epochs, first_line_of(line.detail));
    }
    line.checks["late_step"] = {{"epoch", epochs}, {"against", to_text(late.standard)}, {"wall_s", late.wall_s}};
    return line;
}

}  // namespace gnnbench
