#include "device.hpp"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>

#include "check.hpp"

namespace gnnbench::cuda {
namespace {

struct Count {
    int devices = 0;
    std::string problem;  ///< why there are none
};

std::string version(int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); }

/// A machine without a driver is the usual case, not an error.
Count count_devices() {
    Count c;
    const cudaError_t code = cudaGetDeviceCount(&c.devices);
    if (code == cudaSuccess && c.devices > 0) return c;
    (void)cudaGetLastError();
    c.devices = 0;
    int driver = 0, runtime = 0;
    const bool asked =
        cudaDriverGetVersion(&driver) == cudaSuccess && cudaRuntimeGetVersion(&runtime) == cudaSuccess;
    (void)cudaGetLastError();
    if (!asked || driver == 0) {
        c.problem = "no CUDA device (driver not found)";
    } else if (code == cudaErrorInsufficientDriver) {
        c.problem = fmt::format("the CUDA driver is too old: it supports CUDA {}, this build needs {}",
                                version(driver), version(runtime));
    } else if (code == cudaErrorNoDevice || code == cudaSuccess) {
        c.problem = "no CUDA device (the driver sees none; is CUDA_VISIBLE_DEVICES set?)";
    } else {
        c.problem = fmt::format("no CUDA device ({})", cudaGetErrorString(code));
    }
    return c;
}

/// Whether this process is a rank that was given one device: then each rank of the host may have been given its own, which
/// it alone sees, as number 0. Whoever plans a job and is no rank sees what all ranks together have.
bool may_have_its_own(const KernelSetting& s, const Count& found) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return s.is_rank && found.devices == 1 && visible && *visible && !std::strchr(visible, ',');
}

std::string why_not_this_device(int device) {
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
    constexpr int oldest = GNNBENCH_CUDA_OLDEST_ARCH;
    if (10 * major + minor >= oldest) return {};
    return fmt::format("device {} has compute capability {}.{}; this build has code from {}.{} on", device, major,
                       minor, oldest / 10, oldest % 10);
}

}  // namespace

int device_of(int local_rank, int devices) { return local_rank % devices; }

std::string why_no_device(const KernelSetting& s) {
    const Count found = count_devices();
    if (found.devices == 0) return found.problem;
    if (s.local_ranks > found.devices && !s.params.boolean("share_devices") && !may_have_its_own(s, found))
        return fmt::format("{} ranks on this host and {} CUDA device{}; share_devices: true lets ranks share one",
                           s.local_ranks, found.devices, found.devices == 1 ? "" : "s");
    return why_not_this_device(device_of(s.local_rank, found.devices));
}

std::string device_name(const KernelSetting& s) {
    const Count found = count_devices();
    if (found.devices == 0) return found.problem;
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device_of(s.local_rank, found.devices)), "cudaGetDeviceProperties");
    const bool shared = s.local_ranks > found.devices && !may_have_its_own(s, found);
    return std::string(properties.name) + (shared ? ", shared" : "");
}

std::string device_uuid(const KernelSetting& s) {
    const Count found = count_devices();
    if (found.devices == 0) return {};
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device_of(s.local_rank, found.devices)), "cudaGetDeviceProperties");
    std::string text = "GPU";
    for (std::size_t i = 0; i < sizeof properties.uuid.bytes; ++i)
        text += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            static_cast<unsigned char>(properties.uuid.bytes[i]));
    return text;
}

int use_device(const KernelSetting& s) {
    if (const std::string why = why_no_device(s); !why.empty()) throw EnvironmentError("kernel cuda: " + why);
    const int device = device_of(s.local_rank, count_devices().devices);
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cudaFree(nullptr), "making the CUDA context");
    return device;
}

std::string device_address(int device) {
    char text[32] = {};
    check(cudaDeviceGetPCIBusId(text, sizeof text, device), "cudaDeviceGetPCIBusId");
    return text;
}

}  // namespace gnnbench::cuda
