#include <fmt/format.h>

#include "report/html.hpp"
#include "report/table_render.hpp"

namespace gnnbench {
namespace {

std::string field_html(const Table::Field& f, std::size_t span) {
    std::string text = html_escaped(f.text);
    if (!f.spread.empty()) text += " <small>" + html_escaped(f.spread) + "</small>";
    if (!f.link.empty()) text = "<a href=\"" + html_escaped(f.link) + "\">" + text + "</a>";
    if (f.best) text = "<b>" + text + "</b>";
    const std::string letters = f.letters();
    if (!letters.empty()) text += "<sup>" + letters + "</sup>";
    const std::string wide = span > 1 ? fmt::format(" colspan=\"{}\"", span) : "";
    return "<td" + wide + (f.word ? " class=\"word\">" : ">") + text + "</td>";
}

/// Columns of text that a page of 1,280 pixels has room for beside its contents.
constexpr std::size_t page_columns = 84;

/// Groups [first, last) of a table.
struct Groups {
    std::size_t first, last;
};

std::string head_rows(const Table& t, Groups of) {
    std::string titles = "<tr>", heads = "<tr>";
    for (const Table::Key& key : t.keys) {
        titles += "<th></th>";
        heads += std::string("<th scope=\"col\"") + (key.left ? " class=\"key\">" : ">") + html_escaped(key.head) +
                 "</th>";
    }
    for (std::size_t i = of.first; i < of.last; ++i) {
        const Table::Group& g = t.groups[i];
        titles +=
            fmt::format("<th scope=\"colgroup\" colspan=\"{}\">{}</th>", g.parts.size(), html_escaped(g.title));
        for (const Table::Part& part : g.parts) heads += "<th scope=\"col\">" + html_escaped(part.head) + "</th>";
    }
    return (t.groups.empty() ? "" : titles + "</tr>\n") + heads + "</tr>\n";
}

std::string cell_html(const Table::Cell& cell, std::size_t parts) {
    std::string out;
    for (std::size_t p = 0; p < parts; ++p)
        out += p < cell.fields.size() ? field_html(cell.fields[p], 1) : "<td></td>";
    return out;
}

/// Row keys beside some of the groups.
std::string grid_html(const Table& t, Groups of) {
    std::string out = "<div class=\"scroll\"><table>\n<thead>\n" + head_rows(t, of) + "</thead>\n<tbody>\n";
    std::size_t columns = t.keys.size();
    for (std::size_t g = of.first; g < of.last; ++g) columns += t.groups[g].parts.size();
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        const Table::Row& row = t.rows[r];
        if (t.begins_section(r))
            out += fmt::format("<tr><th scope=\"rowgroup\" class=\"section\" colspan=\"{}\">{}</th></tr>\n",
                               columns, html_escaped(row.section));
        out += "<tr>";
        for (std::size_t k = 0; k < row.keys.size(); ++k)
            out += std::string("<th scope=\"row\"") + (t.keys[k].left ? " class=\"key\">" : ">") +
                   html_escaped(row.keys[k]) + "</th>";
        for (std::size_t g = of.first; g < of.last; ++g) out += cell_html(row.cells[g], t.groups[g].parts.size());
        out += "</tr>\n";
    }
    return out + "</tbody>\n</table></div>\n";
}

}  // namespace

std::string table_html(const Table& t) {
    std::string out = "<figure class=\"gnnbench-table\">\n<figcaption>\n";
    const auto lines = [&](std::span<const std::string> all) {
        for (const std::string& line : all)
            if (!line.empty()) out += "<p>" + html_escaped(line) + "</p>\n";
    };
    lines(t.above());
    if (t.rows.empty()) return out + "<p>" + html_escaped(t.nothing) + "</p>\n</figcaption>\n</figure>\n";
    out += "</figcaption>\n";
    std::vector<std::size_t> firsts = first_groups(t, page_columns);
    if (firsts.empty()) firsts.push_back(0);
    for (std::size_t i = 0; i < firsts.size(); ++i)
        out += grid_html(t, {firsts[i], i + 1 < firsts.size() ? firsts[i + 1] : t.groups.size()});
    if (!t.legend.empty() || !t.below().empty()) out += "<div class=\"about\">\n";
    if (!t.legend.empty()) out += "<p>" + html_escaped(legend_in_bold(t)) + "</p>\n";
    lines(t.below());
    if (!t.legend.empty() || !t.below().empty()) out += "</div>\n";
    if (!t.notes.empty()) {
        out += "<dl class=\"notes\">\n";
        for (const auto& note : t.notes)
            out += "<dt>" + note.mark + "</dt><dd>" + html_escaped(note.text) + "</dd>\n";
        out += "</dl>\n";
    }
    return out + "</figure>\n";
}

}  // namespace gnnbench
