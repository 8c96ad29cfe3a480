// gossip_seeds [--first SEED] [--seeds N] [--trace SEED]: simulates the gossip protocols under many seeds, or one
// step by step. Exits with 0, with 1 where a seed failed, with 2 for bad usage.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>

#include "protocol/simulation.hpp"

using namespace gnnbench::test;

namespace {

std::optional<std::uint64_t> number(const char* text) {
    std::uint64_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return value;
}

// Prints a failed seed and how to repeat it.
bool ends_well(std::uint64_t seed, const char* program, bool trace, std::int64_t& averagings) {
    const SimulatedRun run = SimulatedRun::from_seed(seed);
    if (trace) std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), run.text().c_str());
    const SimulationResult result = simulate(run, trace);
    averagings += result.averagings;
    if (result.mistake.empty()) return true;
    std::printf("seed %llu FAILED: %s\n  %s\n  repeat with: %s --trace %llu\n",
                static_cast<unsigned long long>(seed), result.mistake.c_str(), run.text().c_str(), program,
                static_cast<unsigned long long>(seed));
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t first = 0, seeds = 10000;
    std::optional<std::uint64_t> traced;
    for (int i = 1; i < argc; i += 2) {
        const std::optional<std::uint64_t> value = i + 1 < argc ? number(argv[i + 1]) : std::nullopt;
        if (value && std::strcmp(argv[i], "--first") == 0) {
            first = *value;
        } else if (value && std::strcmp(argv[i], "--seeds") == 0) {
            seeds = *value;
        } else if (value && std::strcmp(argv[i], "--trace") == 0) {
            traced = *value;
        } else {
            std::fprintf(stderr, "%s: expected --first, --seeds or --trace, and a number; found \"%s\" \"%s\"\n",
                         argv[0], argv[i], i + 1 < argc ? argv[i + 1] : "");
            return 2;
        }
    }
    std::int64_t averagings = 0;
    if (traced) return ends_well(*traced, argv[0], true, averagings) ? 0 : 1;
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed)
        if (!ends_well(seed, argv[0], false, averagings)) ++failed;
    std::printf("%llu seeds from %llu: %llu failed, %lld averagings\n", static_cast<unsigned long long>(seeds),
                static_cast<unsigned long long>(first), static_cast<unsigned long long>(failed),
                static_cast<long long>(averagings));
    return failed == 0 ? 0 : 1;
}
