// Graphs as text: the first character chooses the format, the rest is the file.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <data/import.hpp>

namespace fs = std::filesystem;
using namespace gnnbench;

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(text) {
    static constexpr std::array formats = {"matrix-market", "metis", "edge-list"};
    if (text.empty()) return;
    static const fs::path folder = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    const fs::path file = folder / ("fuzz-graph-" + std::to_string(::getpid()));
    std::ofstream(file, std::ios::binary) << text.substr(1);
    const auto remove = [&] { fs::remove(file); };
    // What is made up for a graph is little, so that a header that promises many vertices costs little.
    try {
        import_file(file, formats[static_cast<unsigned char>(text.front()) % formats.size()],
                    {{"features", 1}, {"classes", 2}});
    } catch (...) {
        remove();
        throw;
    }
    remove();
}
