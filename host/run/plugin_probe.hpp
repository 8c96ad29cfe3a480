#pragma once
#include <vector>

#include "plugin/loader.hpp"

namespace gnnbench {

/// The available plugins, each opened in a separate process with a time limit, so that one that crashes or hangs
/// while it is opened is reported, and the others are listed.
std::vector<ListedPlugin> list_in_child(const PluginCatalog& catalog);

/// Why one of the listed files is not used: the file before it in the search order, or why it was refused.
std::string why_unused(const ListedPlugin& plugin);

}  // namespace gnnbench
