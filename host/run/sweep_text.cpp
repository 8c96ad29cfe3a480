#include "run/sweep_text.hpp"

#include <fmt/format.h>

#include "core/plural.hpp"

namespace gnnbench {
namespace {

std::string run_text(const SweepReport& r) {
    const bool cut_short = r.interrupted || r.stopped_early || r.unstarted + r.never_begun + r.jobs_left > 0;
    if (r.due == 0 && r.run == 0 && !cut_short) return "nothing to run";
    if (cut_short && r.run < r.due) return fmt::format("{} of {} run", r.run, plural(r.due, "trial"));
    return plural(r.run, "trial") + " run";
}

}  // namespace

std::string sweep_text(const SweepReport& r) {
    std::string text = run_text(r);
    if (r.failed > r.unmeasured) text += fmt::format(" ({} failed)", r.failed - r.unmeasured);
    if (r.unmeasured)
        text += fmt::format("; {} recorded as failed without being run", plural(r.unmeasured, "trial"));
    if (r.already_done) text += fmt::format("; {} there already", plural(r.already_done, "trial"));
    if (r.failed_before) text += fmt::format(" ({} of them failed: --failed reruns them)", r.failed_before);
    if (r.run_by_others) text += fmt::format("; {} run by another gnnbench", r.run_by_others);
    if (r.skipped) text += fmt::format("; {} skipped", plural(r.skipped, "cell"));
    if (r.run == 0 && r.verified)
        text += fmt::format("; {} of scheme and setting checked", plural(r.verified, "combination"));
    if (r.failed_verification)
        text += fmt::format("; {} FAILED verification", plural(r.failed_verification, "combination"));
    return text;
}

}  // namespace gnnbench
