#include "plugin/agreement.hpp"

#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>

#include "plugin/loader.hpp"

namespace gnnbench {
namespace {

constexpr std::string_view failed = "failed: ";

struct CloseFile {
    void operator()(std::FILE* f) const { std::fclose(f); }
};
struct FreeState {
    void operator()(XXH3_state_t* s) const { XXH3_freeState(s); }
};

/// XXH3-64 of a file's content, 16 hex digits.
std::string file_digest(const std::filesystem::path& path) {
    std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
    if (!file || !state) throw PluginError(fmt::format("{} cannot be read.", path.string()));
    XXH3_64bits_reset(state.get());
    std::vector<char> block(1 << 16);
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get()))
        XXH3_64bits_update(state.get(), block.data(), n);
    if (std::ferror(file.get())) throw PluginError(fmt::format("{} cannot be read to its end.", path.string()));
    return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

}  // namespace

std::string load_report(const PluginCatalog& catalog, std::span<const PluginRequest> wanted) {
    std::string report = fmt::format("ok [{}]", GNNBENCH_BUILD_ID);
    try {
        for (const PluginRequest& request : wanted) {
            const PluginDescription plugin = catalog.find(request.kind, request.name);
            report += fmt::format("; {} {} {}, file digest {}", kind_name(plugin.kind), plugin.name,
                                  plugin.version, file_digest(plugin.file));
        }
    } catch (const PluginError& e) {
        return std::string(failed) + e.what();
    }
    return report;
}

std::string disagreement(const std::vector<std::string>& reports) {
    for (std::size_t rank = 0; rank < reports.size(); ++rank)
        if (reports[rank].starts_with(failed))
            return fmt::format("rank {} of {} could not load the trial's plugins: {}", rank, reports.size(),
                               reports[rank].substr(failed.size()));
    for (std::size_t rank = 1; rank < reports.size(); ++rank)
        if (reports[rank] != reports[0])
            return fmt::format(
                "rank {} loaded different plugins from rank 0: \"{}\" against \"{}\". Install the same "
                "build of gnnbench and its plugins on every host.",
                rank, reports[rank], reports[0]);
    return {};
}

void agree_on_plugins(const ProcessGroup& group, const PluginCatalog& catalog,
                      std::span<const PluginRequest> wanted) {
    const std::string wrong = disagreement(group.all_gather(load_report(catalog, wanted)));
    if (!wrong.empty()) throw PluginError(wrong);
}

}  // namespace gnnbench
