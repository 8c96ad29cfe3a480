#include <algorithm>

#include <fmt/format.h>

#include "report/fitted_grid.hpp"
#include "report/table_render.hpp"

namespace gnnbench {
namespace {

using Lines = std::vector<std::string>;

/// Between the columns of two groups.
constexpr std::string_view rule = " | ";

/// The columns under one title: a title, their heads, and one line for each row, all of one width.
struct Block {
    std::string title, heads;
    Lines cells;
    std::size_t width = 0;

    /// Brings all lines to one width: at most `room`, unless heads or numbers need more, which are never cut.
    void finish(std::size_t room) {
        width = display_width(heads);
        for (const auto& cell : cells) width = std::max(width, display_width(cell));
        title = shortened(title, std::max(room, width));
        width = std::max(width, display_width(title));
        title = pad_right(title, width);
        heads = pad_right(heads, width);
        for (auto& cell : cells) cell = pad_right(cell, width);
    }
};

/// Text, spread and marks of one part, each as wide as its widest.
struct Widths {
    std::size_t text = 0, spread = 0, marks = 0;
};

std::string marks_of(const Table::Field& f) { return (f.best ? "*" : "") + f.letters(); }

/// A word that is alone in its cell spans all its columns.
bool takes_all(const Table::Cell& cell) {
    if (cell.fields.empty() || !cell.fields[0].word) return false;
    return std::all_of(cell.fields.begin() + 1, cell.fields.end(), [](const auto& f) { return f.empty(); });
}

std::vector<Widths> widths_of(const Table& t, std::size_t g) {
    std::vector<Widths> all;
    for (const Table::Part& part : t.groups[g].parts) all.push_back({display_width(part.head)});
    for (const Table::Row& row : t.rows) {
        const Table::Cell& cell = row.cells[g];
        if (takes_all(cell)) continue;
        for (std::size_t p = 0; p < cell.fields.size(); ++p) {
            const Table::Field& f = cell.fields[p];
            all[p].text = std::max(all[p].text, display_width(f.text));
            all[p].spread = std::max(all[p].spread, display_width(f.spread));
            all[p].marks = std::max(all[p].marks, display_width(marks_of(f)));
        }
    }
    return all;
}

/// Text, spread and marks with one blank between; empty columns are omitted.
std::string placed(const Widths& w, const std::string& text, const std::string& spread, const std::string& marks) {
    std::string all = pad_left(text, w.text);
    if (w.spread > 0) all += " " + pad_right(spread, w.spread);
    if (w.marks > 0) all += " " + pad_right(marks, w.marks);
    return all;
}

Block block_of(const Table& t, std::size_t g) {
    const std::vector<Widths> widths = widths_of(t, g);
    const auto& parts = t.groups[g].parts;
    Block b;
    b.title = t.groups[g].title;
    for (std::size_t p = 0; p < parts.size(); ++p)
        b.heads += (p > 0 ? "  " : "") + placed(widths[p], parts[p].head, "", "");
    for (const Table::Row& row : t.rows) {
        const Table::Cell& cell = row.cells[g];
        std::string line;
        if (takes_all(cell)) {
            const std::string marks = marks_of(cell.fields[0]);
            line = cell.fields[0].text + (marks.empty() ? "" : " " + marks);
        } else {
            for (std::size_t p = 0; p < cell.fields.size(); ++p) {
                const Table::Field& f = cell.fields[p];
                line += (p > 0 ? "  " : "") + placed(widths[p], f.text, f.spread, marks_of(f));
            }
        }
        b.cells.push_back(std::move(line));
    }
    return b;
}

/// The row's key columns, as a separate block.
Block row_keys(const Table& t) {
    constexpr std::size_t whole_width = 100;  // of the table that `widest` is chosen for
    Block b;
    b.cells.resize(t.rows.size());
    for (std::size_t k = 0; k < t.keys.size(); ++k) {
        Table::Key key = t.keys[k];
        if (key.widest < whole_width)
            key.widest = std::max<std::size_t>(8, key.widest * table_width() / whole_width);
        std::size_t width = display_width(key.head);
        for (const Table::Row& row : t.rows)
            width = std::max(width, display_width(shortened(row.keys[k], key.widest)));
        const auto padded = [&](const std::string& text) {
            return key.left ? pad_right(text, width) : pad_left(text, width);
        };
        b.heads += (k > 0 ? "  " : "") + padded(key.head);
        for (std::size_t r = 0; r < t.rows.size(); ++r)
            b.cells[r] += (k > 0 ? "  " : "") + padded(shortened(t.rows[r].keys[k], key.widest));
    }
    b.finish(table_width());
    return b;
}

void add_line(std::string& out, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
}

std::string section_line(const Table& t, const std::string& section) {
    return t.section_name.empty() ? section : t.section_name + " " + section;
}

/// Row keys beside as many groups as fit; the others in blocks below.
std::string blocks(const Table& t) {
    const Block keys = row_keys(t);
    std::vector<Block> groups;
    for (std::size_t g = 0; g < t.groups.size(); ++g) {
        groups.push_back(block_of(t, g));
        const std::size_t beside = keys.width + rule.size();
        groups.back().finish(table_width() > beside ? table_width() - beside : 0);
    }
    std::string out;
    for (std::size_t first = 0, last; first < groups.size(); first = last) {
        std::size_t width = keys.width;
        for (last = first; last < groups.size(); ++last) {
            if (last > first && width + rule.size() + groups[last].width > table_width()) break;
            width += rule.size() + groups[last].width;
        }
        const auto line = [&](const std::string& start, const auto& part_of) {
            std::string text = pad_right(start, keys.width);
            for (std::size_t g = first; g < last; ++g) text += std::string(rule) + part_of(groups[g]);
            add_line(out, std::move(text));
        };
        out += '\n';
        line("", [](const Block& b) { return b.title; });
        line(keys.heads, [](const Block& b) { return b.heads; });
        for (std::size_t r = 0; r < t.rows.size(); ++r) {
            if (t.begins_section(r)) add_line(out, section_line(t, t.rows[r].section));
            line(keys.cells[r], [r](const Block& b) { return b.cells[r]; });
        }
    }
    return out;
}

}  // namespace

std::size_t table_width() {
    const std::size_t columns = output_columns();
    return columns == 0 ? 100 : std::clamp<std::size_t>(columns, 40, 100);
}

std::string table_text(const Table& t) {
    std::string out;
    for (const std::string& line : t.heading) out += wrapped(line, table_width(), 2);
    if (t.rows.empty()) return out + t.nothing + "\n";
    if (!t.legend.empty()) out += wrapped(t.legend, table_width(), 2);
    if (!t.many_sections() && !t.rows.front().section.empty())
        out += section_line(t, t.rows.front().section) + "\n";
    out += blocks(t);
    if (!t.notes.empty()) out += '\n';
    for (const auto& note : t.notes) out += wrapped(note.mark + "  " + note.text, table_width(), 3);
    return out;
}

}  // namespace gnnbench
