#include "report/table_render.hpp"

namespace gnnbench {
namespace {

std::string superscript(const Table::Field& f) {
    const std::string letters = f.letters();
    return letters.empty() ? "" : "<sup>" + letters + "</sup>";
}

/// A group is one column: "**16.8 16.2–17.5 ms** · 2.46× · 5.12 MB <sup>a</sup>".
std::string show(const Table::Cell& cell, const Table::Group& group) {
    std::string all, marks;
    for (std::size_t p = 0; p < cell.fields.size(); ++p) {
        const Table::Field& f = cell.fields[p];
        std::string text;
        if (!f.text.empty() && f.word) text = markdown_escaped(f.text);
        if (!f.text.empty() && !f.word) {
            text = group.parts[p].before + markdown_escaped(f.text) + (f.spread.empty() ? "" : " " + f.spread) +
                   group.parts[p].after;
            if (f.best) text = "**" + text + "**";
        }
        // Marks of the first field apply to the whole cell, those of other fields follow them.
        const std::string mark = superscript(f);
        if (p == 0)
            marks = mark;
        else if (!mark.empty())
            text += (text.empty() ? "" : " ") + mark;
        if (!text.empty()) all += (all.empty() ? "" : " · ") + text;
    }
    return all + (all.empty() || marks.empty() ? "" : " ") + marks;
}

/// A line of its own where it is rendered, in lines that fit where it is read as it is.
std::string lines_of(const std::string& text) {
    std::string lines = wrapped(text, 120);
    lines.insert(lines.size() - 1, "  ");
    return lines;
}

}  // namespace

std::string table_markdown(const Table& t) {
    std::string out;
    for (const std::string& line : t.above()) out += lines_of(markdown_escaped(line));
    if (t.rows.empty()) return out + t.nothing + "\n";
    out += '\n';

    const bool sections = !t.rows.front().section.empty() || t.many_sections();
    std::vector<std::string> heads, rules;
    const auto column = [&](const std::string& head, const char* align) {
        heads.push_back(markdown_escaped(head));
        rules.emplace_back(align);
    };
    if (sections) column(t.section_name, "---");
    for (const Table::Key& key : t.keys) column(key.head, key.left ? "---" : "---:");
    for (const Table::Group& group : t.groups) column(group.title, "---");
    out += markdown_line(heads) + markdown_line(rules);
    for (const Table::Row& row : t.rows) {
        std::vector<std::string> line;
        if (sections) line.push_back(markdown_escaped(row.section));
        for (const std::string& key : row.keys) line.push_back(markdown_escaped(key));
        for (std::size_t g = 0; g < t.groups.size(); ++g) line.push_back(show(row.cells[g], t.groups[g]));
        out += markdown_line(line);
    }
    std::string below;
    if (!t.cell_legend.empty()) below += lines_of(t.cell_legend);
    for (const std::string& line : t.below()) below += lines_of(markdown_escaped(line));
    if (!below.empty() || !t.notes.empty()) out += '\n' + below;
    for (const auto& note : t.notes)
        out += lines_of("<sup>" + note.mark + "</sup> " + markdown_escaped(note.text));
    return out;
}

}  // namespace gnnbench
