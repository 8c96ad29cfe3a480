#include <gnnbench/strategy.hpp>

#include <gnnbench/trained_features.hpp>

namespace gnnbench {

Trainer::~Trainer() = default;
Strategy::~Strategy() = default;

std::string Strategy::approximation(const Params&) const { return {}; }
bool Strategy::aggregates_input_by_default(const Params&) const { return false; }
std::string Strategy::why_unsupported(const Setting&) const { return {}; }
PartitionNeed Strategy::partition_need(const Setting& s) const { return {.parts = s.ranks}; }

bool trains_features(const Params& params) {
    return params.values().contains(trainable_features) && params.boolean(trainable_features);
}

bool aggregates_input(const Strategy& strategy, const Setting& s) {
    switch (s.model.aggregate_input) {
        case AggregateInput::on:
            return true;
        case AggregateInput::off:
            return false;
        // Dropout redraws layer 0's input every epoch, so its aggregate cannot be kept.
        // Nor can that of trained features.
        case AggregateInput::scheme_default:
            return s.train.input_dropout == 0 && !trains_features(s.params) &&
                   strategy.aggregates_input_by_default(s.params);
    }
    return false;
}

}  // namespace gnnbench
