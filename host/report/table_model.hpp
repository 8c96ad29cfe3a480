#pragma once
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/footnotes.hpp"

namespace gnnbench {

/// A table in memory: its cells, emphasis and footnotes. Every
/// renderer (see table_render.hpp) takes only this.
///
///            | Group        | Group          title
///   Key Key  | Part  Part   | Part  Part     heads
///   section
///   …   …    | Field Field  | Field Field    one Cell for each group
struct Table {
    /// A key column, which identifies the row.
    struct Key {
        std::string head{};
        bool left = true;           ///< else right-aligned, as numbers are
        std::size_t widest = 1000;  ///< in text; longer text folds
    };
    /// One of the columns under a group's title.
    struct Part {
        std::string head;
        std::string before{}, after{};  ///< text around a field in Markdown, which has one column for each group
    };
    struct Group {
        std::string title;
        std::vector<Part> parts;
    };
    struct Field {
        std::string text;                  ///< a number, right-aligned, or a word; empty: nothing to show
        std::string spread{};              ///< "40.1–42.3"
        std::vector<std::string> marks{};  ///< letters of `notes`
        bool best = false;                 ///< in its row
        bool word = false;                 ///< "OOM": may span the whole cell
        std::string link{};                ///< its link in HTML: "#cell-1a2b"

        bool empty() const { return text.empty() && marks.empty(); }
        std::string letters() const;  ///< the marks in a row: "ac"
    };
    struct Cell {
        std::vector<Field> fields;      ///< one for each part of its group; none: nothing to show
        nlohmann::ordered_json record;  ///< the cell as data; null: there is no such cell
    };
    struct Row {
        std::string section;  ///< rows of one section follow each other
        std::vector<std::string> keys;
        std::vector<Cell> cells;  ///< one for each group
    };

    std::string name;  ///< "plexus/table-5-1": LaTeX's label
    /// The first line, above, says what the table is. The others, below, say what its numbers are; of a table without rows
    /// they are above, too, and in LaTeX in the caption.
    std::vector<std::string> heading;
    std::string legend;        ///< what the heads mean; of text, LaTeX and HTML
    std::string cell_legend;   ///< what a cell means where a group is one column; of Markdown
    std::string section_name;  ///< "dataset"
    std::vector<Key> keys;
    std::vector<Group> groups;
    std::vector<Row> rows;
    std::string nothing;  ///< the text of a table without rows
    std::vector<Footnotes::Note> notes;
    nlohmann::ordered_json about;  ///< of the whole, for JSON

    bool many_sections() const { return !rows.empty() && rows.front().section != rows.back().section; }
    /// Its lines of heading that are above its grid, and below.
    std::span<const std::string> above() const;
    std::span<const std::string> below() const;
    /// Whether row r begins a section with a title.
    bool begins_section(std::size_t r) const;
};

/// The legend for formats that print the best in bold instead of with a *.
std::string legend_in_bold(const Table& table);

}  // namespace gnnbench
