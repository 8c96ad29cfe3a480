#include "partition/stated.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/transpose.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

TrainSpec plain_training(const ModelSpec& model) {
    TrainSpec train;
    train.weight_decay.assign(usize(model.layers()), 0);
    return train;
}

}  // namespace

std::string why_not_stated(const Strategy& scheme, const Params& params, const ModelSpec& model, Part parts,
                           bool vertex_cut) {
    const TrainSpec train = plain_training(model);
    const Setting setting{parts, model, train, params};
    if (std::string why = scheme.why_unsupported(setting); !why.empty()) return why;
    const PartitionNeed need = scheme.partition_need(setting);
    if (need.column_parts > 0) return "it divides columns apart from rows";
    if (need.vertex_cut != vertex_cut)
        return need.vertex_cut ? "it needs a vertex cut" : "it needs each vertex in one part";
    if (need.parts != parts)
        return fmt::format("on {} ranks it needs {} parts, not one a rank", parts, need.parts);
    return {};
}

StatedCost stated_cost(const Strategy& scheme, const Params& params, const ModelSpec& model,
                       const DatasetView& data, const Partition& partition) {
    StatedCost cost;
    cost.skipped = why_not_stated(scheme, params, model, partition.parts, !partition.part_of_entry.empty());
    if (!cost.skipped.empty()) return cost;
    const TrainSpec train = plain_training(model);
    const IndexMap index(partition);
    const WithTranspose graph(data.graph);
    DatasetView both = data;
    both.graph = graph.view();
    const Problem problem{both, index, model, train, params, nullptr, partition.parts};
    std::int64_t messages = 0;
    for (int rank = 0; rank < partition.parts; ++rank) {
        const StatedVolume stated = scheme.stated_volume(problem, rank, sizeof(float), 0);
        const Traffic payload = payload_total(stated.volume);
        cost.at_most |= stated.means == StatedVolume::Means::at_most;
        cost.total_bytes += payload.sent_bytes;
        messages += payload.messages;
        cost.sent_bytes.maximum = std::max(cost.sent_bytes.maximum, payload.sent_bytes);
        cost.messages.maximum = std::max(cost.messages.maximum, payload.messages);
    }
    cost.sent_bytes.mean = static_cast<double>(cost.total_bytes) / partition.parts;
    cost.messages.mean = static_cast<double>(messages) / partition.parts;
    return cost;
}

}  // namespace gnnbench
