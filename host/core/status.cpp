#include "core/status.hpp"

#include <algorithm>
#include <array>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 9> trial_names = {"running", "ok",      "skipped",  "failed",     "oom",
                                                         "timeout", "crashed", "diverged", "interrupted"};
constexpr std::array<std::string_view, 4> verification_names = {"failed", "skipped", "unverified", "verified"};

template <typename Status, std::size_t n>
Status named(std::string_view text, const std::array<std::string_view, n>& names, const char* what) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
        std::string allowed;
        for (const std::string_view name : names) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
        throw DataError(std::string(what) + ": expected one of " + allowed + "; found '" + std::string(text) +
                        "'");
    }
    return static_cast<Status>(found - names.begin());
}

}  // namespace

std::string to_text(TrialStatus status) { return std::string(trial_names[usize(status)]); }

std::string to_text(VerificationStatus status) { return std::string(verification_names[usize(status)]); }

TrialStatus trial_status(std::string_view text) {
    return named<TrialStatus>(text, trial_names, "a trial's status");
}

VerificationStatus verification_status(std::string_view text) {
    return named<VerificationStatus>(text, verification_names, "a verification's status");
}

}  // namespace gnnbench
