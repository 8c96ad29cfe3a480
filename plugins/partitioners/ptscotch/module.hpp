#pragma once
#include <cstdint>

#include <scotch.h>

namespace gnnbench {

class ProcessGroup;

/// What Scotch is asked: the rows of one rank, with vertices numbered over all ranks, in Scotch's arrays.
struct ScotchTask {
    SCOTCH_Num rows;          ///< of this rank
    SCOTCH_Num* offsets;      ///< rows + 1
    SCOTCH_Num* neighbours;   ///< offsets[rows]
    SCOTCH_Num* weights;      ///< of the rows; null: all alike
    SCOTCH_Num parts, flags;  ///< SCOTCH_STRAT…
    double imbalance;         ///< how much heavier than the mean a part may be
    std::uint64_t seed;
    const ProcessGroup* group;  ///< of MPI processes; null: this process has all rows
    SCOTCH_Num* part_of;        ///< rows + 1, the last unused: the answer
};

/// Fills `part_of`. Collective. Returns null, or the function of Scotch that failed. It is in a library of its own, which alone
/// loads PT-Scotch and with it MPI.
using ScotchPartition = const char* (*)(const ScotchTask& task);

}  // namespace gnnbench

extern "C" const char* gnnbench_scotch_partition(const gnnbench::ScotchTask& task);
