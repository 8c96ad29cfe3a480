#include <gnnbench/strategy.hpp>

#include <gnnbench/training/trained_features.hpp>

namespace gnnbench {

Trainer::~Trainer() = default;
Strategy::~Strategy() = default;

std::string Strategy::approximation(const Params&) const { return {}; }
std::string Strategy::why_unsupported(const Setting&) const { return {}; }
PartitionNeed Strategy::partition_need(const Setting& s) const { return {.parts = s.ranks}; }

bool trains_features(const Params& params) {
    return params.values().contains(trainable_features) && params.boolean(trainable_features);
}

std::string why_input_not_aggregated(const Setting& s) {
    if (!s.model.aggregate_input) return {};
    if (s.train.input_dropout > 0)
        return "aggregate_input needs layer 0's input to stay the same, and input_dropout redraws it every epoch";
    if (trains_features(s.params))
        return "aggregate_input needs layer 0's input to stay the same, and trainable_features changes it every "
               "epoch";
    return {};
}

}  // namespace gnnbench
