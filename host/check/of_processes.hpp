#pragma once
#include <memory>

#include <gnnbench/process_group.hpp>

#include "check/control_messages.hpp"

/// What a check needs where ranks are processes. It is declared here, so that the check need not know MPI, and defined in
/// host/mpi, which every program with such ranks links.

namespace gnnbench {

/// By the group's communicator, on a path that no other messages take.
std::unique_ptr<ControlMessages> messages_of_processes(ProcessGroup group);

/// Lets messages of other ranks through that need this process, for one that waits for a device: call it between polls.
void let_messages_through();

}  // namespace gnnbench
