#pragma once
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/simulation/simulation.hpp>

#include "simulation/context.hpp"
#include "simulation/sharing.hpp"
#include "simulation/stream.hpp"
#include "simulation/timeline.hpp"

namespace gnnbench::simulation {

/// Virtual time, the machine's shared resources, and the turns of the ranks. A rank runs until it waits for something
/// that is not known yet. Its host's clock may be ahead of virtual time meanwhile, never behind.
class Engine final : public Happening {
public:
    Engine(Machine machine, NetworkModel network, int ranks);
    ~Engine() override;

    void run(const std::function<void(const ProcessGroup& world)>& body);

    const Machine& machine() const { return machine_; }
    NetworkModel network() const { return network_; }
    void columns_of_graph(ColumnReads reads) { columns_of_graph_ = std::move(reads); }
    const ColumnReads* columns_of_graph() const { return columns_of_graph_ ? &*columns_of_graph_ : nullptr; }
    Timeline& timeline() { return timeline_; }
    Sharing& sharing() { return sharing_; }
    std::size_t memory_of(int rank) const { return static_cast<std::size_t>(rank); }
    std::size_t network_of(int node) const { return ranks_.size() + static_cast<std::size_t>(node); }
    int ranks() const { return static_cast<int>(ranks_.size()); }
    SimulatedRank& rank(int r) { return *ranks_[static_cast<std::size_t>(r)]; }
    std::int64_t switches() const { return switches_; }

    /// Suspends the rank whose turn it is until wake() is called for it. `why` says for what it waits, should it wait
    /// for ever.
    void block(int rank, std::function<std::string()> why);
    /// The rank goes on at this time, or when its own clock says, which may be later.
    void wake(int rank, double time_s);
    /// Suspends the rank whose turn it is until all has happened that happens up to this time.
    void pass(int rank, double time_s);
    /// Lives until it is let go, as its time on the timeline may come after all others have forgotten it.
    void hold(std::shared_ptr<Happening> awaited) { held_[awaited.get()] = std::move(awaited); }
    void let_go(const Happening* awaited) { held_.erase(awaited); }

private:
    void happens(std::uint64_t rank) override { ready_.push_back(static_cast<int>(rank)); }
    void take_turns();
    bool step();
    void unwind();
    std::string who_waits() const;

    Machine machine_;
    NetworkModel network_;
    std::optional<ColumnReads> columns_of_graph_;
    Timeline timeline_;
    std::vector<std::unique_ptr<SimulatedRank>> ranks_;  // before `sharing_`, which counts them
    Sharing sharing_;
    std::vector<std::unique_ptr<Context>> contexts_;
    std::vector<std::function<std::string()>> waits_for_;  ///< by rank; empty: it does not
    std::deque<int> ready_;
    std::map<const Happening*, std::shared_ptr<Happening>> held_;
    std::exception_ptr error_;
    bool stopping_ = false;
    std::int64_t switches_ = 0;
};

/// A rank's host and streams.
struct SimulatedRank::State {
    State(Engine& engine_of_all, int number);
    Stream& stream(StreamRole role) { return streams[engine.machine().device.streams == 1 ? 0 : usize(role)]; }
    /// Waits until the host's clock may pass the moment.
    void wait_for(const std::shared_ptr<Moment>& moment);
    /// After an item was given to a stream: a host that is far ahead of its device waits for it, as a driver makes it.
    void throttle(StreamRole role);

    Engine& engine;
    int rank;
    double host_s = 0;
    int devices_of_host = 1;
    double pace = 1;
    bool trains = false;
    Recency recency;
    std::array<Stream, stream_count> streams;  ///< by role
    struct Ahead {
        int given = 0;  ///< items since the last fence
        std::shared_ptr<Moment> fence;
    };
    std::array<Ahead, stream_count> ahead;  ///< by role
    std::unique_ptr<DeviceClock> clock;
};

/// Thrown out of waits that will never end, so that a rank's objects are destroyed. Nothing catches it by mistake.
struct Abandoned {};

}  // namespace gnnbench::simulation
