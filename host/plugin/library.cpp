#include "plugin/library.hpp"

#include <dlfcn.h>
#include <sys/resource.h>

#include <cstring>

#include <boost/dll/shared_library.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "plugin/description.hpp"

namespace gnnbench {
namespace {

namespace dll = boost::dll;

constexpr const char* info_symbol = "gnnbench_plugin_info";
constexpr const char* create_symbol = "gnnbench_plugin_create";

/// The reason is empty where the library is open.
std::string open_library(dll::shared_library& library, const std::filesystem::path& file,
                         dll::load_mode::type mode) {
    std::error_code failure;
    library.load(file, failure, mode);
    if (!failure) return {};
    const char* reason = ::dlerror();
    return reason ? reason : failure.message();
}

/// The info symbol of an open library, or nullptr where it has none.
const PluginInfo* read_info(const dll::shared_library& library) {
    if (!library.has(info_symbol)) return nullptr;
    return &library.get<const PluginInfo>(info_symbol);
}

/// A library that cannot be opened is often a plugin of another version with missing symbols.
/// Opened lazily, its description may still say so.
[[noreturn]] void refuse_unopened(const std::filesystem::path& file, const std::string& reason, PluginKind kind,
                                  std::string_view name) {
    dll::shared_library library;
    if (open_library(library, file, dll::load_mode::rtld_lazy).empty()) {
        const PluginInfo* info = read_info(library);
        const std::string other = info ? mismatch(*info, kind, name) : std::string();
        if (!other.empty()) throw PluginError(file.string() + other);
    }
    throw PluginError(
        fmt::format("{} cannot be opened: {}. A library it needs may be missing (ldd tells), or it "
                    "was built against another gnnbench.",
                    file.string(), reason));
}

bool complete(const PluginInfo& info) {
    return info.name && info.version && info.build_id && info.summary && info.param_count >= 0 &&
           (info.params || info.param_count == 0);
}

}  // namespace

std::string_view kind_name(PluginKind kind) {
    switch (kind) {
        case PluginKind::strategy:
            return "strategy";
        case PluginKind::partitioner:
            return "partitioner";
        case PluginKind::kernel:
            return "kernel";
        case PluginKind::importer:
            return "importer";
    }
    return "unknown";
}

std::string mismatch(const PluginInfo& info, PluginKind kind, std::string_view name) {
    if (std::string wrong = why_not_loaded({info, {}}); !wrong.empty()) return wrong;
    if (!complete(info))
        return " has an incomplete description: name, version, build id and summary must be set. Declare it with "
               "GNNBENCH_PLUGIN.";
    if (std::strcmp(info.build_id, GNNBENCH_BUILD_ID) != 0)
        return fmt::format(" was built with [{}]; this gnnbench was built with [{}]. They must be the same. {}",
                           info.build_id, GNNBENCH_BUILD_ID, rebuild_plugin);
    if (info.kind != kind || info.name != name)
        return fmt::format(" contains the {} \"{}\", but its file name says {} \"{}\". Name the file lib{}_{}.so.",
                           kind_name(info.kind), info.name, kind_name(kind), name, kind_name(info.kind),
                           info.name);
    return {};
}

namespace {

/// OpenBLAS, which a kernel may link, reserves its buffers as it is loaded, and tries again without end where a limit on
/// address space refuses them.
void require_address_space(std::string_view kernel) {
    constexpr rlim_t least_bytes = rlim_t{1} << 30;
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY || space.rlim_cur >= least_bytes)
        return;
    throw EnvironmentError(fmt::format(
        "the limit on address space is {} MiB, too little to load the kernel {}: its libraries may wait "
        "without end for what they do not get; raise it to {} MiB or more with ulimit -v",
        space.rlim_cur >> 20, kernel, least_bytes >> 20));
}

}  // namespace

PluginLibrary PluginLibrary::open(const std::filesystem::path& file, PluginKind kind, std::string_view name) {
    // Opening a library runs its constructors, so anything but a plugin of this interface is refused before.
    const std::optional<FileDescription> described = read_description(file);
    if (!described)
        throw PluginError(
            fmt::format("{} is not a gnnbench plugin: it exports no {}. Declare it with GNNBENCH_PLUGIN, "
                        "or remove the file from the plugin folder.",
                        file.string(), info_symbol));
    if (const std::string other = why_not_loaded(*described); !other.empty())
        throw PluginError(file.string() + other);

    if (kind == PluginKind::kernel) require_address_space(name);
    dll::shared_library library;
    const std::string reason = open_library(library, file, dll::load_mode::rtld_now);
    if (!reason.empty()) refuse_unopened(file, reason, kind, name);
    const PluginInfo* info = read_info(library);
    if (!info) throw PluginError(fmt::format("{} hides the {} that its file has.", file.string(), info_symbol));
    const std::string wrong = mismatch(*info, kind, name);
    if (!wrong.empty()) throw PluginError(file.string() + wrong);
    if (!library.has(create_symbol))
        throw PluginError(fmt::format("{} describes a plugin but exports no {}. Declare it with GNNBENCH_PLUGIN.",
                                      file.string(), create_symbol));

    // RTLD_NODELETE keeps it when `library` closes its handle.
    if (!::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE))
        throw PluginError(fmt::format("{} cannot be kept open: {}.", file.string(), ::dlerror()));
    return {info, &library.get<void*()>(create_symbol)};
}

}  // namespace gnnbench
