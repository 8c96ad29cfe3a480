#pragma once
#include <cstdint>

#include <gnnbench/params.hpp>
#include <gnnbench/version.hpp>

/// What a plugin's shared library exports. The host reads `gnnbench_plugin_info` first, checks it, and only
/// then calls `gnnbench_plugin_create`, which returns a new Strategy, Partitioner, BackendPlugin or Importer.

namespace gnnbench {

enum class PluginKind : std::int32_t { strategy, partitioner, kernel, importer };

/// Plain data whose layout never changes, so that any host can read any plugin's.
struct PluginInfo {
    char magic[8];               ///< "gnnbench"
    std::uint32_t info_layout;   ///< layout of this struct; 1
    std::uint32_t core_version;  ///< GNNBENCH_CORE_VERSION the plugin was built with
    PluginKind kind;
    const char* name;      ///< as in YAML: "mg-gcn"
    const char* version;   ///< the plugin's own, "1.0.0"
    const char* build_id;  ///< GNNBENCH_BUILD_ID the plugin was built with
    const char* summary;   ///< one line, with the paper where there is one
    const ParamDecl* params;
    std::int32_t param_count;
};

}  // namespace gnnbench

#define GNNBENCH_EXPORT extern "C" __attribute__((visibility("default")))

/// Once in each plugin, at file scope: kind (strategy | partitioner | kernel | importer), the class that
/// implements it, name, version, summary, and the array of declared parameters (may be `{}`-empty via
/// GNNBENCH_PLUGIN_WITHOUT_PARAMS).
#define GNNBENCH_PLUGIN(KIND, CLASS, NAME, VERSION, SUMMARY, PARAMS)             \
    GNNBENCH_EXPORT const ::gnnbench::PluginInfo gnnbench_plugin_info = {        \
        {'g', 'n', 'n', 'b', 'e', 'n', 'c', 'h'},                                \
        1,                                                                       \
        GNNBENCH_CORE_VERSION,                                                   \
        ::gnnbench::PluginKind::KIND,                                            \
        NAME,                                                                    \
        VERSION,                                                                 \
        GNNBENCH_BUILD_ID,                                                       \
        SUMMARY,                                                                 \
        PARAMS,                                                                  \
        static_cast<std::int32_t>(sizeof(PARAMS) / sizeof(PARAMS[0]))};          \
    GNNBENCH_EXPORT void* gnnbench_plugin_create() {                             \
        return static_cast<::gnnbench::GNNBENCH_INTERFACE_##KIND*>(new CLASS()); \
    }

#define GNNBENCH_PLUGIN_WITHOUT_PARAMS(KIND, CLASS, NAME, VERSION, SUMMARY)      \
    GNNBENCH_EXPORT const ::gnnbench::PluginInfo gnnbench_plugin_info = {        \
        {'g', 'n', 'n', 'b', 'e', 'n', 'c', 'h'},                                \
        1,                                                                       \
        GNNBENCH_CORE_VERSION,                                                   \
        ::gnnbench::PluginKind::KIND,                                            \
        NAME,                                                                    \
        VERSION,                                                                 \
        GNNBENCH_BUILD_ID,                                                       \
        SUMMARY,                                                                 \
        nullptr,                                                                 \
        0};                                                                      \
    GNNBENCH_EXPORT void* gnnbench_plugin_create() {                             \
        return static_cast<::gnnbench::GNNBENCH_INTERFACE_##KIND*>(new CLASS()); \
    }

#define GNNBENCH_INTERFACE_strategy Strategy
#define GNNBENCH_INTERFACE_partitioner Partitioner
#define GNNBENCH_INTERFACE_kernel BackendPlugin
#define GNNBENCH_INTERFACE_importer Importer
