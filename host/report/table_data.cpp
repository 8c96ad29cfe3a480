#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/format.hpp"
#include "report/table_forms.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

ordered_json maybe(const std::optional<double>& x) { return x ? ordered_json(*x) : ordered_json(nullptr); }

ordered_json maybe_whole(const std::optional<double>& x) {
    return x ? ordered_json(static_cast<std::int64_t>(*x)) : ordered_json(nullptr);
}

/// One cell as data: the same names in CSV and JSON. A cell never measured has its place and nothing else.
ordered_json cell_data(const ComparisonData& data, const ComparisonRow& row, const std::string& scheme,
                       const PlacedCell& p) {
    const ComparisonCell& c = *p.cell;
    ordered_json j{{"dataset", row.dataset}, {"gpus", row.gpus}, {"partitioner", row.partitioner}};
    for (std::size_t k = 0; k < data.other_keys.size(); ++k) j[data.other_keys[k]] = row.others[k];
    j["scheme"] = scheme;
    j["status"] = c.status;
    j["reason"] = c.reason;
    const bool timed = p.has_time();
    const auto of_estimate = [&](double Estimate::*field) {
        return timed ? ordered_json((*c.epoch_s).*field) : ordered_json(nullptr);
    };
    j["trials"] = timed ? c.epoch_s->trials : 0;
    j["epoch_s"] = of_estimate(&Estimate::median);
    j["epoch_low_s"] = of_estimate(&Estimate::low);
    j["epoch_high_s"] = of_estimate(&Estimate::high);
    j["interval"] = timed ? spread_method_names[static_cast<std::size_t>(c.epoch_s->method)] : "";
    j["speed_up"] = maybe(p.speed_up);
    j["fastest"] = p.fastest;
    j["sent_bytes_per_epoch"] = maybe_whole(c.sent_bytes_per_epoch);
    j["exposed_comm_s"] = maybe(c.exposed_comm_s);
    j["final_loss"] = maybe(c.final_loss);
    j["test_accuracy"] = maybe(c.test_accuracy);
    j["peak_memory_bytes"] = maybe_whole(c.peak_memory_bytes);
    j["verification"] = c.verification.status;
    j["verification_reason"] = c.verification.reason;
    j["verified_on_vertices"] = c.verification.sampled_vertices;
    j["oversubscribed"] = c.oversubscribed;
    j["synthetic"] = c.synthetic;
    j["aggregated_input"] = c.aggregated_input;
    j["approximation"] = c.approximation;
    j["volume_differs"] = c.volume_differs;
    j["other_trials"] = c.other_trials;
    return j;
}

ordered_json all_cells(const ComparisonData& data, const ComparisonLayout& t) {
    ordered_json cells = ordered_json::array();
    for (const ComparisonRow& row : t.rows)
        for (std::size_t s = 0; s < row.cells.size(); ++s)
            if (row.cells[s].cell) cells.push_back(cell_data(data, row, t.schemes[s], row.cells[s]));
    return cells;
}

std::string csv_value(const ordered_json& v) {
    if (v.is_null()) return "";
    return v.is_string() ? v.get<std::string>() : v.dump();
}

}  // namespace

std::string comparison_csv(const ComparisonData& data, const ComparisonLayout& t) {
    std::string out;
    for (const ordered_json& cell : all_cells(data, t)) {
        std::vector<std::string> heads, line;
        for (const auto& [name, value] : cell.items()) heads.push_back(name), line.push_back(csv_value(value));
        if (out.empty()) out = csv_line(heads);
        out += csv_line(line);
    }
    return out;
}

std::string comparison_json(const ComparisonData& data, const ComparisonLayout& t) {
    const ordered_json j{{"experiment", data.experiment},
                         {"machine", data.machine},
                         {"other_machines", data.other_machines},
                         {"kernels", data.kernels},
                         {"threads_per_rank", {data.fewest_threads, data.most_threads}},
                         {"epochs", data.epochs},
                         {"warmup", data.warmup},
                         {"speed_up", t.has_speed_up ? baseline_words(t) : ""},
                         {"cells", all_cells(data, t)}};
    return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gnnbench
