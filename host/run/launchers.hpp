#pragma once
#include <memory>
#include <string>

#include "launch/declared_launcher.hpp"
#include "spec/launcher_choice.hpp"

namespace gnnbench {

/// Properties of the place where trials run that a plan needs.
struct Site {
    int cores = 1;                  ///< that ranks of one trial may use
    std::int64_t memory_bytes = 0;  ///< the same; 0: unknown
    bool adds_nodes = false;        ///< both are of one node, and a trial gets as many as its ranks need
    bool on_other_hosts = false;    ///< ranks run on other hosts, which determine what they support
    std::string fingerprint;        ///< of the machine; empty: nothing that is stored counts
};

LauncherSettings launcher_settings(const LauncherChoice& choice);

/// The chosen launcher; of one with jobs, what starts ranks in them. Throws EnvironmentError if it cannot work.
std::shared_ptr<const Launcher> make_launcher(const LauncherChoice& choice);
/// The same for commands that start trials one by one. Throws SpecError for one with jobs.
std::shared_ptr<const Launcher> make_direct_launcher(const LauncherChoice& choice, const char* command);

Site site_of(const Launcher& launcher);
/// This host, without its fingerprint.
Site this_host();

/// For LoadOptions::hosts_of: asks the launcher's programs.
HostShape shape_of(const LauncherChoice& choice);

}  // namespace gnnbench
