#pragma once
#include <filesystem>

namespace gnnbench {

/// Whether a kernel's library, which is open, says that it computes in host memory (GNNBENCH_KERNEL_IN_HOST_MEMORY).
bool in_host_memory(const std::filesystem::path& kernel_library);

/// Whether it says that its ranks are simulated (GNNBENCH_KERNEL_SIMULATES).
bool simulates(const std::filesystem::path& kernel_library);

}  // namespace gnnbench
