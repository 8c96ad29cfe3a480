#include "report/format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "report/fitted_grid.hpp"

namespace gnnbench {
namespace {

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string without_trailing_blanks(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

OutputFormat output_format(std::string_view name) {
    if (name == "text") return OutputFormat::text;
    if (name == "markdown" || name == "md") return OutputFormat::markdown;
    if (name == "csv") return OutputFormat::csv;
    if (name == "json") return OutputFormat::json;
    if (name == "latex" || name == "tex") return OutputFormat::latex;
    if (name == "html") return OutputFormat::html;
    throw SpecError(
        fmt::format("the format '{}' is unknown; there are text, markdown, latex, html, csv and json.", name));
}

std::size_t display_width(std::string_view text) {
    return usize(std::count_if(text.begin(), text.end(), [](char c) { return !continues_a_character(c); }));
}

std::string pad_right(std::string_view text, std::size_t width) {
    const std::size_t have = display_width(text);
    return std::string(text) + std::string(have < width ? width - have : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
    const std::size_t have = display_width(text);
    return std::string(have < width ? width - have : 0, ' ') + std::string(text);
}

std::string_view first_columns(std::string_view text, std::size_t width) {
    std::size_t bytes = 0, shown = 0;
    for (; bytes < text.size(); ++bytes)
        if (!continues_a_character(text[bytes]) && shown++ == width) break;
    return text.substr(0, bytes);
}

std::string shortened(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    return std::string(first_columns(text, width > 0 ? width - 1 : 0)) + "…";
}

std::vector<std::string> folded_to(std::string_view text, std::size_t width) {
    width = std::max<std::size_t>(width, 1);
    std::vector<std::string> lines;
    const std::string at_blanks = wrapped(text, width);
    for (std::string_view rest = at_blanks; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n')), part = first_columns(line, width);
        lines.emplace_back(part);
        rest.remove_prefix(part.size() + (part.size() == line.size() ? 1 : 0));
    }
    return lines;
}

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        longest = std::max(longest, display_width(text.substr(at, end - at)));
        at = end + 1;
    }
    return longest;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string all, line;
    bool fresh = true;  // nothing but the indent on this line yet
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (!fresh && display_width(line) + 1 + display_width(word) > width) {
            all += line + '\n';
            line = std::string(indent, ' ');
            fresh = true;
        }
        if (!fresh) line += ' ';
        line += word;
        fresh = false;
    }
    return all + without_trailing_blanks(line) + '\n';
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find_first_of("\r\n"))); }

namespace {

/// A spreadsheet runs a cell that begins like a formula; an apostrophe makes it text. Numbers stay as they are.
std::string without_formula(const std::string& field) {
    if (field.size() < 2 || std::string_view("=+-@\t\r").find(field.front()) == std::string_view::npos)
        return field;
    const std::size_t sign = field.front() == '+' ? 1 : 0;
    double number = 0;
    const auto [end, bad] = std::from_chars(field.data() + sign, field.data() + field.size(), number);
    const bool is_number = bad != std::errc::invalid_argument && end == field.data() + field.size();
    return is_number ? field : "'" + field;
}

}  // namespace

std::string duration_text(double seconds) {
    if (seconds < 0.9995)
        return fmt::format("{:.{}f} ms", seconds * 1e3, seconds < 0.00995 ? 2 : seconds < 0.0995 ? 1 : 0);
    if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = std::lround(seconds);
    if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
    return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) line += ',';
        const std::string field = without_formula(fields[i]);
        if (field.find_first_of(",\"\r\n") == std::string::npos) {
            line += field;
            continue;
        }
        line += '"';
        for (const char c : field) line += c == '"' ? std::string("\"\"") : std::string(1, c);
        line += '"';
    }
    return line + "\n";
}

std::string markdown_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n' || c == '\r')
            out += ' ';
        else {
            if (c == '|' || c == '*' || c == '_' || c == '<' || c == '`' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out;
}

std::string markdown_line(const std::vector<std::string>& fields) {
    std::string line = "|";
    for (const auto& field : fields) line += " " + field + (field.empty() ? "|" : " |");
    return line + "\n";
}

std::string TextGrid::text(std::string_view between) const {
    return fitted_grid(lines_, columns_, between, output_columns());
}

}  // namespace gnnbench
