#include "report/comparison_record.hpp"

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

ordered_json maybe(const std::optional<double>& x) { return x ? ordered_json(*x) : ordered_json(nullptr); }

ordered_json maybe_whole(const std::optional<double>& x) {
    return x ? ordered_json(static_cast<std::int64_t>(*x)) : ordered_json(nullptr);
}

}  // namespace

nlohmann::ordered_json comparison_record(const ComparisonData& data, const ComparisonRow& row,
                                         const std::string& scheme, const PlacedCell& p) {
    const ComparisonCell& c = *p.cell;
    ordered_json j{{"dataset", row.dataset}, {"gpus", row.gpus}, {"partitioner", row.partitioner}};
    for (std::size_t k = 0; k < data.other_keys.size(); ++k) j[data.other_keys[k]] = row.others[k];
    j["scheme"] = scheme;
    j["status"] = status_text(c);
    j["reason"] = c.reason;
    const bool timed = p.has_time();
    const auto end_of_interval = [&](double Estimate::* field) {
        return timed && c.epoch_s->has_interval() ? ordered_json((*c.epoch_s).*field) : ordered_json(nullptr);
    };
    j["trials"] = timed ? c.epoch_s->trials : 0;
    j["epoch_s"] = timed ? ordered_json(c.epoch_s->median) : ordered_json(nullptr);
    j["epoch_low_s"] = end_of_interval(&Estimate::low);
    j["epoch_high_s"] = end_of_interval(&Estimate::high);
    j["interval"] = timed ? spread_method_names[usize(c.epoch_s->method)] : "";
    j["speed_up"] = maybe(p.speed_up);
    j["speed_up_over"] = p.speed_up ? c.speed_up->base : "";
    j["fastest"] = p.fastest;
    j["sent_bytes_per_epoch"] = maybe_whole(c.sent_bytes_per_epoch);
    j["exposed_comm_s"] = maybe(c.exposed_comm_s);
    j["final_loss"] = maybe(c.final_loss);
    j["test_accuracy"] = maybe(c.test_score);
    j["score_metric"] = c.score_metric;
    j["peak_memory_bytes"] = maybe_whole(c.peak_memory_bytes);
    j["energy_j_per_epoch"] = maybe(c.energy_j_per_epoch);
    j["verification"] = to_text(c.verification.status);
    j["verification_reason"] = c.verification.reason;
    j["verified_on_vertices"] = c.verification.sampled_vertices;
    j["oversubscribed"] = c.oversubscribed;
    j["synthetic"] = c.synthetic;
    j["aggregated_input"] = c.aggregated_input;
    j["sparse_features"] = c.sparse_features;
    j["approximation"] = c.approximation;
    j["volume_differs"] = c.volume_differs;
    j["program"] = c.program;
    j["simulated"] = c.simulated;
    j["of_other_builds"] = c.of_other_builds;
    j["other_trials"] = c.other_trials;
    j["efficiency"] = maybe(p.efficiency);
    return j;
}

}  // namespace gnnbench
