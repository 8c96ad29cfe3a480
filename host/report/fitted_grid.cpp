#include "report/fitted_grid.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <gnnbench/usize.hpp>

#include "core/printable.hpp"

namespace gnnbench {
namespace {

using GridLine = std::vector<std::string>;
using Align = TextGrid::Align;

std::string trimmed_end(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::vector<std::size_t> natural_widths(std::span<const GridLine> lines, std::size_t columns) {
    std::vector<std::size_t> widths(columns, 0);
    for (const GridLine& line : lines)
        for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], display_width(line[c]));
    return widths;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
    std::size_t sum = 0;
    for (const std::size_t w : widths) sum += w;
    return sum;
}

/// Widths of at most `room` in all, taken from the widest column of text first; empty where words are too long for
/// that. The last column may be narrower than its words: what stands out there is in nobody's way.
std::vector<std::size_t> narrowed(std::span<const GridLine> lines, std::span<const Align> columns,
                                  std::size_t room) {
    constexpr std::size_t least_text = 20;
    std::vector<std::size_t> widths = natural_widths(lines, columns.size()), least = widths;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c] == Align::right) continue;
        std::size_t longest = 0;
        for (const GridLine& line : lines)
            if (c < line.size()) longest = std::max(longest, longest_word(line[c]));
        if (c + 1 == columns.size()) longest = std::min(longest, least_text);
        least[c] = std::min(least[c], longest);
    }
    if (sum_of(least) > room) return {};
    while (sum_of(widths) > room) {
        std::size_t widest = columns.size();
        for (std::size_t c = 0; c < columns.size(); ++c)
            if (widths[c] > least[c] && (widest == columns.size() || widths[c] > widths[widest])) widest = c;
        --widths[widest];
    }
    return widths;
}

GridLine folded(const std::string& cell, std::size_t width) {
    GridLine all;
    const std::string text = display_width(cell) <= width ? cell + "\n" : wrapped(cell, width);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        all.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return all;
}

std::string columns_text(std::span<const GridLine> lines, std::span<const Align> columns,
                         const std::vector<std::size_t>& widths, std::string_view between) {
    std::string all;
    for (const GridLine& line : lines) {
        std::vector<GridLine> parts;
        std::size_t height = 1;
        for (std::size_t c = 0; c < line.size(); ++c) {
            parts.push_back(folded(line[c], widths[c]));
            height = std::max(height, parts.back().size());
        }
        for (std::size_t row = 0; row < height; ++row) {
            std::string text;
            for (std::size_t c = 0; c < line.size(); ++c) {
                const std::string part = row < parts[c].size() ? parts[c][row] : "";
                if (c > 0) text += between;
                text += columns[c] == Align::left ? pad_right(part, widths[c]) : pad_left(part, widths[c]);
            }
            all += trimmed_end(std::move(text)) + '\n';
        }
    }
    return all;
}

/// A block for each line: heads beside values, empty ones left out.
std::string blocks_text(std::span<const GridLine> lines, std::string_view between, std::size_t width) {
    const GridLine& heads = lines.front();
    std::size_t head = 0;
    for (const std::string& text : heads) head = std::max(head, display_width(text));
    const std::size_t left = head + between.size(), room = width > left + 20 ? width - left : 20;
    std::string all;
    for (std::size_t l = 1; l < lines.size(); ++l) {
        if (l > 1) all += '\n';
        for (std::size_t c = 0; c < lines[l].size(); ++c) {
            if (lines[l][c].empty()) continue;
            bool first = true;
            for (const std::string& part : folded(lines[l][c], room)) {
                all += trimmed_end(pad_right(first ? heads[c] : "", head) + std::string(between) + part) + '\n';
                first = false;
            }
        }
    }
    return all;
}

}  // namespace

std::size_t output_columns() {
    winsize size{};
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char* set = std::getenv("COLUMNS");
    const long columns = set ? std::strtol(set, nullptr, 10) : 0;
    return columns > 0 ? usize(columns) : 0;
}

std::string fitted_grid(std::span<const GridLine> lines, std::span<const Align> columns, std::string_view between,
                        std::size_t width) {
    std::vector<GridLine> safe(lines.begin(), lines.end());
    for (GridLine& line : safe)
        for (std::string& cell : line) cell = printable(cell);
    std::vector<std::size_t> widths = natural_widths(safe, columns.size());
    const std::size_t gaps = columns.empty() ? 0 : between.size() * (columns.size() - 1);
    if (width == 0 || sum_of(widths) + gaps <= width) return columns_text(safe, columns, widths, between);
    widths = width > gaps ? narrowed(safe, columns, width - gaps) : std::vector<std::size_t>();
    if (!widths.empty()) return columns_text(safe, columns, widths, between);
    return safe.size() < 2 ? columns_text(safe, columns, natural_widths(safe, columns.size()), between)
                           : blocks_text(safe, between, width);
}

}  // namespace gnnbench
