#include <gnnbench/trace.hpp>

#include <algorithm>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

using Interval = std::pair<double, double>;

/// The union of intervals as disjoint ones in order.
std::vector<Interval> merged(std::vector<Interval> all) {
    std::sort(all.begin(), all.end());
    std::vector<Interval> out;
    for (const Interval& i : all) {
        if (!out.empty() && i.first <= out.back().second)
            out.back().second = std::max(out.back().second, i.second);
        else
            out.push_back(i);
    }
    return out;
}

double length(const std::vector<Interval>& disjoint) {
    double sum = 0;
    for (const Interval& i : disjoint) sum += i.second - i.first;
    return sum;
}

double overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    double sum = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        sum += std::max(0.0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
        if (a[i].second < b[j].second)
            ++i;
        else
            ++j;
    }
    return sum;
}

}  // namespace

DeviceClock::~DeviceClock() = default;

void Trace::begin_epoch() {
    require(!recording_, "an epoch began before the last one ended");
    spans_.clear();
    marks_.clear();
    ends_s_.clear();
    open_ = 0;
    recording_ = true;
    start_ = Clock::now();
    if (device_) device_->begin();
}

void Trace::next_epoch() {
    require(recording_, "an epoch follows none");
    ends_s_.push_back(now_s());
    if (device_) device_->next();
}

void Trace::end_epoch() {
    if (device_) device_->wait();
    ends_s_.push_back(now_s());
    recording_ = false;
    const std::vector<double> seconds = device_ ? device_->resolve() : std::vector<double>();
    for (const Marks& m : marks_) {
        spans_[m.span].begin_s = seconds.at(m.begin);
        spans_[m.span].end_s = seconds.at(m.end);
    }
    require(open_ == 0, "an epoch ended with an operation in flight: its event was never waited for");
}

double Trace::now_s() const {
    if (device_)
        if (const std::optional<double> other = device_->host_s()) return *other;
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

Trace::SpanId Trace::open(const Span& span) {
    if (!recording_) return ~SpanId{0};
    spans_.push_back(span);
    ++open_;
    const SpanId id = spans_.size() - 1;
    if (device_) {
        const std::size_t begin = device_->mark_begin(span);
        marks_.push_back({id, begin, begin});
    } else {
        spans_.back().begin_s = now_s();
    }
    return id;
}

void Trace::close(SpanId id) {
    if (!recording_ || id >= spans_.size()) return;
    --open_;
    if (!device_) {
        spans_[id].end_s = now_s();
        return;
    }
    // Most spans close before the next opens, so the search usually ends at once.
    const auto m = std::find_if(marks_.rbegin(), marks_.rend(), [&](const Marks& x) { return x.span == id; });
    require(m != marks_.rend(), "a span closed that the device's clock never opened");
    m->end = device_->mark_end(spans_[id], m->begin);
}

void Trace::add(const Span& span) {
    if (recording_) spans_.push_back(span);
}

std::vector<Span> Trace::spans_of(std::size_t epoch) const {
    const bool first = epoch == 0, last = epoch + 1 == ends_s_.size();
    if (first && last) return spans_;
    const double begin = first ? 0 : ends_s_[epoch - 1], end = ends_s_[epoch];
    std::vector<Span> inside;
    for (Span s : spans_) {
        if (!first && s.end_s <= begin) continue;
        if (!last && s.begin_s >= end) continue;
        if (!first) s.begin_s = std::max(s.begin_s, begin);
        if (!last) s.end_s = std::min(s.end_s, end);
        s.begin_s -= begin;
        s.end_s -= begin;
        inside.push_back(s);
    }
    return inside;
}

EpochTimes Trace::times(std::size_t epoch) const {
    require(epoch < ends_s_.size(), "times of an epoch that has not ended");
    std::vector<Interval> comm, compute;
    EpochTimes t;
    t.wall_s = ends_s_[epoch] - (epoch > 0 ? ends_s_[epoch - 1] : 0);
    for (const Span& s : spans_of(epoch)) {
        if (s.phase == Phase::comm) {
            comm.emplace_back(s.begin_s, s.end_s);
        } else {
            compute.emplace_back(s.begin_s, s.end_s);
            t.phase_s[usize(s.phase)] += s.end_s - s.begin_s;
        }
    }
    comm = merged(std::move(comm));
    compute = merged(std::move(compute));
    t.total_comm_s = length(comm);
    t.exposed_comm_s = t.total_comm_s - overlap(comm, compute);
    t.phase_s[usize(Phase::comm)] = t.exposed_comm_s;
    t.phase_s[usize(Phase::other)] = std::max(0.0, t.wall_s - length(compute) - t.exposed_comm_s);
    return t;
}

}  // namespace gnnbench
