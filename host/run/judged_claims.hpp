#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/claim_verdict.hpp"
#include "report/claims_list.hpp"
#include "run/definitions.hpp"

namespace gnnbench {

/// The claims of a paper with their verdicts, by what a database has.
struct JudgedClaims {
    ClaimsFile file;
    std::vector<JudgedClaim> claims;  ///< points into `file` and `tables`
    std::vector<std::unique_ptr<LoadedTable>> tables;
    std::map<std::int64_t, CellSource> sources;  ///< by trial
};
/// Throws ExperimentError and SpecError as load_claims_file does. `with_sources`: for sources_of.
std::unique_ptr<JudgedClaims> judged_claims(const std::filesystem::path& file,
                                            const std::filesystem::path& database, bool with_sources = false);

/// The cells behind a verdict, each with its digest, the command that measures it, and the builds and days of its trials.
std::vector<CellSource> sources_of(const ClaimVerdict& verdict, const JudgedClaims& claims);

/// A paper's claims: a file, a folder that has a claims.yaml, or the name of such a folder in experiments here or beside the
/// program. Empty if there is none.
std::optional<std::filesystem::path> find_claims(const std::string& given);
/// The claims.yaml of every folder in those places, sorted by the folder's name, and these names.
std::vector<std::filesystem::path> claims_files();
std::vector<std::string> claimed_papers();

}  // namespace gnnbench
