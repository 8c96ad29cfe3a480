#include "report/table_model.hpp"

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

bool Table::begins_section(std::size_t r) const {
    return many_sections() && !rows[r].section.empty() && (r == 0 || rows[r].section != rows[r - 1].section);
}

}  // namespace gnnbench
