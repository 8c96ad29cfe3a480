#include "run/launchers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/machine.hpp"
#include "record/lines.hpp"

namespace gnnbench {

LauncherSettings launcher_settings(const LauncherChoice& choice) {
    return {.partition = choice.partition,
            .account = choice.account,
            .time = choice.time,
            .nodes = static_cast<int>(choice.nodes),
            .gpus = choice.gpus,
            .mpi = choice.mpi,
            .hosts = choice.hosts,
            .options = choice.options};
}

std::shared_ptr<const Launcher> make_launcher(const LauncherChoice& choice) {
    return std::make_shared<DeclaredLauncher>(launcher_declaration(choice.file), launcher_settings(choice));
}

std::shared_ptr<const Launcher> make_direct_launcher(const LauncherChoice& choice, const char* command) {
    if (choice.submits())
        throw SpecError(fmt::format(
            "{} starts trials one by one and waits for each: expected a launcher without jobs, such as "
            "srun or local; found {}; add --launcher srun",
            command, choice.name));
    return make_launcher(choice);
}

Site site_of(const Launcher& launcher) {
    return {launcher.cores(), launcher.memory_bytes(), launcher.adds_nodes(), launcher.on_other_hosts(),
            machine_fingerprint(to_json(launcher.machine()))};
}

Site this_host() { return {usable_cores(), host_memory_bytes(), false, false, ""}; }

HostShape shape_of(const LauncherChoice& choice) {
    const ClusterNodes nodes = ask_nodes(launcher_declaration(choice.file), launcher_settings(choice));
    return {nodes.cores, std::max({1, static_cast<int>(choice.nodes), nodes.hosts})};
}

}  // namespace gnnbench
