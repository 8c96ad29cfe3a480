#include "check/control_messages.hpp"

#include "check/mailed_messages.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench {

std::unique_ptr<ControlMessages> ControlMessages::between(ProcessGroup group) {
    if (group.turns()) return std::make_unique<MailedMessages>(std::move(group));
    return make_mpi_messages(std::move(group));
}

}  // namespace gnnbench
