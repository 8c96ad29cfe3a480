#include "cli/output.hpp"

#include <algorithm>
#include <iostream>

#include <gnnbench/error.hpp>

#include "core/printable.hpp"

namespace gnnbench {

namespace {

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextColumns::text() const {
    auto rows = rows_;
    for (auto& row : rows)
        for (std::string& field : row) field = printable(field);
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
    }
    std::string result;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c)
            line += row[c] + std::string(widths[c] - width_of(row[c]) + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        result += line + '\n';
    }
    return result;
}

void print_json(std::ostream& out, const nlohmann::json& j) {
    out << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void flush_stdout() {
    if (!std::cout.flush())
        throw EnvironmentError("cannot write to stdout; is the disk full, or the pipe closed?");
}

}  // namespace gnnbench
