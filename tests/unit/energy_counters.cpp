// What is added up from counters: across wrap-arounds, over packages, and over devices.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "energy/nvml.hpp"
#include "energy/processors.hpp"
#include "energy/window.hpp"
#include "energy_support.hpp"

using namespace gnnbench;
using namespace gnnbench::energy_tests;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("energy: a counter that begins again goes on") {
    const auto start = WrappingCounter::Clock::now();
    WrappingCounter counter(10'000'000'000, 9'000'000'000, start);  // 10 kJ, which 1 kW needs 10 s for
    CHECK(counter.safe_s() == Approx(10));
    CHECK(counter.read(9'500'000'000, start + 2s));
    CHECK(counter.joules() == Approx(500));
    CHECK(counter.read(400'000'000, start + 8s));  // 500 J to the end of its range, 400 J from its beginning
    CHECK(counter.joules() == Approx(1400));
    CHECK(counter.read(400'000'000, start + 9s));
    CHECK(counter.joules() == Approx(1400));
    CHECK_FALSE(counter.read(500'000'000, start + 19500ms));  // once, or twice?
}

TEST_CASE("energy: the sum over packages and DRAM, wherever each of their counters is") {
    FakePowercap tree;
    tree.add("intel-rapl:0", "package-0", 262'143'000'000);
    tree.add("intel-rapl:0/intel-rapl:0:0", "core", 0);
    tree.add("intel-rapl:0/intel-rapl:0:1", "dram", 7'000'000);
    tree.add("intel-rapl:1", "package-1", 5'000'000);
    ProcessorEnergy energy(find_zones(tree.path(), false).zones);
    CHECK(energy.joules() == 0);
    tree.count("intel-rapl:0", 671'150);  // 328,850 µJ, and 671,150
    tree.count("intel-rapl:0/intel-rapl:0:0", 500'000'000);
    tree.count("intel-rapl:0/intel-rapl:0:1", 7'250'000);
    tree.count("intel-rapl:1", 8'000'000);
    CHECK(energy.joules() == Approx(1 + 0.25 + 3));
    tree.count("intel-rapl:1", 10'000'000);
    CHECK(energy.joules() == Approx(6.25));
}

TEST_CASE("energy: between two readings far apart a thread reads, so that no wrap-around is missed") {
    FakePowercap tree;
    tree.add("intel-rapl:0", "package-0", 0, 8'000'000'000);  // 8 kJ: at 1 kW 8 s, so it is read each 2 s
    ProcessorEnergy energy(find_zones(tree.path(), false).zones);
    tree.count("intel-rapl:0", 7'000'000'000);
    std::this_thread::sleep_for(2500ms);
    tree.count("intel-rapl:0", 7'500'000'000);  // it seems to have gone 500 J on, or by 7,500 J
    CHECK(energy.joules() == Approx(7500));
    tree.count("intel-rapl:0", 6'000'000'000);
    CHECK(energy.joules() == Approx(14000));
}

TEST_CASE("energy: what cannot be known is an error, and stays one") {
    FakePowercap tree;
    tree.add("intel-rapl:0", "package-0", 0, 1000);  // 1 mJ: it may wrap within a microsecond
    ProcessorEnergy quick(find_zones(tree.path(), false).zones);
    CHECK_THROWS_WITH(quick.joules(), Contains("may have wrapped twice") && Contains("package-0"));
    tree.add("intel-rapl:0", "package-0", 0);
    CHECK_THROWS_WITH(quick.joules(), Contains("may have wrapped twice"));
    ProcessorEnergy gone(find_zones(tree.path(), false).zones);
    fs::remove(tree.path() / "intel-rapl:0/energy_uj");
    CHECK_THROWS_WITH(gone.joules(), Contains("energy_uj"));
}

TEST_CASE("energy: a window has to last ten updates of its counter, and more the more windows there are") {
    const double ms = ProcessorEnergy::update_s;
    CHECK(why_too_coarse({.seconds = 10 * ms, .joules = 1}, ms).empty());
    CHECK_THAT(why_too_coarse({.seconds = 9 * ms, .joules = 1}, ms), Contains("too short: 0.009 s in 1 window,"));
    CHECK(why_too_coarse({.seconds = 100 * ms, .joules = 1, .windows = 100}, ms).empty());
    CHECK_THAT(why_too_coarse({.seconds = 99 * ms, .joules = 1, .windows = 100}, ms), Contains("in 100 windows"));
    CHECK_THAT(why_too_coarse({.seconds = 1, .joules = 0}, ms), Contains("stood still for 1 s"));
}

TEST_CASE("energy: devices by their UUIDs, each once") {
    const TemporaryFolder folder("nvml");
    const std::string counts = folder.path() / "counts";
    setenv("FAKE_NVML", counts.c_str(), 1);
    const char* library = GNNBENCH_FAKE_NVML;
    std::ofstream(counts) << "GPU-1 5000\nGPU-2 -3\nGPU-3 70000\n";
    const std::vector<std::string> shared{"GPU-3", "GPU-1", "GPU-3"};
    const DeviceEnergy energy(shared, library);
    CHECK(energy.joules() == Approx(75));
    std::ofstream(counts) << "GPU-1 6500\nGPU-2 -3\nGPU-3 71000\n";
    CHECK(energy.joules() == Approx(77.5));
    CHECK(DeviceEnergy::readable(library) == "2 of 3 devices");

    const auto one = [&](const char* uuid) {
        return DeviceEnergy(std::vector<std::string>{uuid}, library).joules();
    };
    CHECK_THROWS_WITH(one("GPU-2"),
                      Contains("nvmlDeviceGetTotalEnergyConsumption of GPU-2") && Contains("Not Supported"));
    CHECK_THROWS_WITH(one("GPU-9"), Contains("GPU-9") && Contains("Not Found"));
    std::ofstream(counts) << "GPU-1 -3\n";
    CHECK_THROWS_WITH(energy.joules(), Contains("GPU-3") && Contains("Not Found"));
    CHECK_THROWS_WITH(DeviceEnergy::readable(library), Contains("Not Supported"));
    std::ofstream(counts) << "";
    CHECK_THROWS_WITH(DeviceEnergy::readable(library), "NVML knows no device");
    unsetenv("FAKE_NVML");
    CHECK_THROWS_WITH(DeviceEnergy(shared, "libgnnbench-none.so"), Contains("NVML cannot be loaded"));
    CHECK_THROWS_WITH(DeviceEnergy(shared, "libc.so.6"), Contains("too old") && Contains("nvmlInit_v2"));
}
