// What the plugin package test asks of a host beyond gnnbench's own commands: loads one plugin and uses it.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "plugin/loader.hpp"

using namespace gnnbench;

namespace {

/// The parts of ten vertices without edges, in three parts.
void print_partition(const std::string& name) {
    const PluginCatalog catalog;
    const Params params(catalog.find(PluginKind::partitioner, name).params);
    const std::vector<std::int64_t> indptr(11, 0);
    const DatasetView data{.name = "",
                           .graph = {.indptr = indptr, .indices = {}, .weights = {}},
                           .features = {},
                           .labels = {},
                           .split = {}};
    const Partition p = catalog.partitioner(name)->partition(
        {.dataset = data, .model = {}, .need = {.parts = 3}, .params = params, .seed = 1});
    for (Part part : p.part_of) std::printf("%d ", part);
    std::printf("\n");
}

int act(const std::vector<std::string>& words) {
    if (words.size() == 2 && words[0] == "partition") {
        print_partition(words[1]);
    } else {
        std::fprintf(stderr, "usage: plugin_probe partition NAME\n");
        return 2;
    }
    return 0;
}

}  // namespace

int main(int count, char** words) try { return act({words + 1, words + count}); } catch (const PluginError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 5;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
