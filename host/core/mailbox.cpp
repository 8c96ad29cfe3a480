#include "core/mailbox.hpp"

namespace gnnbench {

Mailbox::~Mailbox() = default;

}  // namespace gnnbench
