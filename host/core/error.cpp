#include <gnnbench/error.hpp>
#include <gnnbench/event.hpp>

// Out-of-line so that type information and code live here, whichever plugin throws.
namespace gnnbench {

Error::~Error() = default;
SpecError::~SpecError() = default;
DataError::~DataError() = default;
EnvironmentError::~EnvironmentError() = default;
PluginError::~PluginError() = default;
OutOfMemory::~OutOfMemory() = default;
Unsupported::~Unsupported() = default;
CommunicationError::~CommunicationError() = default;
LogicError::~LogicError() = default;
EventState::~EventState() = default;

}  // namespace gnnbench
