#pragma once
#include <memory>

#include <gnnbench/process_group.hpp>

namespace gnnbench {

/// What rank 0 of the group has made, on all of them, which share a process. Collective.
template <class T>
std::shared_ptr<T> of_first_rank(const ProcessGroup& group, const std::shared_ptr<T>& made) {
    const void* first = &made;
    group.broadcast(static_cast<void*>(&first), sizeof first, 0);
    std::shared_ptr<T> mine = *static_cast<const std::shared_ptr<T>*>(first);
    group.barrier();  // until all have their copy, the first rank's must stay where it is
    return mine;
}

}  // namespace gnnbench
