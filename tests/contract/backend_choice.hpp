#pragma once
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>

#include "plugin/loader.hpp"

/// Which back ends the contract tests run on: all that serve here, or the one that GNNBENCH_CONTRACT_KERNEL names
/// with its parameters ("cuda share_devices=true transport=nccl"), which must then serve.
namespace gnnbench::contract {

struct BackendChoice {
    std::string name;
    Params params;
    std::string changed;  ///< parameters other than the defaults
};

/// The asked back end's name and parameter assignments; empty where none is asked for.
inline std::vector<std::string> asked_backend() {
    const char* text = std::getenv("GNNBENCH_CONTRACT_KERNEL");
    std::istringstream words(text ? text : "");
    std::vector<std::string> out;
    for (std::string w; words >> w;) out.push_back(w);
    return out;
}

inline void assign(Params& params, std::span<const ParamDecl> declared, const std::string& assignment) {
    const auto cut = assignment.find('=');
    for (const ParamDecl& p : declared)
        if (assignment.substr(0, cut) == p.name) return params.set(p, assignment.substr(cut + 1));
    throw SpecError("GNNBENCH_CONTRACT_KERNEL: the kernel has no parameter '" + assignment.substr(0, cut) + "'");
}

inline std::vector<BackendChoice> backend_choices(const PluginCatalog& catalog) {
    std::vector<BackendChoice> out;
    const auto asked = asked_backend();
    for (const ListedPlugin& p : catalog.list()) {
        if (p.kind != PluginKind::kernel || !p.usable() || (!asked.empty() && p.name != asked[0])) continue;
        const auto declared = catalog.find(PluginKind::kernel, p.name).params;
        BackendChoice choice{p.name, Params(declared), ""};
        for (std::size_t i = 1; i < asked.size(); ++i) {
            assign(choice.params, declared, asked[i]);
            choice.changed += " " + asked[i];
        }
        out.push_back(std::move(choice));
    }
    if (out.empty() && !asked.empty())
        throw SpecError("GNNBENCH_CONTRACT_KERNEL names '" + asked[0] + "', and there is no such kernel");
    return out;
}

}  // namespace gnnbench::contract
