#pragma once
#include <memory>
#include <span>

#include <gnnbench/remote_words.hpp>

#include "mpi/check.hpp"

namespace gnnbench {

/// Words in a window of the first rank's memory; `one_host`: all ranks are on one, `in_place` as for
/// ProcessGroup::remote_words. Collective.
std::unique_ptr<RemoteWords> words_in_window(MPI_Comm comm, int count, bool one_host, bool in_place);

}  // namespace gnnbench
