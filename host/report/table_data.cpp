#include "report/format.hpp"
#include "report/table_render.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

std::string csv_value(const ordered_json& v) {
    if (v.is_null()) return "";
    return v.is_string() ? v.get<std::string>() : v.dump();
}

template <class Visit>
void each_record(const Table& t, const Visit& visit) {
    for (const Table::Row& row : t.rows)
        for (const Table::Cell& cell : row.cells)
            if (!cell.record.is_null()) visit(cell.record);
}

}  // namespace

std::string table_csv(const Table& t) {
    std::string out;
    each_record(t, [&](const ordered_json& record) {
        std::vector<std::string> heads, line;
        for (const auto& [name, value] : record.items()) heads.push_back(name), line.push_back(csv_value(value));
        if (out.empty()) out = csv_line(heads);
        out += csv_line(line);
    });
    return out;
}

std::string table_json(const Table& t) {
    ordered_json j = t.about;
    j["cells"] = ordered_json::array();
    each_record(t, [&](const ordered_json& record) { j["cells"].push_back(record); });
    return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gnnbench
