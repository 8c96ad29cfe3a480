#include "plugin/backend_memory.hpp"

#include <dlfcn.h>

namespace gnnbench {

bool in_host_memory(const std::filesystem::path& kernel_library) {
    void* library = ::dlopen(kernel_library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) return false;
    const auto* says = static_cast<const bool*>(::dlsym(library, "gnnbench_kernel_in_host_memory"));
    const bool value = says && *says;
    ::dlclose(library);  // it stays open: see PluginLibrary
    return value;
}

}  // namespace gnnbench
