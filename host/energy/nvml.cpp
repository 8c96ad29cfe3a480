#include "energy/nvml.hpp"

#include <algorithm>

#include <dlfcn.h>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

/// The few functions of NVML that are called, by their documented signatures; all return 0 where they succeed.
class DeviceEnergy::Library {
public:
    explicit Library(const char* name) {
        handle_.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
        if (!handle_) throw EnvironmentError(fmt::format("NVML cannot be loaded: {}", ::dlerror()));
        find(init_, "nvmlInit_v2");
        find(shutdown_, "nvmlShutdown");
        find(count_, "nvmlDeviceGetCount_v2");
        find(by_index_, "nvmlDeviceGetHandleByIndex_v2");
        find(by_uuid_, "nvmlDeviceGetHandleByUUID");
        find(total_energy_, "nvmlDeviceGetTotalEnergyConsumption");
        find(error_text_, "nvmlErrorString");
        check(init_(), "nvmlInit");
        is_open_ = true;
    }
    ~Library() {
        if (is_open_) shutdown_();
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    unsigned count() const {
        unsigned devices = 0;
        check(count_(&devices), "nvmlDeviceGetCount");
        return devices;
    }
    void* device(unsigned index) const {
        void* found = nullptr;
        check(by_index_(index, &found), fmt::format("nvmlDeviceGetHandleByIndex({})", index));
        return found;
    }
    void* device(const std::string& uuid) const {
        void* found = nullptr;
        check(by_uuid_(uuid.c_str(), &found), fmt::format("nvmlDeviceGetHandleByUUID({})", uuid));
        return found;
    }
    /// Millijoules.
    unsigned long long energy_mj(void* device, const std::string& name) const {
        unsigned long long total = 0;
        check(total_energy_(device, &total), fmt::format("nvmlDeviceGetTotalEnergyConsumption of {}", name));
        return total;
    }

private:
    template <class Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(handle_.get(), name));
        if (!function) throw EnvironmentError(fmt::format("the driver's NVML is too old: it has no {}", name));
    }
    void check(int code, const std::string& call) const {
        if (code != 0) throw EnvironmentError(fmt::format("{}: {}", call, error_text_(code)));
    }

    struct Close {
        void operator()(void* handle) const { ::dlclose(handle); }
    };
    std::unique_ptr<void, Close> handle_;
    bool is_open_ = false;
    int (*init_)() = nullptr;
    int (*shutdown_)() = nullptr;
    int (*count_)(unsigned*) = nullptr;
    int (*by_index_)(unsigned, void**) = nullptr;
    int (*by_uuid_)(const char*, void**) = nullptr;
    int (*total_energy_)(void*, unsigned long long*) = nullptr;
    const char* (*error_text_)(int) = nullptr;
};

DeviceEnergy::DeviceEnergy(std::span<const std::string> uuids, const char* library)
    : library_(std::make_unique<Library>(library)) {
    for (const std::string& uuid : uuids) {
        if (std::ranges::any_of(devices_, [&](const Device& d) { return d.uuid == uuid; })) continue;
        devices_.push_back({uuid, library_->device(uuid)});
        joules_of(devices_.back());
    }
}

DeviceEnergy::~DeviceEnergy() = default;

double DeviceEnergy::joules_of(const Device& device) const {
    return static_cast<double>(library_->energy_mj(device.handle, device.uuid)) * 1e-3;
}

double DeviceEnergy::joules() const {
    double sum = 0;
    for (const Device& d : devices_) sum += joules_of(d);
    return sum;
}

std::string DeviceEnergy::readable(const char* name) {
    const Library library(name);
    const unsigned devices = library.count();
    unsigned readable = 0;
    std::string first_problem;
    for (unsigned i = 0; i < devices; ++i) try {
            library.energy_mj(library.device(i), fmt::format("device {}", i));
            ++readable;
        } catch (const EnvironmentError& e) {
            if (first_problem.empty()) first_problem = e.what();
        }
    if (readable == 0) throw EnvironmentError(devices == 0 ? "NVML knows no device" : first_problem);
    return fmt::format("{} of {} device{}", readable, devices, devices == 1 ? "" : "s");
}

}  // namespace gnnbench
