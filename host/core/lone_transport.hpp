#pragma once
#include <memory>

#include <gnnbench/transport.hpp>

namespace gnnbench {

/// Of ProcessGroup::alone(): without MPI.
std::unique_ptr<Transport> make_lone_transport();

}  // namespace gnnbench
