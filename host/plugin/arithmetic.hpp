#pragma once
#include <functional>
#include <memory>

#include <gnnbench/backend.hpp>

#include "plugin/loader.hpp"

namespace gnnbench {

/// Makes back ends that compute on one core of this machine, and the same in every run: the kernel `cpu` with layouts that
/// follow from sizes, or `reference` where `cpu` cannot be used. KernelSetting::arithmetic of a simulated rank.
std::function<std::unique_ptr<Backend>()> arithmetic_of_this_machine(const PluginCatalog& catalog, DType dtype);

}  // namespace gnnbench
