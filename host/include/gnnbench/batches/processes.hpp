#pragma once
#include <cstdint>
#include <memory>

#include <gnnbench/batches/shared_words.hpp>
#include <gnnbench/strategy.hpp>

/// Shared words and meetings among the processes of a trial. The words are in a window of the first rank's
/// memory, which the others reach without its help: no rank serves them. Every access is counted as one-sided
/// metadata of the rank that makes it, each exchange as point-to-point metadata, and both are timed into the rank's
/// trace: `comm`, and `wait` for back-off and for a partner who is not there yet. Waiting sleeps between polls; it
/// keeps no core busy.

namespace gnnbench::workers {

/// How a word is reached: by instructions on its memory where all ranks share a host, by MPI's one-sided operations
/// between hosts. by_mpi asks for the latter on one host, too, so that tests see them; there a library may leave them
/// undone until the first rank calls MPI (MPICH 4.0).
enum class WordAccess : std::uint8_t { by_placement, by_mpi };

/// Collective over rank.processes, as is the words' destruction. All of `rank` outlives them. Throws CommunicationError
/// where MPI fails.
std::unique_ptr<SharedWords> make_shared_words(Rank rank, int words, WordAccess access = WordAccess::by_placement);

/// Collective, as its destruction.
std::unique_ptr<PairwiseExchange> make_pairwise_exchange(Rank rank);

}  // namespace gnnbench::workers
