#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <gnnbench/process_group.hpp>
#include <gnnbench/simulation/column_reads.hpp>
#include <gnnbench/simulation/machine.hpp>
#include <gnnbench/simulation/recency.hpp>
#include <gnnbench/trace.hpp>
#include <gnnbench/transport.hpp>

/// Ranks of a machine that one does not have: contexts of one process, which take turns in virtual time.
namespace gnnbench::simulation {

class Engine;

/// A kernel on a stream.
struct Work {
    double alone_s = 0;       ///< with the device to itself
    double memory_share = 0;  ///< of the memory's bandwidth, while it runs alone
};

/// Whether device memory has contents, which then lie in this process.
enum class Contents : std::uint8_t { none, values };

/// One rank's host and device, which its back end drives. The host's clock advances by what it is told to take and by
/// waiting; its own computations take no virtual time. Streams run in order, and beside each other, as on a device.
class SimulatedRank {
public:
    SimulatedRank(Engine& engine, int rank);
    SimulatedRank(const SimulatedRank&) = delete;
    SimulatedRank& operator=(const SimulatedRank&) = delete;
    ~SimulatedRank();

    int rank() const;
    const Machine& machine() const;

    double host_s() const;            ///< since the simulation began
    void host_works(double seconds);  ///< the host's clock advances
    /// Its host's thread drives so many devices in turn, which all do alike: each launch takes that much longer.
    void share_host(int devices);
    void launch();       ///< the host launches a kernel
    void begin_epoch();  ///< what the machine's program does once an epoch for each peer

    /// What its host does and its streams are given from now on takes so many times as long; messages do not.
    void pace(double factor);
    /// `action`: what the kernel does to the contents of memory, when it is over; nothing where memory has none.
    void enqueue(StreamRole stream, const Work& work, std::function<void()> action = {});
    /// The stream calls `action` when all that it was given before is over. Takes no time.
    void act(StreamRole stream, std::function<void()> action);
    /// Kept until all streams have done what they have been given so far.
    void keep(const std::shared_ptr<void>& held);
    Event record(StreamRole stream);
    void wait(StreamRole stream, const Event& event);
    /// The host waits for all that the stream has been given.
    void synchronize(StreamRole stream);
    /// The host waits until virtual time has come to its clock, so that memory has the contents of then.
    void catch_up();
    /// Whether an epoch has begun.
    bool trains() const;

    /// What of its device memory lies in the cache; its transport touches what it moves.
    Recency& recency();
    /// As Simulation::columns_of_graph; nullptr where it was not called.
    const ColumnReads* columns_of_graph() const;
    /// Marks in the streams, for the trace.
    DeviceClock& clock();
    /// Messages of device memory, of which only sizes travel unless it has contents.
    std::unique_ptr<Transport> connect(const ProcessGroup& group, Contents contents = Contents::none);

    struct State;
    State& state() { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// The rank that this member of a simulation's group is; throws LogicError for another group's.
SimulatedRank& rank_of(const ProcessGroup& member);

/// What a simulation did, besides what its ranks recorded.
struct SimulationCounts {
    std::int64_t switches = 0;    ///< from one rank to another
    std::int64_t happenings = 0;  ///< steps of virtual time
};

/// Runs ranks on a machine. Deterministic: ranks take turns in an order that follows from virtual time and from their
/// numbers alone.
class Simulation {
public:
    /// Throws Unsupported where the machine has fewer devices than ranks.
    Simulation(Machine machine, NetworkModel network, int ranks);
    ~Simulation();

    /// Calls `body` once for each rank, with the group of all of them, until all have returned. What one throws ends
    /// the others, and is thrown here. Throws LogicError where no rank can go on, and says who waits for whom.
    void run(const std::function<void(const ProcessGroup& world)>& body);

    /// The columns of the graph whose blocks ranks multiply by. Machines with rates by size charge products by them.
    void columns_of_graph(ColumnReads reads);

    double now_s() const;
    SimulationCounts counts() const;

private:
    std::unique_ptr<Engine> engine_;
};

}  // namespace gnnbench::simulation
