#pragma once
#include <string>

namespace gnnbench {

struct KernelSetting;

/// A BackendPlugin whose devices count the energy that they take derives from this, too. One that computes on the host's
/// processors does not: their energy is the host's.
class MeteredDevice {
public:
    virtual ~MeteredDevice();
    /// The UUID of the setting's device, as its driver's management library knows it: "GPU-1f0c…", which nvidia-smi lists.
    virtual std::string device_uuid(const KernelSetting& setting) const = 0;
};

}  // namespace gnnbench
