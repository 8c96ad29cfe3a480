#pragma once
#include <span>
#include <string>

#include "record/comparison.hpp"
#include "record/environment.hpp"
#include "record/timeline.hpp"
#include "record/verifications.hpp"
#include "report/claims_list.hpp"
#include "report/report_origins.hpp"
#include "report/report_page.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

/// A figure as SVG without its heading, for a page as wide as a screen and for a phone, whose panels are below each
/// other. Empty: none.
struct Drawing {
    std::string wide = {}, narrow = {};
    bool empty() const { return wide.empty(); }
};

/// An experiment's section: its comparison, its verifications, its file. `drawing`: how it scales, as SVG without its
/// heading; empty: nothing to draw.
ReportPart experiment_part(const ComparisonData& data, const ExperimentOrigin& origin,
                           std::span<const VerificationRow> verified, const CellAnchors& anchors,
                           const Drawing& drawing = {});

/// A paper's table, or its figure with the table collapsed below. `drawing`: the figure as SVG without its heading, or
/// empty: nothing to draw, or what `undrawn` says. `number`: among the page's definitions of its name, from 1.
ReportPart definition_part(const ResolvedTable& resolved, const CellAnchors& anchors, const Drawing& drawing,
                           const std::string& undrawn = "", int number = 1);

/// A paper's claims with their verdicts.
ReportPart claims_part(const ClaimsView& paper, int number);

ReportPart timeline_part(const Timeline& timeline);

ReportSection environment_section(const EnvironmentSummary& environment);

/// An SVG file for embedding in a page: without the XML declaration, and with unique ids.
std::string inlined_svg(const std::string& svg, const std::string& id, const std::string& label);

}  // namespace gnnbench
