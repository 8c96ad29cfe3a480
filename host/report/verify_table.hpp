#pragma once
#include <span>
#include <string>

#include "record/verifications.hpp"
#include "report/format.hpp"

namespace gnnbench {

/// Verification results: dataset, scheme, partitioner, gpus, loss and gradient error, volume, verdict.
std::string render_verifications(std::span<const VerificationRow> rows, OutputFormat format);

}  // namespace gnnbench
