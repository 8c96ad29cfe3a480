#include <iostream>

#include <fmt/format.h>

#include <gnnbench/version.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"
#include "launch/machine.hpp"

namespace gnnbench {

std::string version_text() {
    const BuildInfo build = build_info();
    return fmt::format("gnnbench {}{}\n{}, {}\nplugin interface: core {}, training {}, batches {}; {}",
                       build.version, build.commit.empty() ? "" : " (" + build.commit + ")", build.compiler,
                       build.build_type, GNNBENCH_CORE_VERSION, GNNBENCH_TRAINING_VERSION,
                       GNNBENCH_BATCHES_VERSION, GNNBENCH_BUILD_ID);
}

void add_version(CLI::App& app, const GlobalOptions&, Action& action) {
    CLI::App* command = app.add_subcommand("version", "What this program is and was built from");
    auto as_json = std::make_shared<bool>(false);
    command->add_flag("--json", *as_json, "As JSON");
    command->callback([&action, as_json] {
        action = [as_json] {
            const BuildInfo build = build_info();
            if (*as_json)
                print_json(std::cout, {{"version", build.version},
                                       {"commit", build.commit},
                                       {"compiler", build.compiler},
                                       {"build_type", build.build_type},
                                       {"plugin_interface",
                                        {{"core", GNNBENCH_CORE_VERSION},
                                         {"training", GNNBENCH_TRAINING_VERSION},
                                         {"batches", GNNBENCH_BATCHES_VERSION}}},
                                       {"plugin_build", GNNBENCH_BUILD_ID}});
            else
                std::cout << version_text() << '\n';
            return exit_ok;
        };
    });
}

}  // namespace gnnbench
