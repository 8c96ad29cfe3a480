#include "run/plugin_probe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launch/in_child.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

/// Libraries of a kernel may take seconds from a cold network disk; most plugins take a millisecond.
constexpr double limit_s = 20;

void examine_in_child(ListedPlugin& plugin) {
    const ChildResult result = call_in_child(
        [&] {
            ListedPlugin seen = plugin;
            PluginCatalog::examine_here(seen);
            return json{{"version", seen.version}, {"summary", seen.summary}, {"refused", seen.refused}}.dump(
                -1, ' ', false, json::error_handler_t::replace);
        },
        limit_s);
    const json said = json::parse(result.said, nullptr, false);
    if (!result.failure.empty() || !said.is_object()) {
        plugin.refused = fmt::format(
            "{} {} when it was opened. Its own code did that: mend it, or take it out of the "
            "plugin folder.",
            plugin.file.string(), result.failure.empty() ? "said nothing" : result.failure);
        return;
    }
    plugin.version = said.value("version", "");
    plugin.summary = said.value("summary", "");
    plugin.refused = said.value("refused", "");
}

}  // namespace

std::string why_unused(const ListedPlugin& plugin) {
    if (plugin.shadowed_by.empty()) return plugin.refused;
    return fmt::format("{} {}: {} is used, because its folder comes first; {} is not", kind_name(plugin.kind),
                       plugin.name, plugin.shadowed_by.string(), plugin.file.string());
}

std::vector<ListedPlugin> list_in_child(const PluginCatalog& catalog) { return catalog.list(examine_in_child); }

}  // namespace gnnbench
