#include "report/report_timelines.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "report/html.hpp"
#include "report/report_parts.hpp"

namespace gnnbench {
namespace {

/// The most timelines that an experiment adds to a page; the others are only counted.
constexpr std::int64_t most_timelines = 8;

const TrialOrigin* newest_traced(const CellOrigin& cell) {
    const auto found = std::find_if(cell.trials.rbegin(), cell.trials.rend(),
                                    [](const TrialOrigin& trial) { return trial.traced; });
    return found == cell.trials.rend() ? nullptr : &*found;
}

}  // namespace

ReportSection timelines_section(std::span<const ExperimentOrigin> experiments,
                                const std::function<Timeline(const std::string& trial)>& read) {
    ReportSection section{
        "timelines", "Timelines", "Traced epochs: what each rank computed, above what it communicated.", {}, true};
    std::map<std::string, std::size_t> shown;  // trial → part
    for (const ExperimentOrigin& e : experiments) {
        std::int64_t added = 0, left = 0;
        for (const CellOrigin& cell : e.cells) {
            const TrialOrigin* trial = newest_traced(cell);
            if (!trial) continue;
            if (const auto before = shown.find(trial->uuid); before != shown.end()) {
                section.parts[before->second].html +=
                    "<p>The experiment " + html_escaped(e.name) + " has this cell, too.</p>\n";
            } else if (added == most_timelines) {
                ++left;
            } else {
                ++added;
                shown.emplace(trial->uuid, section.parts.size());
                section.parts.push_back(timeline_part(read(trial->uuid)));
            }
        }
        if (left > 0)
            section.parts.back().html +=
                fmt::format("<p>{} of this experiment {} traced; gnnbench trace shows them.</p>\n",
                            plural(left, "more cell"), left == 1 ? "is" : "are");
    }
    return section;
}

}  // namespace gnnbench
