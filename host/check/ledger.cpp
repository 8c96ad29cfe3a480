#include "check/ledger.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gnnbench {
namespace {

constexpr int kept_per_check = 4;

}  // namespace

std::string Ledger::place() const {
    return epoch_ < 0 ? fmt::format("rank {}, set-up", rank_) : fmt::format("rank {}, epoch {}", rank_, epoch_);
}

CheckCount& Ledger::count(std::string_view check) {
    const auto found = counts_.find(check);
    return found != counts_.end() ? found->second : counts_[std::string(check)];
}

void Ledger::add_fault(std::string_view check, std::string text) {
    ++fault_count_;
    const auto found = kept_.find(check);
    int& kept = found != kept_.end() ? found->second : kept_[std::string(check)];
    if (kept == kept_per_check) return;
    ++kept;
    faults_.push_back({std::string(check), fmt::format("{}: {}", place(), text)});
}

Judgement::~Judgement() {
    if (!ledger_) return;
    CheckCount& c = ledger_->count(check_);
    ++c.calls;
    c.elements += elements_;
    if (worst_ratio_ > c.worst_ratio) {
        c.worst_ratio = worst_ratio_;
        c.worst = fmt::format("{}, {}, element ({}, {})", ledger_->place(), subject_, worst_row_, worst_col_);
    }
    if (wrong_ > 0)
        ledger_->add_fault(check_, fmt::format("{} {}: {} of {} elements are wrong, the first {}", check_,
                                               subject_, wrong_, elements_, first_wrong_));
}

void Judgement::take(const Judgement& part) {
    elements_ += part.elements_;
    if (wrong_ == 0) first_wrong_ = part.first_wrong_;
    wrong_ += part.wrong_;
    if (part.worst_ratio_ <= worst_ratio_) return;
    worst_ratio_ = part.worst_ratio_;
    worst_row_ = part.worst_row_;
    worst_col_ = part.worst_col_;
}

void Judgement::keep(std::int64_t row, std::int64_t col, double ratio, double value, double expected,
                     double bound) {
    if (ratio > worst_ratio_) {
        worst_ratio_ = ratio;
        worst_row_ = row;
        worst_col_ = col;
    }
    if (ratio <= 1) return;
    if (wrong_++ == 0)
        first_wrong_ = fmt::format("({}, {}): {:.9g} found, {:.9g} expected, {:.3g} allowed", row, col, value,
                                   expected, bound);
}

void Judgement::near(std::int64_t row, std::int64_t col, double value, double expected, double bound) {
    judge(row, col, value, expected, bound, std::abs(value - expected));
}

void Judgement::within(std::int64_t row, std::int64_t col, double value, double low, double high) {
    // The middle and the half round, the ends do not: what lies between them is no further off than the half.
    const double middle = low + (high - low) / 2, half = (high - low) / 2, off = std::abs(value - middle);
    judge(row, col, value, middle, half, low <= value && value <= high ? std::min(off, half) : off);
}

void Judgement::judge(std::int64_t row, std::int64_t col, double value, double expected, double bound,
                      double off) {
    ++elements_;
    double ratio = 0;
    if (!std::isfinite(expected) || !std::isfinite(bound))
        ratio = std::isfinite(value) ? INFINITY : 0;
    else if (!(off <= bound))
        ratio = std::isfinite(off) && bound > 0 ? off / bound : INFINITY;
    else if (bound > 0)
        ratio = off / bound;
    if (ratio > worst_ratio_ || ratio > 1) keep(row, col, ratio, value, expected, bound);
}

void Judgement::same(std::int64_t row, std::int64_t col, double value, double expected) {
    compare_bits(row, col, value == expected || (std::isnan(value) && std::isnan(expected)), value, expected);
}

void Judgement::compare_bits(std::int64_t row, std::int64_t col, bool equal, double value, double expected) {
    ++elements_;
    if (equal) {
        worst_ratio_ = std::max(worst_ratio_, 0.0);
        return;
    }
    keep(row, col, INFINITY, value, expected, 0);
}

}  // namespace gnnbench
