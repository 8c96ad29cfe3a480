#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "report/fitted_grid.hpp"
#include "report/table_render.hpp"

namespace gnnbench {
namespace {

using Lines = std::vector<std::string>;

/// Between the columns of two groups.
constexpr std::string_view rule = " | ";

/// A title that is wider than this, and than what it is above, continues on further lines.
constexpr std::size_t wide_title = 28;

/// The columns under one title: the title, their heads, and the lines of each row, all of one width.
struct Block {
    std::string title, heads;
    Lines titles;
    std::vector<Lines> rows;
    std::size_t width = 0;

    /// Brings all lines to one width: at most `room`, unless heads or numbers need more, which are never cut.
    void finish(std::size_t room) {
        width = display_width(heads);
        for (const Lines& row : rows)
            for (const auto& line : row) width = std::max(width, display_width(line));
        const std::size_t whole_words = std::max(wide_title, longest_word(title));
        titles = folded_to(title, std::max({width, std::min(room, whole_words), std::size_t{1}}));
        for (const auto& line : titles) width = std::max(width, display_width(line));
    }
    /// Line `n` of `height`, of which `lines` are the last.
    std::string above(const Lines& lines, std::size_t n, std::size_t height) const {
        const std::size_t missing = height - lines.size();
        return pad_right(n < missing ? "" : lines[n - missing], width);
    }
    /// Line `n` of those of row `r`; blank after its last.
    std::string line_of(std::size_t r, std::size_t n) const {
        return pad_right(n < rows[r].size() ? rows[r][n] : "", width);
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
        b.rows.push_back({std::move(line)});
    }
    return b;
}

/// One key column: its cells, folded to the width that they may have.
struct KeyColumn {
    std::vector<Lines> cells;
    std::size_t width = 0;
    bool left = true;

    std::string padded(const std::string& text) const {
        return left ? pad_right(text, width) : pad_left(text, width);
    }
};

KeyColumn key_column(const Table& t, std::size_t k, std::size_t room) {
    constexpr std::size_t whole_width = 100;  // of the table that `widest` is chosen for
    std::size_t widest = t.keys[k].widest;
    if (widest < whole_width) widest = std::max<std::size_t>(8, widest * room / whole_width);
    KeyColumn column{{}, display_width(t.keys[k].head), t.keys[k].left};
    for (const Table::Row& row : t.rows) {
        column.cells.push_back(folded_to(row.keys[k], widest));
        for (const auto& line : column.cells.back()) column.width = std::max(column.width, display_width(line));
    }
    return column;
}

/// The row's key columns, as a separate block.
Block row_keys(const Table& t, std::size_t room) {
    Block b;
    b.rows.resize(t.rows.size());
    for (std::size_t k = 0; k < t.keys.size(); ++k) {
        const KeyColumn column = key_column(t, k, room);
        const std::string before(display_width(b.heads), ' ');
        b.heads += (k > 0 ? "  " : "") + column.padded(t.keys[k].head);
        for (std::size_t r = 0; r < t.rows.size(); ++r) {
            Lines& row = b.rows[r];
            row.resize(std::max(row.size(), column.cells[r].size()), before);
            for (std::size_t n = 0; n < row.size(); ++n)
                row[n] +=
                    (k > 0 ? "  " : "") + column.padded(n < column.cells[r].size() ? column.cells[r][n] : "");
        }
    }
    b.finish(room);
    return b;
}

void add_line(std::string& out, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
}

std::string section_line(const Table& t, const std::string& section) {
    return t.section_name.empty() ? section : t.section_name + " " + section;
}

/// Row keys beside the groups [first, last).
std::string side_by_side(const Table& t, const Block& keys, std::span<const Block> groups) {
    std::string out;
    const auto line = [&](const std::string& start, const auto& part_of) {
        std::string text = pad_right(start, keys.width);
        for (const Block& group : groups) text += std::string(rule) + part_of(group);
        add_line(out, std::move(text));
    };
    std::size_t height = 1;
    for (const Block& group : groups) height = std::max(height, group.titles.size());
    for (std::size_t n = 0; n < height; ++n)
        line("", [&](const Block& b) { return b.above(b.titles, n, height); });
    line(keys.heads, [](const Block& b) { return pad_right(b.heads, b.width); });
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        if (t.begins_section(r)) add_line(out, section_line(t, t.rows[r].section));
        for (std::size_t n = 0; n < keys.rows[r].size(); ++n)
            line(keys.line_of(r, n), [&](const Block& b) { return b.line_of(r, n); });
    }
    return out;
}

std::vector<Block> group_blocks(const Table& t, const Block& keys, std::size_t room) {
    std::vector<Block> groups;
    const std::size_t beside = keys.width + rule.size();
    for (std::size_t g = 0; g < t.groups.size(); ++g) {
        groups.push_back(block_of(t, g));
        groups.back().finish(room > beside ? room - beside : 0);
    }
    return groups;
}

/// Of each run of groups that fit beside the keys, one at least, the first.
std::vector<std::size_t> fitting(const Block& keys, std::span<const Block> groups, std::size_t room) {
    std::vector<std::size_t> firsts;
    std::size_t width = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::size_t more = rule.size() + groups[g].width;
        if (firsts.empty() || width + more > room) {
            firsts.push_back(g);
            width = keys.width;
        }
        width += more;
    }
    return firsts;
}

/// Row keys beside as many groups as fit; the others in blocks below.
std::string blocks(const Table& t) {
    const Block keys = row_keys(t, table_width());
    const std::vector<Block> groups = group_blocks(t, keys, table_width());
    const std::vector<std::size_t> firsts = fitting(keys, groups, table_width());
    std::string out;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
        const std::size_t last = i + 1 < firsts.size() ? firsts[i + 1] : groups.size();
        out += '\n' + side_by_side(t, keys, std::span(groups).subspan(firsts[i], last - firsts[i]));
    }
    return out;
}

}  // namespace

std::size_t table_width() {
    const std::size_t columns = output_columns();
    return columns == 0 ? 100 : std::clamp<std::size_t>(columns, 40, 100);
}

std::vector<std::size_t> first_groups(const Table& t, std::size_t width) {
    const Block keys = row_keys(t, width);
    return fitting(keys, group_blocks(t, keys, width), width);
}

std::string table_text(const Table& t) {
    std::string out;
    for (const std::string& line : t.above()) out += wrapped(line, table_width(), 2);
    if (t.rows.empty()) return out + t.nothing + "\n";
    if (!t.many_sections() && !t.rows.front().section.empty())
        out += section_line(t, t.rows.front().section) + "\n";
    out += blocks(t);
    if (!t.legend.empty() || !t.below().empty()) out += '\n';
    if (!t.legend.empty()) out += wrapped(t.legend, table_width(), 2);
    for (const std::string& line : t.below()) out += wrapped(line, table_width(), 2);
    if (!t.notes.empty()) out += '\n';
    for (const auto& note : t.notes) out += wrapped(note.mark + "  " + note.text, table_width(), 3);
    return out;
}

}  // namespace gnnbench
