// Which counters of a powercap tree are the energy of a host, and why there may be none.
#include <unistd.h>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "energy/powercap.hpp"
#include "energy_support.hpp"

using namespace gnnbench;
using namespace gnnbench::energy_tests;
using Catch::Contains;

namespace {

std::vector<std::string> names_of(const EnergyZones& found) {
    INFO(found.reason);
    CHECK(found.reason.empty());
    std::vector<std::string> names;
    for (const EnergyZone& zone : found.zones) names.push_back(zone.name);
    return names;
}

}  // namespace

TEST_CASE("energy: packages and their DRAM count, and what they contain does not count twice") {
    FakePowercap tree;
    tree.add("intel-rapl:0", "package-0", 1000);
    tree.add("intel-rapl:0/intel-rapl:0:0", "core", 600);
    tree.add("intel-rapl:0/intel-rapl:0:1", "dram", 100, 65712999613);
    tree.add("intel-rapl:1", "package-1", 2000);
    tree.add("intel-rapl:1/intel-rapl:1:0", "uncore", 50);
    tree.add("intel-rapl:1/intel-rapl:1:1", "dram", 200);
    tree.add("intel-rapl:2", "psys", 9000);
    tree.add("intel-rapl-mmio:0", "package-0", 1000);
    // sysfs lists a nested zone beside the one that contains it, too.
    fs::create_directory_symlink(tree.path() / "intel-rapl:0/intel-rapl:0:1", tree.path() / "intel-rapl:0:1");
    fs::create_directory_symlink(tree.path() / "intel-rapl:1/intel-rapl:1:1", tree.path() / "intel-rapl:1:1");
    const EnergyZones found = find_zones(tree.path(), false);
    CHECK(names_of(found) ==
          std::vector<std::string>{"package-0", "dram of package-0", "package-1", "dram of package-1"});
    CHECK(found.zones.at(1).range_uj == 65712999613);
    CHECK(read_counter(found.zones.at(1).counter) == 100);
}

TEST_CASE("energy: the packages of one socket's dies are counters of their own") {
    FakePowercap tree;
    tree.add("intel-rapl:0", "package-0-die-0", 1);
    tree.add("intel-rapl:1", "package-0-die-1", 2);
    CHECK(names_of(find_zones(tree.path(), true)) ==
          std::vector<std::string>{"package-0-die-0", "package-0-die-1"});
}

TEST_CASE("energy: a host without counters says why") {
    FakePowercap tree;
    const fs::path nowhere = tree.path() / "nowhere";
    CHECK_THAT(find_zones(nowhere, false).reason, Contains("no powercap tree") && Contains(nowhere.string()));
    CHECK_THAT(find_zones(nowhere, true).reason, Contains("virtual machine"));
    CHECK_THAT(find_zones(tree.path(), false).reason, Contains("no package has a counter"));
    tree.add("intel-rapl:0", "psys", 5);
    CHECK_THAT(find_zones(tree.path(), false).reason, Contains("no package has a counter"));
    tree.add("intel-rapl:1", "package-0", 5);
    std::ofstream(tree.path() / "intel-rapl:1/energy_uj") << "many\n";
    CHECK_THAT(find_zones(tree.path(), false).reason, Contains("energy_uj holds no number but 'many'"));
    fs::remove(tree.path() / "intel-rapl:1/energy_uj");
    CHECK_THAT(find_zones(tree.path(), false).reason, Contains("cannot read") && Contains("No such file"));
}

TEST_CASE("energy: counters that only root may read") {
    FakePowercap tree;
    tree.add("intel-rapl:0", "package-0", 5);
    const fs::path counter = tree.path() / "intel-rapl:0/energy_uj";
    fs::permissions(counter, fs::perms::none);
    const int code = in_child([&] {
        if (geteuid() == 0 && setuid(65534) != 0) return 3;  // root may read everything
        const EnergyZones found = find_zones(tree.path(), false);
        return found.zones.empty() && found.reason == "readable by root only: " + counter.string() ? 0 : 1;
    });
    CHECK(code == 0);
}
