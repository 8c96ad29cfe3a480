#include "report/table_model.hpp"

#include <algorithm>

namespace gnnbench {

std::string Table::Field::letters() const {
    std::string all;
    for (const std::string& mark : marks) all += (all.empty() || mark.size() == 1 ? "" : ",") + mark;
    return all;
}

std::string legend_in_bold(const Table& table) {
    std::string text = table.legend;
    const std::string star = " with *";
    if (const std::size_t at = text.find(star); at != std::string::npos) text.replace(at, star.size(), " in bold");
    return text;
}

std::span<const std::string> Table::above() const {
    return std::span(heading).first(rows.empty() ? heading.size() : std::min<std::size_t>(heading.size(), 1));
}

std::span<const std::string> Table::below() const { return std::span(heading).subspan(above().size()); }

bool Table::begins_section(std::size_t r) const {
    return many_sections() && !rows[r].section.empty() && (r == 0 || rows[r].section != rows[r - 1].section);
}

}  // namespace gnnbench
