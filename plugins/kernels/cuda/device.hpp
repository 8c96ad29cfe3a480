#pragma once
#include <string>

namespace gnnbench {
struct KernelSetting;
}

namespace gnnbench::cuda {

/// The device of a rank: by its number on its host, modulo the devices where ranks may share them.
int device_of(int local_rank, int devices);

/// Why no rank of this setting, or not this rank, can have a device; empty if it can. Creates no context.
std::string why_no_device(const KernelSetting& setting);

/// The name of a rank's device: "NVIDIA H100 80GB HBM3".
std::string device_name(const KernelSetting& setting);

/// The UUID of a rank's device as NVML and nvidia-smi know it: "GPU-", then hexadecimal digits; empty where there is none.
std::string device_uuid(const KernelSetting& setting);

/// Makes the setting's device the calling thread's, and its context. Throws EnvironmentError with why_no_device.
int use_device(const KernelSetting& setting);

/// The PCI address, unique among the devices of one machine.
std::string device_address(int device);

}  // namespace gnnbench::cuda
