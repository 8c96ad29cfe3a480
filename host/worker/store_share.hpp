#pragma once
#include "data/store.hpp"

namespace gnnbench {

class ProcessGroup;

/// Checks a store's blocks by their checksums before ranks use them: each rank its share, so that all together read the store
/// once, about as many bytes each as it needs; ranks whose files are not the same (a copy on each host) once for each copy.
/// Where one finds a block that is not what was written, all throw its DataError. Collective. `threads`: of each rank. Stores
/// without checksums were checked as a whole when the host opened them.
void check_shares(const Store& store, const ProcessGroup& group, int threads);

}  // namespace gnnbench
