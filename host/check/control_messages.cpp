#include "check/control_messages.hpp"

#include "check/mailed_messages.hpp"
#include "check/mpi_messages.hpp"

namespace gnnbench {

ControlMessages::~ControlMessages() = default;

std::unique_ptr<ControlMessages> ControlMessages::between(ProcessGroup group) {
    if (group.turns()) return std::make_unique<MailedMessages>(std::move(group));
    return std::make_unique<MpiMessages>(std::move(group));
}

}  // namespace gnnbench
