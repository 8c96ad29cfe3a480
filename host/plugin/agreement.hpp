#pragma once
#include <span>
#include <string>
#include <vector>

#include <gnnbench/plugin.hpp>

namespace gnnbench {

class PluginCatalog;
class ProcessGroup;

struct PluginRequest {
    PluginKind kind;
    std::string name;
};

/// Collective. Every rank opens the plugins that a trial needs; then all compare what they opened (name, version,
/// build id, digest of the file). Where a rank failed or differs, every rank throws the same PluginError, naming
/// that rank and its reason, so that no rank blocks in a collective.
void agree_on_plugins(const ProcessGroup& group, const PluginCatalog& catalog,
                      std::span<const PluginRequest> wanted);

/// One rank's report: "ok …" with what it opened, or "failed: <reason>". Never throws PluginError.
std::string load_report(const PluginCatalog& catalog, std::span<const PluginRequest> wanted);

/// Empty if all reports (by rank) are equal and ok; else what is wrong, as one message for all ranks.
std::string disagreement(const std::vector<std::string>& reports);

}  // namespace gnnbench
