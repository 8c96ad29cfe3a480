#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace gnnbench {

/// Whether a trial is running, or how it ended. Journals and the database use these names as text.
enum class TrialStatus : std::uint8_t {
    running,
    ok,
    skipped,  ///< the cell cannot run here
    failed,
    oom,
    timeout,
    crashed,
    diverged,
    interrupted
};

/// What a verification found.
enum class VerificationStatus : std::uint8_t {
    failed,
    skipped,     ///< the cell cannot run; in tables only
    unverified,  ///< not tried, ended without a result, of an approximate scheme, or ill-conditioned
    verified
};

/// How the reason begins where a training's own response to rounding is as large as a fault could be, so that nothing
/// can be verified: docs/decisions/verified-training.md.
inline constexpr std::string_view ill_conditioned_here = "ill-conditioned here: ";

std::string to_text(TrialStatus status);
std::string to_text(VerificationStatus status);
/// Throw DataError for a text that names no status.
TrialStatus trial_status(std::string_view text);
VerificationStatus verification_status(std::string_view text);

/// Whether the trial's number is not due again: it ended, and was neither interrupted nor skipped.
constexpr bool is_conclusive(TrialStatus status) {
    return status != TrialStatus::running && status != TrialStatus::interrupted && status != TrialStatus::skipped;
}

/// Whether another attempt may succeed.
constexpr bool may_be_chance(TrialStatus status) {
    return status == TrialStatus::failed || status == TrialStatus::crashed || status == TrialStatus::timeout;
}

}  // namespace gnnbench
