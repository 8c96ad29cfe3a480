#pragma once
#include <functional>
#include <span>
#include <string>

#include "record/origin.hpp"
#include "record/timeline.hpp"
#include "report/report_page.hpp"

namespace gnnbench {

/// The newest traced trial of each cell, up to eight new ones for an experiment. A trial that counts for several
/// experiments is shown once, with their names. `read`: the last traced epoch of a trial, by its UUID.
ReportSection timelines_section(std::span<const ExperimentOrigin> experiments,
                                const std::function<Timeline(const std::string& trial)>& read);

}  // namespace gnnbench
