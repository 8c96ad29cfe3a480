#pragma once
#include <vector>

#include "plugin/loader.hpp"

namespace gnnbench {

/// The plugins there are, each opened in a process of its own with a limit of time, so that one that crashes or hangs as it is
/// opened is said, and the others are listed.
std::vector<ListedPlugin> list_apart(const PluginCatalog& catalog);

}  // namespace gnnbench
