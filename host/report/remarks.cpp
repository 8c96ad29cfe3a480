#include "report/remarks.hpp"

#include <fmt/format.h>

#include "report/format.hpp"

namespace gnnbench {
namespace {

std::string verification_remark(const VerificationRecord& v) {
    if (v.status == "verified") {
        const std::string on = v.sampled_vertices == 0
                                   ? ""
                                   : fmt::format(", on a part of the graph with {} vertices", v.sampled_vertices);
        const std::string how = v.reason.empty() ? "" : "; " + first_line(v.reason);
        const bool losses_alone = v.loss_error && !v.gradient_error;  // of a program: docs/baselines.md
        return fmt::format("verified ({}{}{})",
                           losses_alone ? "losses of five epochs as the serial float64 reference's"
                                        : "loss and gradients as the serial float64 reference, bytes as stated",
                           on, how);
    }
    const std::string reason = v.reason.empty() ? "no reason given" : first_line(v.reason);
    return fmt::format("{} ({})", v.status == "failed" ? "VERIFICATION FAILED" : "unverified", reason);
}

}  // namespace

std::vector<std::string> remarks_on(const ComparisonCell& c, MetricKind kind) {
    std::vector<std::string> all;
    if (!c.epoch_s) {
        if (!c.reason.empty()) all.push_back(c.status + ": " + first_line(c.reason));
        return all;
    }
    const bool of_graph = kind == MetricKind::data || kind == MetricKind::partition;
    if (!of_graph) all.push_back(verification_remark(c.verification));
    if (c.oversubscribed && kind == MetricKind::time)
        all.emplace_back("oversubscribed (more ranks × threads than cores: no scaling result)");
    if (!c.synthetic.empty()) all.push_back("synthetic data (" + c.synthetic + ")");
    if (of_graph) return all;
    if (c.aggregated_input) all.emplace_back("aggregated input (ÂX computed once, at set-up)");
    if (!c.approximation.empty()) all.push_back("approximate (" + first_line(c.approximation) + ")");
    if (c.volume_differs) all.emplace_back("VOLUME DIFFERS (counted bytes are not the stated ones)");
    if (!c.other_trials.empty()) all.push_back(first_line(c.other_trials));
    return all;
}

std::string status_word(const ComparisonCell& c) {
    if (c.epoch_s || c.status.empty()) return "";
    return c.status == "oom" ? "OOM" : c.status;
}

}  // namespace gnnbench
