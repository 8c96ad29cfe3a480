#include <gnnbench/strategy.hpp>

namespace gnnbench {

Trainer::~Trainer() = default;
Strategy::~Strategy() = default;

std::string Strategy::approximation(const Params&) const { return {}; }
bool Strategy::aggregates_input_by_default(const Params&) const { return false; }
std::string Strategy::why_unsupported(const Setting&) const { return {}; }
PartitionNeed Strategy::partition_need(const Setting& s) const { return {.parts = s.ranks}; }

bool aggregates_input(const Strategy& strategy, const Setting& s) {
    switch (s.model.aggregate_input) {
        case AggregateInput::on: return true;
        case AggregateInput::off: return false;
        // Dropout redraws layer 0's input every epoch, so its aggregate cannot be kept.
        case AggregateInput::scheme_default:
            return s.train.input_dropout == 0 && strategy.aggregates_input_by_default(s.params);
    }
    return false;
}

}  // namespace gnnbench
