#include "report/remarks.hpp"

#include <fmt/format.h>

#include "report/format.hpp"

namespace gnnbench {
namespace {

/// Whether being approximate is why it is unverified: then one remark says both.
bool is_approximate(const ComparisonCell& c) {
    return c.verification.status == VerificationStatus::unverified && !c.approximation.empty() &&
           c.verification.reason.starts_with("approximate");
}

/// Of simulated ranks, those that compute values.
bool is_verified_or_wrong(const ComparisonCell& c) {
    return c.verification.status == VerificationStatus::verified ||
           c.verification.status == VerificationStatus::failed;
}

/// How it was verified, without the numbers of that check: those are provenance.
void add_verification(std::vector<std::string>& all, const VerificationRecord& v) {
    if (v.status != VerificationStatus::verified) {
        const std::string reason = v.reason.empty() ? "no reason given" : first_line(v.reason);
        all.push_back(fmt::format(
            "{} ({})", v.status == VerificationStatus::failed ? "VERIFICATION FAILED" : "unverified", reason));
        return;
    }
    const bool losses_alone = v.loss_error && !v.gradient_error;  // of a program: docs/baselines.md
    all.push_back(fmt::format(
        "verified ({})", losses_alone ? "losses of five epochs as the serial float64 reference's"
                                      : "loss and gradients as the serial float64 reference, bytes as stated"));
    if (v.sampled_vertices > 0) all.emplace_back("verified on a part of the graph");
}

}  // namespace

std::vector<std::string> remarks_on(const ComparisonCell& c, MetricKind kind) {
    std::vector<std::string> all;
    if (!c.epoch_s) {
        if (!c.reason.empty()) all.push_back(status_text(c) + ": " + first_line(c.reason));
        return all;
    }
    const bool of_graph = kind == MetricKind::data || kind == MetricKind::partition;
    if (!of_graph && !c.simulated.empty())
        all.push_back(fmt::format("SIMULATED on {}: predicted by a model, not measured{}", c.simulated,
                                  is_verified_or_wrong(c) ? "" : " and not verified"));
    if (!of_graph && (c.simulated.empty() ? !is_approximate(c) : is_verified_or_wrong(c)))
        add_verification(all, c.verification);
    if (c.oversubscribed && kind == MetricKind::time)
        all.emplace_back("oversubscribed (more ranks × threads than cores: no scaling result)");
    if (c.synthetic.starts_with("expected graph"))
        all.push_back(c.synthetic);
    else if (!c.synthetic.empty())
        all.push_back("synthetic data (" + c.synthetic + ")");
    if (of_graph) return all;
    if (!c.program.empty())
        all.push_back(c.program == "no files" ? "a program without files of its own: what ran is not known"
                                              : "a program, whose files have the digest " + c.program);
    if (c.aggregated_input) all.emplace_back("aggregated input (ÂX computed once, at set-up)");
    if (c.sparse_features)
        all.emplace_back("sparse features (X is a sparse operand where the scheme multiplies X itself)");
    if (!c.approximation.empty())
        all.push_back(fmt::format("approximate{} ({})",
                                  is_approximate(c) && c.simulated.empty() ? ", so unverified" : "",
                                  first_line(c.approximation)));
    if (c.volume_differs)
        all.push_back(fmt::format("VOLUME DIFFERS ({})", c.volume_difference.empty()
                                                             ? "counted bytes are not the stated ones"
                                                             : c.volume_difference));
    if (c.of_other_builds > 0)
        all.push_back(
            c.of_other_builds == c.epoch_s->trials
                ? "measured by another build of its code (gnnbench run --stale measures again)"
                : fmt::format("{} of {} trials measured by another build of its code (gnnbench run --stale "
                              "measures those again)",
                              c.of_other_builds, c.epoch_s->trials));
    if (!c.other_trials.empty()) all.push_back(first_line(c.other_trials));
    return all;
}

std::vector<std::string> provenance_of(const ComparisonCell& c) {
    const VerificationRecord& v = c.verification;
    std::vector<std::string> all;
    if (v.status != VerificationStatus::verified) return all;
    if (v.sampled_vertices > 0)
        all.push_back(fmt::format("verified on a part of the graph with {} vertices", v.sampled_vertices));
    if (!v.reason.empty()) all.push_back("verified " + first_line(v.reason));
    return all;
}

std::string status_word(const ComparisonCell& c) {
    if (c.epoch_s || !c.status) return "";
    return *c.status == TrialStatus::oom ? "OOM" : status_text(c);
}

}  // namespace gnnbench
