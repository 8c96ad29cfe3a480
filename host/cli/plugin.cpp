#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "core/range_words.hpp"
#include "plugin/loader.hpp"
#include "plugin/scaffold.hpp"
#include "run/plugin_probe.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

/// "between 2 and 64", "cut | volume", "true | false".
std::string allowed_text(const ParamDecl& param) {
    switch (param.type) {
        case ParamType::boolean:
            return "true | false";
        case ParamType::choice: {
            std::string words;
            for (const char* c = param.choices; *c; ++c)
                words += *c == '|' ? std::string(" | ") : std::string(1, *c);
            return words;
        }
        case ParamType::text:
            return "one line";
        case ParamType::path:
            return "a path";
        case ParamType::program:
            return "a program's path";
        case ParamType::integer:
        case ParamType::real:
            break;
    }
    const std::string words = range_words(param);
    return words.empty() ? "any" : words.substr(1);
}

std::string type_text(ParamType type) {
    switch (type) {
        case ParamType::boolean:
            return "boolean";
        case ParamType::integer:
            return "integer";
        case ParamType::real:
            return "real";
        case ParamType::choice:
            return "choice";
        case ParamType::text:
            return "text";
        case ParamType::path:
            return "path";
        case ParamType::program:
            return "program";
    }
    return "unknown";
}

int list_plugins(bool as_json) {
    const PluginCatalog catalog;
    json list = json::array();
    TextColumns columns({"kind", "name", "version", "summary"});
    for (const ListedPlugin& plugin : list_in_child(catalog)) {
        const std::string kind(kind_name(plugin.kind));
        list.push_back({{"kind", kind},
                        {"name", plugin.name},
                        {"version", plugin.version},
                        {"summary", plugin.summary},
                        {"file", plugin.file.string()},
                        {"shadowed_by", plugin.shadowed_by.string()},
                        {"refused", plugin.refused}});
        if (plugin.usable())
            columns.add({kind, plugin.name, plugin.version, plugin.summary});
        else
            std::cerr << "gnnbench: " << why_unused(plugin) << '\n';
    }
    if (as_json)
        print_json(std::cout, list);
    else if (columns.empty())
        std::cerr << "no plugins were found\n";
    else
        std::cout << columns.text();
    return exit_ok;
}

json description_json(const PluginDescription& plugin) {
    json params = json::array();
    for (const ParamDecl& param : plugin.params)
        params.push_back({{"name", param.name},
                          {"type", type_text(param.type)},
                          {"default", param.default_value},
                          {"allowed", allowed_text(param)},
                          {"help", param.help}});
    return {{"kind", kind_name(plugin.kind)}, {"name", plugin.name},          {"version", plugin.version},
            {"summary", plugin.summary},      {"file", plugin.file.string()}, {"parameters", params}};
}

void print_description(const PluginDescription& plugin) {
    std::cout << kind_name(plugin.kind) << ' ' << plugin.name << ' ' << plugin.version << '\n'
              << plugin.summary << '\n'
              << plugin.file.string() << '\n';
    if (plugin.params.empty()) {
        std::cout << "no parameters\n";
        return;
    }
    TextColumns columns({"parameter", "type", "default", "allowed", ""});
    for (const ParamDecl& param : plugin.params)
        columns.add({param.name, type_text(param.type), param.default_value, allowed_text(param), param.help});
    std::cout << '\n' << columns.text();
}

std::string unknown_name(const std::string& name, const std::vector<std::string>& names) {
    return "there is no plugin '" + name + "'" + did_you_mean(name, names) + " (gnnbench plugin list shows all)";
}

/// A name may be that of plugins of several kinds: all are described.
int describe_plugin(const std::string& name, bool as_json) {
    const PluginCatalog catalog;
    std::vector<PluginDescription> found;
    std::vector<std::string> all;
    for (PluginKind kind :
         {PluginKind::strategy, PluginKind::partitioner, PluginKind::kernel, PluginKind::importer}) {
        const std::vector<std::string> names = catalog.names(kind);
        if (std::find(names.begin(), names.end(), name) != names.end()) found.push_back(catalog.find(kind, name));
        all.insert(all.end(), names.begin(), names.end());
    }
    if (found.empty()) throw PluginError(unknown_name(name, all));
    json list = json::array();
    for (const PluginDescription& plugin : found) {
        if (as_json)
            list.push_back(description_json(plugin));
        else
            print_description(plugin);
    }
    if (as_json) print_json(std::cout, list);
    return exit_ok;
}

void add_list(CLI::App& plugin, Action& action) {
    CLI::App* command = plugin.add_subcommand("list", "List the plugins");
    auto as_json = std::make_shared<bool>(false);
    command->add_flag("--json", *as_json, "As JSON");
    command->callback([&action, as_json] { action = [as_json] { return list_plugins(*as_json); }; });
}

void add_info(CLI::App& plugin, Action& action) {
    CLI::App* command = plugin.add_subcommand("info", "Describe a plugin and its parameters");
    auto name = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    command->add_option("name", *name, "As `gnnbench plugin list` shows it")->required()->type_name("PLUGIN");
    command->add_flag("--json", *as_json, "As JSON");
    command->callback(
        [&action, name, as_json] { action = [name, as_json] { return describe_plugin(*name, *as_json); }; });
}

void add_new(CLI::App& plugin, Action& action) {
    CLI::App* command = plugin.add_subcommand("new", "Create a plugin from a template, in a folder with its name");
    auto kind = std::make_shared<std::string>();
    auto name = std::make_shared<std::string>();
    command->add_option("kind", *kind, "strategy, partitioner or importer")
        ->required()
        ->check(one_of({"strategy", "partitioner", "importer"}));
    command->add_option("name", *name, "Lower case, words joined by dashes: my-scheme")
        ->required()
        ->type_name("NAME");
    auto workers = std::make_shared<bool>(false);
    command->add_flag("--workers", *workers,
                      "A strategy whose ranks are independent workers, not one that advances together");
    command->callback([&action, kind, name, workers] {
        if (*workers && *kind != "strategy") throw CLI::ValidationError("--workers", "is for a strategy");
        action = [kind, name, workers] {
            const PluginTemplate what = *kind == "partitioner" ? PluginTemplate::partitioner
                                        : *kind == "importer"  ? PluginTemplate::importer
                                        : *workers             ? PluginTemplate::workers
                                                               : PluginTemplate::strategy;
            const std::filesystem::path folder = write_plugin_folder(what, *name, ".");
            std::cerr << "wrote " << folder.string() << "; its README.md says how to build and use it\n";
            return exit_ok;
        };
    });
}

}  // namespace

void add_plugin(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* plugin = app.add_subcommand("plugin", "Strategies, partitioners, kernels and importers");
    plugin->require_subcommand(1);
    add_list(*plugin, action);
    add_info(*plugin, action);
    add_new(*plugin, action);
}

}  // namespace gnnbench
