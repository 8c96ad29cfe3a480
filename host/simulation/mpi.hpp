#pragma once
#include "simulation/network.hpp"

namespace gnnbench::simulation {

/// The fastest way of those that MPI libraries choose among, of a group of two ranks or more: a pipelined ring of all ranks,
/// whose latency grows with their number and whose bytes pass each hop once; or trees, whose latency grows with the logarithm,
/// among one rank of each node, and within nodes. A broadcast or reduction is a binomial tree, or a scatter and an all-gather;
/// all-gathers and reduce-scatters double and halve; an all-reduce does both, or exchanges all at each level. (Thakur,
/// Rabenseifner and Gropp: Optimization of Collective Communication Operations in MPICH, 2005.) Left out: the time of sums, and
/// what ranks beyond a power of two add to a level. `ring`: what the ring costs. Sets latency and transfer alone.
CollectiveCost mpi_choice(Collective collective, double total_bytes, const Placement& group, const Links& links,
                          const CollectiveCost& ring);

}  // namespace gnnbench::simulation
