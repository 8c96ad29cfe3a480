#include "plugin/loader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include <sys/stat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/importer.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/spelling.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/usize.hpp>

#include "plugin/places.hpp"

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array kinds = {PluginKind::strategy, PluginKind::partitioner, PluginKind::kernel,
                              PluginKind::importer};

}  // namespace

std::vector<fs::path> plugin_folders() {
    std::vector<fs::path> folders;
    const char* variable = std::getenv("GNNBENCH_PLUGIN_PATH");
    std::string_view rest = variable ? variable : "";
    while (!rest.empty()) {
        const std::size_t colon = std::min(rest.find(':'), rest.size());
        if (colon > 0) folders.emplace_back(rest.substr(0, colon));
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    folders.push_back(own_plugin_folder());
    return folders;
}

std::optional<PluginCatalog::File> PluginCatalog::parse(const fs::path& path, std::size_t folder) {
    if (path.extension() != ".so") return std::nullopt;
    const std::string stem = path.stem().string();
    for (PluginKind kind : kinds) {
        const std::string prefix = fmt::format("lib{}_", kind_name(kind));
        if (stem.size() > prefix.size() && stem.starts_with(prefix))
            return File{kind, stem.substr(prefix.size()), folder, path};
    }
    return std::nullopt;
}

PluginCatalog::PluginCatalog(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
        // A folder that is listed twice does not shadow itself.
        fs::path whole = fs::absolute(folder).lexically_normal();
        if (std::find(folders_.begin(), folders_.end(), whole) == folders_.end())
            folders_.push_back(std::move(whole));
    }
    for (std::size_t i = 0; i < folders_.size(); ++i) {
        std::error_code unreadable;
        for (const fs::directory_entry& entry : fs::directory_iterator(folders_[i], unreadable))
            if (auto file = parse(entry.path(), i)) files_.push_back(std::move(*file));
    }
    std::sort(files_.begin(), files_.end(), [](const File& a, const File& b) {
        return std::tie(a.kind, a.name, a.folder) < std::tie(b.kind, b.name, b.folder);
    });
}

std::vector<std::string> PluginCatalog::names(PluginKind kind) const {
    std::vector<std::string> found;
    for (const File& f : files_)
        if (f.kind == kind && (found.empty() || found.back() != f.name)) found.push_back(f.name);
    return found;
}

std::vector<std::string> exposed_folders(const std::vector<fs::path>& folders) {
    std::vector<std::string> said;
    for (const fs::path& folder : folders) {
        struct stat info{};
        if (::stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0)
            said.push_back(
                fmt::format("anyone can write to the plugin folder {}, and so run code as you: chmod o-w {}",
                            folder.string(), folder.string()));
    }
    return said;
}

void PluginCatalog::examine_here(ListedPlugin& plugin) {
    try {
        const PluginLibrary library = PluginLibrary::open(plugin.file, plugin.kind, plugin.name);
        plugin.version = library.info().version;
        plugin.summary = library.info().summary;
    } catch (const PluginError& e) {
        plugin.refused = e.what();
    }
}

std::vector<ListedPlugin> PluginCatalog::list(const Examine& examine) const {
    std::vector<ListedPlugin> listed;
    const File* winner = nullptr;
    for (const File& f : files_) {
        ListedPlugin entry{.kind = f.kind,
                           .name = f.name,
                           .file = f.path,
                           .shadowed_by = {},
                           .version = {},
                           .summary = {},
                           .refused = {}};
        if (winner && winner->kind == f.kind && winner->name == f.name) {
            entry.shadowed_by = winner->path;
        } else {
            winner = &f;
            examine(entry);
        }
        listed.push_back(std::move(entry));
    }
    return listed;
}

std::string PluginCatalog::not_found(PluginKind kind, std::string_view name) const {
    const std::vector<std::string> there = names(kind);
    if (there.empty()) {
        std::vector<std::string> searched;
        for (const fs::path& folder : folders_) searched.push_back(folder.string());
        return fmt::format(
            "there is no {} plugin \"{}\", nor any other {}: searched {}. Build the plugins, or name "
            "their folder in GNNBENCH_PLUGIN_PATH.",
            kind_name(kind), name, kind_name(kind), fmt::join(searched, ", "));
    }
    return fmt::format("there is no {} plugin \"{}\"; there are: {}{}", kind_name(kind), name,
                       fmt::join(there, ", "), did_you_mean(name, there));
}

const PluginCatalog::File& PluginCatalog::file_of(PluginKind kind, std::string_view name) const {
    const auto found = std::find_if(files_.begin(), files_.end(),
                                    [&](const File& f) { return f.kind == kind && f.name == name; });
    if (found == files_.end()) throw PluginError(not_found(kind, name));
    return *found;
}

PluginLibrary PluginCatalog::open(PluginKind kind, std::string_view name) const {
    return PluginLibrary::open(file_of(kind, name).path, kind, name);
}

namespace {

/// Which order vertices have inside a part is no partitioner's business: the host gives each the parameter, and obeys
/// it (host/partition/ordered.hpp).
constexpr ParamDecl order_declaration = {"order",
                                         ParamType::choice,
                                         "natural",
                                         0,
                                         0,
                                         "natural|random|degree|rcm",
                                         "how vertices lie inside a part: by id, at random, by descending entries "
                                         "of their rows, or reverse Cuthill–McKee"};

/// The declarations and that one. They live as long as the process, as the plugin's own do.
std::span<const ParamDecl> with_order(const std::filesystem::path& file, std::span<const ParamDecl> declared) {
    static std::mutex extending;
    static std::map<std::filesystem::path, std::vector<ParamDecl>> extended;
    const std::lock_guard lock(extending);
    auto& all = extended[file];
    if (!all.empty()) return all;
    for (const ParamDecl& d : declared)
        if (std::string_view(d.name) == order_declaration.name)
            throw PluginError(fmt::format(
                "{} declares a parameter '{}', which every partitioner has from the host", file.string(), d.name));
    all.assign(declared.begin(), declared.end());
    all.push_back(order_declaration);
    return all;
}

}  // namespace

PluginDescription PluginCatalog::find(PluginKind kind, std::string_view name) const {
    const File& file = file_of(kind, name);
    const PluginInfo& info = PluginLibrary::open(file.path, kind, name).info();
    const std::span<const ParamDecl> declared = {info.params, usize(info.param_count)};
    return {kind,         info.name, info.version,
            info.summary, file.path, kind == PluginKind::partitioner ? with_order(file.path, declared) : declared};
}

std::unique_ptr<Strategy> PluginCatalog::strategy(std::string_view name) const {
    return std::unique_ptr<Strategy>(static_cast<Strategy*>(open(PluginKind::strategy, name).create()));
}

std::unique_ptr<Partitioner> PluginCatalog::partitioner(std::string_view name) const {
    return std::unique_ptr<Partitioner>(static_cast<Partitioner*>(open(PluginKind::partitioner, name).create()));
}

std::unique_ptr<BackendPlugin> PluginCatalog::kernel(std::string_view name) const {
    return std::unique_ptr<BackendPlugin>(static_cast<BackendPlugin*>(open(PluginKind::kernel, name).create()));
}

std::unique_ptr<Importer> PluginCatalog::importer(std::string_view name) const {
    return std::unique_ptr<Importer>(static_cast<Importer*>(open(PluginKind::importer, name).create()));
}

}  // namespace gnnbench
