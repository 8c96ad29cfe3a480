#include "report/report_page.hpp"

#include <cctype>
#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "report/html.hpp"

namespace gnnbench {
namespace {

void check_ids(const ReportPage& page) {
    std::set<std::string> ids;
    const auto check = [&](const std::string& id) {
        if (!ids.insert(id).second) throw LogicError("two places of a report have the id '" + id + "'");
    };
    for (const ReportSection& section : page.sections) {
        check(section.id);
        for (const ReportPart& part : section.parts) check(part.id);
    }
}

std::string link(const std::string& id, const std::string& title) {
    return fmt::format("<a href=\"#{}\">{}</a>", id, html_escaped(title));
}

std::string contents_of(const ReportSection& section) {
    std::string out = "<li>" + link(section.id, section.title);
    if (section.parts_in_contents) {
        out += "\n<ol>\n";
        for (const ReportPart& part : section.parts) out += "<li>" + link(part.id, part.title) + "</li>\n";
        out += "</ol>\n";
    }
    return out + "</li>\n";
}

std::string section_html(const ReportSection& section) {
    std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, html_escaped(section.title));
    if (!section.lead.empty()) out += "<p class=\"lead\">" + html_escaped(section.lead) + "</p>\n";
    for (const ReportPart& part : section.parts) {
        out += fmt::format("<article id=\"{}\">\n", part.id);
        if (part.title != section.title) out += "<h3>" + html_escaped(part.title) + "</h3>\n";
        out += part.html + "</article>\n";
    }
    return out + "</section>\n";
}

}  // namespace

std::string anchor(const std::string& text) {
    std::string id;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && (std::isalnum(byte) || c == '-' || c == '_'))
            id += c;
        else
            id += fmt::format(".{:02x}", byte);
    }
    return id;
}

std::string report_page(const ReportPage& page) {
    check_ids(page);
    std::string tally, contents, sections;
    for (const auto& [what, number] : page.tally)
        tally += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_escaped(what), html_escaped(number));
    for (const ReportSection& section : page.sections) {
        if (section.parts.empty()) continue;
        contents += contents_of(section);
        sections += section_html(section);
    }
    return html_page(page.title,
                     filled_page("report_body", {{"title", html_escaped(page.title)},
                                                 {"lead", html_escaped(page.lead)},
                                                 {"tally", tally},
                                                 {"contents", contents},
                                                 {"sections", sections}}),
                     "report");
}

}  // namespace gnnbench
