#include <iostream>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/say.hpp"
#include "data/catalog.hpp"
#include "data/checked_store.hpp"
#include "cli/profiles.hpp"
#include "data/profile.hpp"

namespace gnnbench {

namespace {

using nlohmann::json;

int list_profiles(bool as_json) {
    json all = json::array();
    TextColumns columns({"profile", "vertices", "mean degree", "clustering", "features", "classes", ""});
    for (const std::string& name : profile_names()) {
        const Profile p = read_profile(profile_text(name), "profile " + name);
        const DegreeProfile degrees = profile_degrees(p, 1, p.vertices);
        columns.add({name, std::to_string(p.vertices), fmt::format("{:.4g}", mean_degree(degrees)),
                     fmt::format("{:.3g}", mean_clustering(degrees)), std::to_string(p.features),
                     std::to_string(p.classes),
                     p.about + (p.assumptions.empty() ? "; measured" : "; in part assumed")});
        all.push_back(json::parse(profile_text(name)));
    }
    if (as_json)
        print_json(std::cout, all);
    else
        std::cout << columns.text()
                  << "\n`gnnbench dataset profiles NAME` has a profile's sources and assumptions.\n";
    return exit_ok;
}

}  // namespace

std::string profile_lines(const json& profile) {
    std::string text = "{";
    for (const auto& [key, value] : profile.items()) {
        text += fmt::format("{}\n  {}: ", text.size() > 1 ? "," : "", json(key).dump());
        if (!value.is_array() || value.empty()) {
            text += value.dump();
            continue;
        }
        for (std::size_t i = 0; i < value.size(); ++i)
            text += fmt::format("{}\n    {}", i == 0 ? "[" : ",", value[i].dump());
        text += "\n  ]";
    }
    return text + "\n}\n";
}

void add_profiles(CLI::App& dataset, const GlobalOptions& options, Action& action) {
    auto name = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    CLI::App* shipped =
        dataset.add_subcommand("profiles", "List the datasets that `generate like` knows, or show one");
    shipped->add_option("name", *name, "One of them: its degrees, sources and assumptions, as JSON")
        ->type_name("GRAPH");
    shipped->add_flag("--json", *as_json, "As JSON");
    shipped->callback([&, name, as_json] {
        action = [name, as_json]() -> int {
            if (name->empty()) return list_profiles(*as_json);
            std::cout << profile_text(*name);
            return exit_ok;
        };
    });
    CLI::App* measure = dataset.add_subcommand(
        "profile", "Measure a dataset's degrees and clustering, for `generate like`'s profile_file");
    measure->add_option("name", *name, "As `gnnbench dataset list` shows it, or a store's path")
        ->required()
        ->type_name("DATASET");
    measure->callback([&, name] {
        action = [&, name] {
            const Store store = open_checked(Catalog::at(options.data_dir).find(*name), say);
            std::cout << profile_lines(measured_profile(store));
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
