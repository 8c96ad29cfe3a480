#pragma once
#include <string>
#include <vector>

#include "report/claim_verdict.hpp"

namespace gnnbench {

/// Numbers of one name, place by place.
using Numbers = std::vector<const ResolvedCell*>;

/// Why numbers that there are cannot decide a claim: another setting than the paper's, shared cores, too few trials, a failed
/// check; empty if they can.
std::string why_no_evidence(const Numbers& numbers, const PaperClaim& claim, EvidenceKind kind);

/// The setting that numbers are of, as ClaimVerdict::setting shows it.
std::string setting_text(const Numbers& numbers, const PaperClaim& claim, EvidenceKind kind);

}  // namespace gnnbench
