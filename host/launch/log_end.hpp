#pragma once
#include <string>

#include "launch/declaration.hpp"
#include "launch/launcher.hpp"

namespace gnnbench {

/// How a trial ended: from the signs that its launcher declares, else from the exit status.
LaunchEnd classify_start(const LauncherDeclaration::Start& start, const EndSigns& signs);
/// Whether the trial waits for resources, according to its log.
bool waits_for_resources(const LauncherDeclaration::Start& start, const std::string& log);

}  // namespace gnnbench
