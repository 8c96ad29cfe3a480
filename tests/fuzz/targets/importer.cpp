// What an importer plugin may hand over, right or wrong, in memory and sorted on disk: the first three characters choose
// memory and options, the rest is the script of tests/fixtures/scripted_importer.cpp.
#include "fuzz/both_ways.hpp"
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/scratch.hpp"
#include "fuzz/targets/target.hpp"

#include <array>
#include <cstdlib>

using namespace gnnbench;
using nlohmann::json;

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(text) {
    static const fuzz::Scratch scratch;
    static const bool set = ::setenv("GNNBENCH_PLUGIN_PATH", GNNBENCH_SCRIPTED_IMPORTER, 1) == 0;
    static constexpr std::array repeats = {"drop", "sum", "error"};
    static constexpr std::array directed = {"auto", "true", "false"};
    if (text.size() < 3 || !set) return;
    const auto choice = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) - unsigned{'0'}; };
    const json options = {{"features", 1},
                          {"classes", 2},
                          {"directed", directed[choice(1) % 3]},
                          {"loops", choice(2) & 1 ? "drop" : "keep"},
                          {"reverse", (choice(2) & 2) != 0},
                          {"repeats", repeats[choice(2) / 4 % 3]}};
    const std::uint64_t little_bytes = (1 + choice(0) % 64) * std::uint64_t{400};
    const auto stores = scratch.path() / "stores";
    std::filesystem::create_directory(stores);
    test::import_both_ways(scratch.write("input.script", text.substr(3)), "scripted", options, little_bytes,
                           stores);
}
