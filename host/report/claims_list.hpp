#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/query.hpp"
#include "report/claim_verdict.hpp"

namespace gnnbench {

/// A paper's claims and their verdicts.
struct ClaimsView {
    const ClaimsFile* file = nullptr;
    std::span<const JudgedClaim> claims;
};

/// How many claims have each verdict, by the order of Ruling.
struct RulingCounts {
    std::array<std::int64_t, 5> measured{}, simulated{};
    std::int64_t claims = 0, undecided = 0;  ///< undecided: by neither
    std::int64_t of(EvidenceKind kind, Ruling ruling) const {
        return (kind == EvidenceKind::measured ? measured : simulated)[static_cast<std::size_t>(ruling)];
    }
};
RulingCounts count_rulings(std::span<const JudgedClaim> claims);

/// A row for each paper: how many claims were decided by what was measured, by simulation, and not at all.
QueryResult claim_counts_table(std::span<const ClaimsView> papers);

/// A row for each claim. `undecided`: only those that nothing decides.
QueryResult claims_table(const ClaimsView& paper, bool undecided);
/// The same for reading on a terminal of `width` columns: a paragraph for each claim.
std::string claims_text(const ClaimsView& paper, bool undecided, std::size_t width);

/// Where a cell's trials come from.
struct CellSource {
    std::string digest, command;
    std::vector<std::string> commits, dates;
};
using SourcesOf = std::function<std::vector<CellSource>(const ClaimVerdict&)>;
nlohmann::ordered_json claims_json(const ClaimsView& paper, bool undecided, const SourcesOf& sources);

}  // namespace gnnbench
