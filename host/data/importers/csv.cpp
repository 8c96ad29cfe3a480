#include <data/importers/csv.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

namespace {

std::string_view trimmed(std::string_view field) {
    const auto first = field.find_first_not_of(" \t"), last = field.find_last_not_of(" \t");
    if (first == field.npos) return {};
    field = field.substr(first, last - first + 1);
    const bool quoted = field.size() > 1 && field.front() == '"' && field.back() == '"';
    return quoted ? field.substr(1, field.size() - 2) : field;
}

}  // namespace

bool CsvReader::next(std::vector<std::string_view>& fields) {
    std::string_view line;
    do {
        if (!reader_.next(line)) return false;
    } while (is_blank(line));
    fields.clear();
    const auto most = columns_ > 0 ? columns_ : most_columns;
    for (std::size_t begin = 0; begin <= line.size();) {
        if (fields.size() == most)
            throw DataError(columns_ > 0 ? fmt::format("{}: expected {} values, found more in '{}'",
                                                       reader_.where(), columns_, shown(line))
                                         : fmt::format("{}: a row of more than {} values", reader_.where(), most));
        const auto end = std::min(line.find(',', begin), line.size());
        fields.push_back(trimmed(line.substr(begin, end - begin)));
        begin = end + 1;
    }
    if (columns_ > 0 && fields.size() != columns_)
        throw DataError(fmt::format("{}: expected {} values, found {} in '{}'", reader_.where(), columns_,
                                    fields.size(), shown(line)));
    columns_ = fields.size();
    ++rows_;
    return true;
}

}  // namespace gnnbench
