#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gnnbench {

/// Devices of this host, by NVIDIA's management library, which is loaded at run time: a machine without GPUs has none.
class DeviceEnergy {
public:
    /// Drivers of today renew the counter about ten times a second.
    static constexpr double update_s = 0.1;
    static constexpr const char* library_name = "libnvidia-ml.so.1";

    /// Devices by UUID ("GPU-1f0c…"), each counted once, however often it is named. Throws EnvironmentError that says why
    /// their energy cannot be read.
    explicit DeviceEnergy(std::span<const std::string> uuids, const char* library = library_name);
    ~DeviceEnergy();
    DeviceEnergy(const DeviceEnergy&) = delete;
    DeviceEnergy& operator=(const DeviceEnergy&) = delete;

    /// Of all devices together, since their driver was loaded. Throws EnvironmentError where one cannot be read.
    double joules() const;

    /// Devices whose energy this host can read, and how many there are: "2 of 2 devices". Throws EnvironmentError where
    /// there are none.
    static std::string readable(const char* library = library_name);

private:
    class Library;
    struct Device {
        std::string uuid;
        void* handle;
    };
    double joules_of(const Device& device) const;

    std::unique_ptr<Library> library_;
    std::vector<Device> devices_;
};

}  // namespace gnnbench
