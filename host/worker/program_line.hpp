#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/status.hpp"

namespace gnnbench {

/// The lines printed by a program that is a cell's scheme: schemas/program-line.schema.json.

struct ProgramEpoch {
    std::int64_t epoch = 0;
    double loss = 0;  ///< NaN where it was not finite
    double wall_s = 0;
    nlohmann::json phases;  ///< name → seconds; may be empty
    std::optional<std::int64_t> peak_memory_bytes;
};

struct ProgramVersions {
    std::string versions;  ///< "torch 2.13.0, numpy 2.1.0"
    std::string device;    ///< empty if not given
};

struct ProgramRefusal {
    TrialStatus status = TrialStatus::failed;  ///< skipped, oom or failed
    std::string reason;
};

using ProgramLine = std::variant<ProgramEpoch, ProgramVersions, ProgramRefusal>;

/// Throws DataError that says what was expected and found.
ProgramLine read_program_line(std::string_view text);

}  // namespace gnnbench
