#include <data/catalog.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include <data/options.hpp>

namespace gnnbench {

namespace fs = std::filesystem;

Catalog Catalog::at(const std::string& data_dir) {
    if (!data_dir.empty()) return Catalog(data_dir);
    const char* from_environment = std::getenv("GNNBENCH_DATA");
    return Catalog(from_environment && *from_environment ? from_environment : "datasets");
}

std::vector<CatalogEntry> Catalog::list(const std::string& beginning) const {
    std::vector<CatalogEntry> entries;
    std::error_code none;
    for (const auto& item : fs::directory_iterator(folder_, none)) {
        auto name = item.path().filename().string();
        if (!name.starts_with(beginning) || name.starts_with('.') || !item.is_directory() ||
            !fs::exists(item.path() / "manifest.json"))
            continue;
        CatalogEntry entry{.folder = name, .manifest = {}, .problem = {}};
        try {
            entry.manifest = read_manifest(item.path() / "manifest.json");
        } catch (const DataError& e) {
            entry.problem = e.what();
        }
        entries.push_back(std::move(entry));
    }
    std::ranges::sort(entries, {}, &CatalogEntry::folder);
    return entries;
}

fs::path Catalog::find(const std::string& name) const {
    if (name.empty()) throw SpecError("a dataset's name is empty; `gnnbench dataset list` shows what there is");
    if (fs::exists(folder_ / name / "manifest.json")) return folder_ / name;
    if (name.find('/') != name.npos && fs::exists(fs::path(name) / "manifest.json")) return name;
    std::vector<std::string> folders, named;
    for (const auto& entry : list()) {
        folders.push_back(entry.manifest.name.empty() ? entry.folder : entry.manifest.name);
        if (entry.manifest.name == name) named.push_back(entry.folder);
    }
    if (named.size() == 1) return folder_ / named.front();
    if (named.size() > 1)
        throw DataError(fmt::format("there are {} datasets named '{}' in {}; name one by its folder: {}",
                                    named.size(), name, folder_.string(), fmt::join(named, ", ")));
    throw DataError(fmt::format("there is no dataset '{}' in {}; {}{}", name, folder_.string(),
                                folders.empty() ? "it has none: import or generate one"
                                                : fmt::format("it has {}", fmt::join(folders, ", ")),
                                did_you_mean(name, folders)));
}

}  // namespace gnnbench
