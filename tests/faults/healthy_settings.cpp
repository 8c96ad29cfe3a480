// The settings of healthy_settings.csv, none of which verification may accuse, and few of which it may call
// ill-conditioned. Each launch verifies those of its number of ranks. GNNBENCH_SETTINGS=n: every n-th of them.
#include <cstdlib>
#include <iostream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "faults/settings.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::faults;

namespace {

/// Of 250 settings no more than 5 may be ill-conditioned: by number of ranks, so that no launch needs another's count.
int most_ill_conditioned(int ranks) { return ranks == 2 ? 2 : ranks == 4 ? 1 : 2; }

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// Says what became of one: on rank 0, and not only where something failed.
void tell(const HealthySetting& s, const VerifiedTraining& v) {
    std::string found = v.rounding.empty() ? "" : "; " + v.rounding;
    if (!v.ill_conditioned.empty()) found += "; ILL-CONDITIONED: " + v.ill_conditioned;
    for (const auto& f : v.faults) found += "\n  ACCUSED by " + f.check + ": " + f.text;
    std::cout << fmt::format("{:3} {}: step {:.3g}, loss {:.1e}, gradient {:.1e}, response {:.1e}, {:.1f} s{}\n",
                             s.number, s.text, v.learning_rate, v.loss_error, v.gradient_error, v.response,
                             v.plain_s + v.checked_s + v.float64_s + v.response_s, found)
              << std::flush;
}

}  // namespace

TEST_CASE("healthy settings: none is accused, few are ill-conditioned") {
    const ProcessGroup world = mpi_world();
    const std::string every = from_environment("GNNBENCH_SETTINGS");
    const int stride = every.empty() ? 1 : std::stoi(every);
    SettingGraphs graphs(from_environment("GNNBENCH_SHARED_DATA"), from_environment("GNNBENCH_SETTING_STORES"));
    int verified = 0, rounded = 0, ill_conditioned = 0, seen = 0;
    for (const HealthySetting& s : read_settings(GNNBENCH_HEALTHY_SETTINGS)) {
        if (s.ranks != world.size() || seen++ % stride != 0) continue;
        const VerifiedTraining v = verify(s, graphs.view(s.graph, world), s.scheme, {}, world);
        if (world.rank() == 0) tell(s, v);
        INFO(s.number << ": " << s.text);
        for (const auto& f : v.faults) UNSCOPED_INFO(f.check << ": " << f.text);
        CHECK(v.faults.empty());
        ++verified;
        rounded += !v.rounding.empty();
        ill_conditioned += !v.ill_conditioned.empty();
    }
    REQUIRE(verified > 0);
    CHECK(ill_conditioned <= most_ill_conditioned(world.size()));
    if (world.rank() == 0)
        WARN(
            fmt::format("{} settings on {} ranks: {} further off than 1e-4, which rounding explains, {} "
                        "ill-conditioned",
                        verified, world.size(), rounded, ill_conditioned));
}
