#pragma once
#include <array>
#include <cstddef>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace emulated {

/// Control messages, among all ranks: how ranks of a new communicator find each other, and where each one is.
MPI_Comm control();

/// A collective call; those that meet must be alike.
struct Collective {
    const char* name;
    long kind, bytes, type, op, root;
};

/// The ranks of an NCCL communicator as they meet in it: NCCL's calls end on a device when all whom they concern have made
/// theirs, so each waits here. One that would wait forever ends the process: its peer is held up in a call that waits for this
/// rank, or has left.
class Meeting {
public:
    /// `members`: ranks of the world. Collective.
    Meeting(MPI_Comm comm, std::vector<int> members, int rank);
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;
    /// Tells the others that this rank leaves.
    ~Meeting();

    void collective(const Collective& call);
    /// A group of messages, by member: the bytes of each that this rank sends to it and receives from it, in their order.
    using Bytes = std::vector<std::vector<long>>;
    void messages(const Bytes& sends, const Bytes& receives);

private:
    std::vector<int> members_;
    int rank_;
    long id_ = 0;  ///< the same on all members
};

}  // namespace emulated
