#include "spec/tree_plugins.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace gnnbench {
namespace {

/// "kernels/cuda"
constexpr std::string_view folders[] = {
#include "tree_plugins.inc"
};

std::string folder_of(PluginKind kind, std::string_view name) {
    switch (kind) {
        case PluginKind::strategy:
            return fmt::format("strategies/{}", name);
        case PluginKind::partitioner:
            return fmt::format("partitioners/{}", name);
        case PluginKind::kernel:
            return fmt::format("kernels/{}", name);
        case PluginKind::importer:
            return fmt::format("importers/{}", name);
    }
    return {};
}

/// Plugins that are left out where something is missing.
constexpr struct {
    std::string_view folder, text;
} demanding[] = {
    {"kernels/cuda",
     "it needs nvcc, cuBLAS, cuSPARSE and NCCL; where CMake finds them, ./dev build builds it, and cmake --preset "
     "release -DGNNBENCH_CUDA=ON says what is missing (docs/cuda.md)"},
};

}  // namespace

bool in_own_tree(PluginKind kind, std::string_view name) {
    return std::ranges::find(folders, folder_of(kind, name)) != std::end(folders);
}

std::string how_to_build(PluginKind kind, std::string_view name) {
    const std::string folder = folder_of(kind, name);
    for (const auto& plugin : demanding)
        if (plugin.folder == folder) return std::string(plugin.text);
    return "./dev build builds it";
}

}  // namespace gnnbench
