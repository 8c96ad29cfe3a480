#pragma once
#include <string>
#include <utility>
#include <vector>

namespace gnnbench {

/// A part of the page under a heading: a table, a figure, an experiment.
struct ReportPart {
    std::string id;     ///< target of links; unique on the page
    std::string title;  ///< as text
    std::string html;
};
struct ReportSection {
    std::string id, title;
    std::string lead;  ///< a sentence or two, as text
    std::vector<ReportPart> parts;
    bool parts_in_contents = false;
};

/// A self-contained HTML file: no script, nothing to fetch.
struct ReportPage {
    std::string title, lead;
    std::vector<std::pair<std::string, std::string>> tally;  ///< "trials" → "120": numbers at a glance
    std::vector<ReportSection> sections;                     ///< those without parts are left out
};
/// Throws LogicError where two parts or sections have one id.
std::string report_page(const ReportPage& page);

/// Text as an id, another for each text: letters, digits, '-' and '_' stay, other bytes become ".2f".
std::string anchor(const std::string& text);

}  // namespace gnnbench
