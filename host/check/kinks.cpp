#include "check/kinks.hpp"

#include <algorithm>
#include <cmath>

#include <gnnbench/transport.hpp>

namespace gnnbench {
namespace {

/// σ(sum) where the side is given.
double on_side(Activation a, double sum, bool positive) {
    constexpr double least = 0x1p-1000;  // no rounding on the way makes it subnormal, which would count as 0
    if (positive) return std::max(sum, least);
    if (a == Activation::relu) return 0;
    return std::min(leaky_slope * sum, sum > 0 ? -least : 0.0);
}

}  // namespace

void KinkBackend::perform(const verb::Apply& v) {
    if (!v.in_place()) return inner().run(v);
    split(v, v.z);
}

void KinkRecorder::record(const Epilogue& e, ConstMatrixView c) {
    if (!has_kink(e)) return;
    const HostMatrix results = read_view(inner(), c);
    KinkSides& sides = history_.applications.emplace_back(KinkSides{c.rows, c.cols, {}});
    sides.positive.reserve(results.values.size());
    for (const double x : results.values) sides.positive.push_back(x > 0);
}

void KinkReplay::note_turn(const HostMatrix& sums, std::int64_t row, std::int64_t col) {
    if (history_.turns.size() == KinkHistory::max_turns) return void(++history_.left_out);
    const auto begin = sums.values.begin() + row * sums.cols;
    history_.turns.push_back({.application = next_, .row = row, .col = col, .sums = {begin, begin + sums.cols}});
}

void KinkReplay::note_reach(const HostMatrix& sums) {
    for (; next_turn_ < history_.turns.size() && history_.turns[next_turn_].application == next_; ++next_turn_) {
        KinkTurn& turn = history_.turns[next_turn_];
        double squares = 0;
        for (std::int64_t c = 0; c < sums.cols; ++c) {
            const double moved = sums(turn.row, c) - turn.sums[usize(c)];
            squares += moved * moved;
        }
        turn.reach = std::max({turn.reach, std::abs(sums(turn.row, turn.col) - turn.sum()),
                               std::sqrt(squares / static_cast<double>(sums.cols))});
    }
}

void KinkReplay::finish(const Epilogue& e, MatrixView c) {
    HostMatrix sums = read_view(inner(), c);
    const KinkSides* sides = next_ < history_.applications.size() ? &history_.applications[next_] : nullptr;
    if (sides && (sides->rows != c.rows || sides->cols != c.cols)) sides = nullptr;
    if (!sides) history_.fits = false;
    if (sides && notes_ == Notes::reach) note_reach(sums);
    const HostEpilogue host = read_epilogue(inner(), e, c.rows, c.cols);
    HostMatrix results(c.rows, c.cols);
    for (std::int64_t r = 0; r < c.rows; ++r)
        for (std::int64_t col = 0; col < c.cols; ++col) {
            const double sum = sums(r, col);
            // What dropout drops tells no side.
            const bool own = sum > 0,
                       taken = sides && !host.dropped(r, col) ? sides->positive[usize(r * c.cols + col)] : own;
            if (taken != own && notes_ == Notes::turns) note_turn(sums, r, col);
            results(r, col) = on_side(e.activation, sum, taken);
        }
    write_view(inner(), results, c);
    ++next_;
    Epilogue rest = e;
    rest.activation = Activation::identity;
    inner().apply(rest, c);
}

}  // namespace gnnbench
