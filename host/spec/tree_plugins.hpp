#pragma once
#include <string>
#include <string_view>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

/// Whether gnnbench's own tree has a plugin of that name, be it built here or not: folders of plugins/ when CMake ran.
bool in_own_tree(PluginKind kind, std::string_view name);

/// How one of these is built: "./dev build builds it", and what it needs that not every machine has.
std::string how_to_build(PluginKind kind, std::string_view name);

}  // namespace gnnbench
