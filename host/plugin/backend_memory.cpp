#include "plugin/backend_memory.hpp"

#include <dlfcn.h>

namespace gnnbench {

namespace {

/// The value of a constant that an open library may export; false where it exports none.
bool says(const std::filesystem::path& kernel_library, const char* constant) {
    void* library = ::dlopen(kernel_library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) return false;
    const auto* found = static_cast<const bool*>(::dlsym(library, constant));
    const bool value = found && *found;
    ::dlclose(library);  // it stays open: see PluginLibrary
    return value;
}

}  // namespace

bool in_host_memory(const std::filesystem::path& kernel_library) {
    return says(kernel_library, "gnnbench_kernel_in_host_memory");
}

bool simulates(const std::filesystem::path& kernel_library) {
    return says(kernel_library, "gnnbench_kernel_simulates");
}

}  // namespace gnnbench
