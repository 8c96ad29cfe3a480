#include "check/control_messages.hpp"

#include "check/mailed_messages.hpp"
#include "check/of_processes.hpp"

namespace gnnbench {

std::unique_ptr<ControlMessages> ControlMessages::between(ProcessGroup group) {
    if (group.turns()) return std::make_unique<MailedMessages>(std::move(group));
    return messages_of_processes(std::move(group));
}

}  // namespace gnnbench
