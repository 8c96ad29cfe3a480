#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/all_of.hpp"
#include "simulation/engine.hpp"

namespace gnnbench::simulation {
namespace {

/// Items that a host gives a stream before it waits for those of the round before: a driver's queue is about twice
/// that.
constexpr int queue = 512;

/// Marks in both streams of a rank.
class StreamMarks final : public DeviceClock {
public:
    explicit StreamMarks(SimulatedRank& rank) : rank_(rank) {}

    void begin() override {
        marks_.clear();
        start_s_ = rank_.host_s();
        rank_.begin_epoch();
    }
    void next() override { rank_.begin_epoch(); }
    std::size_t mark_begin(const Span& span) override { return mark(span.stream); }
    std::size_t mark_end(const Span& span, std::size_t) override { return mark(span.stream); }
    void wait() override {
        rank_.synchronize(StreamRole::compute);
        rank_.synchronize(StreamRole::communication);
        rank_.synchronize(StreamRole::background);
    }
    std::vector<double> resolve() override {
        std::vector<double> seconds;
        for (const double m : marks_) seconds.push_back(m - start_s_);
        return seconds;
    }
    std::optional<double> host_s() const override { return rank_.host_s() - start_s_; }

private:
    std::size_t mark(StreamRole role) {
        marks_.push_back(0);
        rank_.state().stream(role).mark(rank_.host_s(), marks_.back());
        return marks_.size() - 1;
    }

    SimulatedRank& rank_;
    std::deque<double> marks_;  ///< whose elements stay where they are
    double start_s_ = 0;
};

}  // namespace

SimulatedRank::State::State(Engine& engine_of_all, int number)
    : engine(engine_of_all),
      rank(number),
      streams{Stream(engine.timeline(), engine.sharing(), engine.memory_of(number)),
              Stream(engine.timeline(), engine.sharing(), engine.memory_of(number)),
              Stream(engine.timeline(), engine.sharing(), engine.memory_of(number))} {}

void SimulatedRank::State::wait_for(const std::shared_ptr<Moment>& moment) {
    if (!moment->known()) {
        moment->wake(engine, static_cast<std::uint64_t>(rank));
        engine.block(rank, [this] {
            return fmt::format("waits for its device (compute: {}; communication: {}; background: {})",
                               streams[0].what(), streams[1].what(), streams[2].what());
        });
    }
    host_s = std::max(host_s, moment->time_s());
}

void SimulatedRank::State::throttle(StreamRole role) {
    Ahead& a = ahead[usize(role)];
    if (++a.given < queue) return;
    a.given = 0;
    const std::shared_ptr<Moment> before = std::exchange(a.fence, std::make_shared<Moment>());
    stream(role).record(host_s, a.fence);
    if (before) wait_for(before);
}

SimulatedRank::SimulatedRank(Engine& engine, int rank) : state_(std::make_unique<State>(engine, rank)) {
    state_->clock = std::make_unique<StreamMarks>(*this);
}
SimulatedRank::~SimulatedRank() = default;

int SimulatedRank::rank() const { return state_->rank; }
const Machine& SimulatedRank::machine() const { return state_->engine.machine(); }
double SimulatedRank::host_s() const { return state_->host_s; }
void SimulatedRank::host_works(double seconds) { state_->host_s += state_->pace * seconds; }
void SimulatedRank::share_host(int devices) { state_->devices_of_host = devices; }
bool SimulatedRank::trains() const { return state_->trains; }
void SimulatedRank::begin_epoch() {
    state_->trains = true;
    const Program& program = machine().program;
    const int peers = state_->engine.ranks() - 1;
    for (int i = 0; i < peers * program.peer_operators; ++i) launch();
    host_works(2.0 * peers * program.peer_messages * program.message_s);
}
void SimulatedRank::launch() { host_works(machine().device.launch_s * state_->devices_of_host); }
Recency& SimulatedRank::recency() { return state_->recency; }
const ColumnReads* SimulatedRank::columns_of_graph() const { return state_->engine.columns_of_graph(); }
DeviceClock& SimulatedRank::clock() { return *state_->clock; }

void SimulatedRank::pace(double factor) { state_->pace = factor; }

void SimulatedRank::enqueue(StreamRole stream, const Work& work, std::function<void()> action) {
    state_->stream(stream).work(state_->host_s, state_->pace * work.alone_s, work.memory_share, std::move(action));
    state_->throttle(stream);
}

void SimulatedRank::act(StreamRole stream, std::function<void()> action) {
    state_->stream(stream).act(state_->host_s, std::move(action));
}

void SimulatedRank::keep(const std::shared_ptr<void>& held) {
    for (Stream& stream : state_->streams) stream.act(state_->host_s, [held] {});
}

Event SimulatedRank::record(StreamRole stream) {
    const auto moment = std::make_shared<Moment>();
    state_->stream(stream).record(state_->host_s, moment);
    return Event(std::make_shared<MomentEvent>(moment));
}

void SimulatedRank::wait(StreamRole stream, const Event& event) {
    if (const auto* several = dynamic_cast<const AllOf*>(event.state())) {
        for (const Event& e : several->events()) wait(stream, e);
        return;
    }
    const auto* of_stream = dynamic_cast<const MomentEvent*>(event.state());
    require(of_stream, "a simulated stream waits for events of simulated streams alone");
    state_->stream(stream).wait(state_->host_s, of_stream->moment());
}

void SimulatedRank::synchronize(StreamRole stream) {
    const auto moment = std::make_shared<Moment>();
    state_->stream(stream).record(state_->host_s, moment);
    state_->wait_for(moment);
}

void SimulatedRank::catch_up() { state_->engine.pass(state_->rank, state_->host_s); }

}  // namespace gnnbench::simulation
