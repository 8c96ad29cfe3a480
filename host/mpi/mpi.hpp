#pragma once
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/process_group.hpp>

/// All that the worker and tests call of MPI. What includes mpi.h is in this folder, and is compiled for each MPI whose
/// processes gnnbench starts (docs/decisions/two-workers.md).

namespace gnnbench {

/// Starts MPI, for calls of one thread. Throws CommunicationError where that fails.
void mpi_start();
/// Collective.
void mpi_finish();
/// Ends every rank: the others may wait for this one.
[[noreturn]] void mpi_abort(int exit_code);

/// The library's name and version, as it reports them: "Open MPI v4.1.4". May be called before mpi_start().
std::string mpi_library();

/// All processes of this launch.
ProcessGroup mpi_world();
/// This process alone.
ProcessGroup mpi_self();

/// Words between ranks whose arrival shows that they reach each other: sent when it is made, from every rank to some others,
/// at once, so that no rank waits for one that waits for a third.
class Greetings {
public:
    /// Throws CommunicationError, "cannot reach rank 3: …".
    static std::unique_ptr<Greetings> among(const ProcessGroup& world);
    virtual ~Greetings() = default;
    virtual bool all_heard() = 0;
    /// Ranks from which nothing has come.
    virtual std::vector<int> missing() = 0;
};

}  // namespace gnnbench
