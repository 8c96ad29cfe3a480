#include <iostream>

#include <gnnbench/error.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "spec/launcher_file.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

/// What a launcher's line shows; of a file that is wrong, what is wrong with it.
struct Listed {
    std::string about, starts;
};
Listed listed(const LauncherFile& file) {
    try {
        const json content = load_launcher(file.name);
        const bool here = content.at("hosts") == "this";
        return {content.at("about"), here ? "ranks here" : content.contains("jobs") ? "jobs" : "ranks elsewhere"};
    } catch (const SpecError& error) {
        return {error.what(), "nothing"};
    }
}

int list_launchers(bool as_json) {
    json list = json::array();
    TextColumns columns({"launcher", "starts", "from", "about"});
    for (const LauncherFile& f : launcher_files()) {
        const auto [about, starts] = listed(f);
        const std::string from = f.file.empty() ? "gnnbench" : f.file.string();
        list.push_back({{"name", f.name}, {"starts", starts}, {"from", from}, {"about", about}});
        columns.add({f.name, starts, from, about});
    }
    if (as_json)
        print_json(std::cout, list);
    else
        std::cout << columns.text();
    return exit_ok;
}

int show_launcher(const std::string& name) {
    load_launcher(name);  // says what is wrong with it
    for (const LauncherFile& f : launcher_files())
        if (f.name == name) std::cout << f.text;
    return exit_ok;
}

}  // namespace

void add_launcher(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* launcher = app.add_subcommand("launcher", "How trials are started: docs/clusters.md");
    launcher->require_subcommand(1);
    CLI::App* list = launcher->add_subcommand("list", "List the launchers of gnnbench, the user and the site");
    auto as_json = std::make_shared<bool>(false);
    list->add_flag("--json", *as_json, "As JSON");
    list->callback([&action, as_json] { action = [as_json] { return list_launchers(*as_json); }; });
    CLI::App* show = launcher->add_subcommand("show", "Print a launcher's file, to start another one from");
    auto name = std::make_shared<std::string>();
    show->add_option("name", *name, "As `gnnbench launcher list` shows it")->required()->type_name("LAUNCHER");
    show->callback([&action, name] { action = [name] { return show_launcher(*name); }; });
}

}  // namespace gnnbench
