#include "plugin/arithmetic.hpp"

#include <algorithm>
#include <string_view>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

/// The kernel's defaults, with matrices laid out by rule where it has a choice.
Params untimed(const PluginDescription& kernel) {
    Params params(kernel.params);
    for (const ParamDecl& p : kernel.params)
        if (std::string_view(p.name) == "format") params.set(p, "untimed");
    return params;
}

std::string processor_kernel(const PluginCatalog& catalog) {
    try {
        catalog.find(PluginKind::kernel, "cpu");
        return "cpu";
    } catch (const PluginError&) {
        return "reference";
    }
}

}  // namespace

std::function<std::unique_ptr<Backend>()> arithmetic_of_this_machine(const PluginCatalog& catalog, DType dtype) {
    const std::string name = processor_kernel(catalog);
    const std::shared_ptr<BackendPlugin> kernel = catalog.kernel(name);
    const KernelSetting setting{
        .dtype = dtype, .threads = 1, .params = untimed(catalog.find(PluginKind::kernel, name))};
    return [kernel, setting] { return kernel->create(setting); };
}

}  // namespace gnnbench
