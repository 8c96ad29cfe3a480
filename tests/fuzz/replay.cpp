// Stands in for libFuzzer in CI, where clang's run-time library is not installed: every target, built with the release build's
// compiler, reads each of its seeds and some fixed mutations of each. Usage: fuzz_replay SEEDS TARGET.
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <gnnbench/version.hpp>

// The entries of targets/*.cpp, which CMakeLists.txt gives names of their own.
#define GNNBENCH_FUZZ_ENTRIES(NAME)                                                                      \
    extern "C" int gnnbench_fuzz_##NAME(const std::uint8_t* data, std::size_t size);                     \
    extern "C" std::size_t gnnbench_mutate_##NAME(std::uint8_t* data, std::size_t size, std::size_t max, \
                                                  unsigned seed);
GNNBENCH_FUZZ_ENTRIES(arrays)
GNNBENCH_FUZZ_ENTRIES(graphs)
GNNBENCH_FUZZ_ENTRIES(importer)
GNNBENCH_FUZZ_ENTRIES(imports)
GNNBENCH_FUZZ_ENTRIES(journal)
GNNBENCH_FUZZ_ENTRIES(sorting)
GNNBENCH_FUZZ_ENTRIES(spec)
GNNBENCH_FUZZ_ENTRIES(where)

/// libFuzzer's own mutation: here, one byte changed.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t) {
    if (size > 0) data[size / 2] ^= 0x20U;
    return size;
}

namespace {

namespace fs = std::filesystem;

struct Target {
    std::string_view name;
    int (*read)(const std::uint8_t*, std::size_t);
    std::size_t (*mutate)(std::uint8_t*, std::size_t, std::size_t, unsigned);
};
constexpr Target targets[] = {{"arrays", gnnbench_fuzz_arrays, gnnbench_mutate_arrays},
                              {"graphs", gnnbench_fuzz_graphs, gnnbench_mutate_graphs},
                              {"importer", gnnbench_fuzz_importer, gnnbench_mutate_importer},
                              {"imports", gnnbench_fuzz_imports, gnnbench_mutate_imports},
                              {"journal", gnnbench_fuzz_journal, gnnbench_mutate_journal},
                              {"sorting", gnnbench_fuzz_sorting, nullptr},
                              {"spec", gnnbench_fuzz_spec, gnnbench_mutate_spec},
                              {"where", gnnbench_fuzz_where, gnnbench_mutate_where}};

constexpr unsigned mutations_of_each = 10;
constexpr std::size_t longest_input = 4096;  // as `./dev fuzz`
constexpr rlim_t memory_bytes = rlim_t{4} << 30;

std::size_t replay(const Target& target, const fs::path& seed) {
    std::ifstream in(seed, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    target.read(bytes.data(), bytes.size());
    const unsigned mutations = target.mutate ? mutations_of_each : 0;
    for (unsigned i = 0; i < mutations; ++i) {
        std::vector<std::uint8_t> changed = bytes;
        changed.resize(std::max(longest_input, bytes.size()));
        changed.resize(target.mutate(changed.data(), bytes.size(), changed.size(), i + 1));
        target.read(changed.data(), changed.size());
    }
    return 1 + mutations;
}

}  // namespace

int main(int argc, char** argv) {
    const auto* target =
        argc == 3 ? std::ranges::find(targets, std::string_view(argv[2]), &Target::name) : std::end(targets);
    if (target == std::end(targets)) {
        std::fprintf(stderr, "usage: fuzz_replay SEEDS TARGET\n");
        return 2;
    }
    if (std::string_view(GNNBENCH_SANITIZER) == "none") {  // a sanitizer needs its address space
        const rlimit memory{memory_bytes, memory_bytes};
        setrlimit(RLIMIT_AS, &memory);
    }
    std::size_t executions = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(argv[1]) / target->name))
        executions += replay(*target, entry.path());
    std::printf("%s: %zu executions\n", argv[2], executions);
    return executions > 0 ? 0 : 1;
}
