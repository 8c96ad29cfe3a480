#include "run/pending_verifications.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gnnbench {

bool needs_no_verification(const PendingVerifications::Combination& combination, const Database& database) {
    const PreparedCell& cell = *combination.cell;
    return combination.measured ? database.verification(cell.record.verification_key).has_value()
                                : known_verified(cell, database);
}

PendingVerifications PendingVerifications::of(const SweepContext& context) {
    PendingVerifications pending;
    if (!context.rules.verify) return pending;
    for (const PlannedCell& planned : context.plan.cells) {
        const PreparedCell& cell = context.prepared.cells[planned.cell];
        // What computes nothing cannot agree with the reference.
        const bool computes = !cell.simulated || simulates_values(cell.cell);
        if (!computes || planned.verdict == Verdict::skipped) continue;
        const bool measured = planned.trials == 0;
        if (!needs_no_verification({&cell, measured}, context.database)) pending.add(cell, measured);
    }
    return pending;
}

void PendingVerifications::add(const PreparedCell& cell, bool measured) {
    const std::string& key = cell.record.verification_key;
    if (!states_.emplace(key, State::due).second) return;
    combinations_[key] = {&cell, measured};
    order_.push_back(key);
}

bool PendingVerifications::take(const std::string& key) {
    const auto state = states_.find(key);
    if (state == states_.end() || state->second != State::due) return false;
    state->second = State::running;
    ++taken_;
    return true;
}

std::string PendingVerifications::left() const {
    const auto due =
        std::ranges::find_if(order_, [&](const std::string& k) { return states_.at(k) == State::due; });
    return due == order_.end() ? "" : *due;
}

std::string PendingVerifications::position() const { return fmt::format("[verify {}/{}]", taken_, order_.size()); }

}  // namespace gnnbench
