// Three ranks load plugins; one of them finds another file, or none. Every rank must learn the same and go on.
// usage: plugin_agreement <folder with partitioner "good"> <the same name, another file>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>

#include "plugin/agreement.hpp"
#include "plugin/loader.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

/// What agree_on_plugins throws on this rank; empty if it agrees.
std::string outcome(const ProcessGroup& group, const PluginCatalog& catalog, const std::string& name) {
    const std::vector<PluginRequest> wanted = {{PluginKind::partitioner, name}};
    try {
        agree_on_plugins(group, catalog, wanted);
    } catch (const PluginError& e) {
        return e.what();
    }
    return {};
}

/// All ranks were told the same, and it says (or does not say) what is expected.
bool holds(const ProcessGroup& group, const char* what, const std::string& told, const std::string& expected) {
    const std::vector<std::string> all = group.all_gather(told);
    bool good = expected.empty() ? told.empty() : told.find(expected) != std::string::npos;
    for (const std::string& other : all) good = good && other == told;
    if (!good)
        std::fprintf(stderr, "rank %d, %s: expected \"%s\" on every rank, was told \"%s\"\n", group.rank(), what,
                     expected.c_str(), told.c_str());
    return good;
}

bool check_all(const std::filesystem::path& folder, const std::filesystem::path& other) {
    const ProcessGroup world = mpi_world();
    const bool odd = world.rank() == 1;
    const PluginCatalog same({folder}), different({odd ? other : folder}),
        missing({odd ? folder / "nowhere" : folder});
    bool good = holds(world, "the same everywhere", outcome(world, same, "good"), "");
    good &= holds(world, "no such file on rank 1", outcome(world, missing, "good"), "rank 1 of 3 could not load");
    good &= holds(world, "another file on rank 1", outcome(world, different, "good"),
                  "rank 1 loaded different plugins");
    good &= holds(world, "refused everywhere", outcome(world, same, "other_api"), "version 4711");
    return good;
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    const bool good = count == 3 && check_all(words[1], words[2]);
    MPI_Finalize();
    return good ? 0 : 1;
}
