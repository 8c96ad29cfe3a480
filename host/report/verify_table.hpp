#pragma once
#include <span>
#include <string>

#include "record/verifications.hpp"
#include "report/format.hpp"
#include "report/table_model.hpp"

namespace gnnbench {

/// Verification results: dataset, scheme, partitioner, gpus, loss and gradient error, volume, verdict.
std::string render_verifications(std::span<const VerificationRow> rows, OutputFormat format);
/// "verified", "FAILED".
std::string verdict_text(VerificationStatus status);
/// The same in memory, for the formats that only tables have.
Table verification_table(std::span<const VerificationRow> rows);

}  // namespace gnnbench
