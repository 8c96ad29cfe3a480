#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace gnnbench {

enum class OutputFormat { text, markdown, csv, json, latex, html };
/// Throws SpecError naming what is allowed.
OutputFormat output_format(std::string_view name);

/// The width of UTF-8 text in terminal columns, without wide or combining characters.
std::size_t display_width(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);
/// The beginning of `text`, of at most `width` columns.
std::string_view first_columns(std::string_view text, std::size_t width);
/// Truncates to `width` columns, ending in "…".
std::string shortened(std::string_view text, std::size_t width);

/// The width of the longest word between blanks.
std::size_t longest_word(std::string_view text);
/// Breaks at blanks; lines after the first begin with `indent` blanks. Ends with a newline.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);
/// Lines of at most `width` columns (at least 1): broken at blanks, and inside a word only where it is longer.
std::vector<std::string> folded_to(std::string_view text, std::size_t width);
/// Up to the first line break.
std::string first_line(std::string_view text);

/// "0.46 ms", "850 ms", "12.3 s", "4m 05s", "2h 10m".
std::string duration_text(double seconds);

/// After RFC 4180: quoted where it has to be.
std::string csv_line(const std::vector<std::string>& fields);
/// "| a | b |", with what Markdown would take for markup escaped.
std::string markdown_line(const std::vector<std::string>& fields);
std::string markdown_escaped(std::string_view text);

/// Lines of cells, each column as wide as its widest cell.
class TextGrid {
public:
    enum class Align { left, right };
    explicit TextGrid(std::vector<Align> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }
    /// Lines end without blanks, with a newline. On a terminal they fit its width, see fitted_grid().
    std::string text(std::string_view between = "  ") const;

private:
    std::vector<Align> columns_;
    std::vector<std::vector<std::string>> lines_;
};

}  // namespace gnnbench
