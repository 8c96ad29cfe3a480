#include <gnnbench/metered_device.hpp>

namespace gnnbench {

MeteredDevice::~MeteredDevice() = default;  // here, so that host and plugins share the type

}  // namespace gnnbench
