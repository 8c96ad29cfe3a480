#include "calibrate/calibrate.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <gnnbench/caches.hpp>
#include <gnnbench/error.hpp>

#include "calibrate/machine_text.hpp"
#include "launch/machine.hpp"
#include "launch/trial.hpp"

namespace gnnbench {
namespace {

constexpr double limit_s = 300;

}  // namespace

MachineSamples samples_of_ranks(int ranks, int threads) {
    const RankLoad load{.ranks = ranks, .threads_per_rank = threads, .cores = usable_cores()};
    const ProgramOutput out =
        run_workers(find_mpiexec(), load, {"--calibrate", std::to_string(threads)}, "calibrate", limit_s);
    const std::size_t at = out.text.find(samples_mark);
    if (out.exit_code != 0 || at == std::string::npos)
        throw EnvironmentError(
            fmt::format("{} ranks that measure ended with {} and without samples; they said: {}", ranks,
                        out.exit_code, out.text.substr(0, 2000)));
    const std::size_t begin = at + std::string_view(samples_mark).size();
    return machine_samples_from(nlohmann::json::parse(out.text.substr(begin, out.text.find('\n', begin) - begin)));
}

std::string calibrated_machine(const std::string& name, int threads, int cores, const SampleSource& source) {
    const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
    if (name.empty() || !std::ranges::all_of(name, plain))
        throw SpecError(fmt::format("a machine's name has letters, digits, '-', '_' and '.'; found '{}'", name));
    MachineFacts facts{.name = name,
                       .processor = cpu_model(),
                       .date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))),
                       .devices = cores / threads,
                       .threads = threads,
                       .memory_bytes = host_memory_bytes(),
                       .cache_bytes = last_level_cache_bytes()};
    if (facts.devices < 2)
        throw SpecError(fmt::format(
            "what two devices do together is measured, too: {} core{} cannot be two devices of {} thread{}", cores,
            cores == 1 ? "" : "s", threads, threads == 1 ? "" : "s"));
    const MachineSamples alone = source(1, threads), together = source(facts.devices, threads);
    return machine_text(facts, alone, together);
}

}  // namespace gnnbench
