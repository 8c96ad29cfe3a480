#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "record/origin.hpp"
#include "report/report_page.hpp"

namespace gnnbench {

/// The anchor of the part that says how a trial's numbers were measured, by the trial's row id: "cell-1a2b…".
using CellAnchors = std::map<std::int64_t, std::string>;
CellAnchors cell_anchors(std::span<const ExperimentOrigin> experiments);

/// How to reproduce each number: the command for each cell, its digests, its trials.
ReportSection origins_section(std::span<const ExperimentOrigin> experiments);

/// What failed, was skipped or was interrupted, and why; says so if nothing did.
ReportSection failures_section(std::span<const ExperimentOrigin> experiments);

/// "gnnbench run exp.yaml --profile small --set epochs=5"
std::string run_command(const RunCommand& command);
/// One word for a POSIX shell, quoted where it has to be.
std::string shell_word(const std::string& text);

}  // namespace gnnbench
