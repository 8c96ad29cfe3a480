// What a trial's ranks make of the counters of their hosts.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <catch2/catch.hpp>

#include "energy_support.hpp"
#include "worker/energy.hpp"

using namespace gnnbench;
using namespace gnnbench::energy_tests;
using namespace std::chrono_literals;
using Catch::Contains;
using nlohmann::json;

namespace {

/// One rank, alone on a host with one package.
struct Host {
    Host() {
        tree.add("intel-rapl:0", "package-0", 0);
        setenv("GNNBENCH_POWERCAP", tree.path().c_str(), 1);
    }
    ~Host() { unsetenv("GNNBENCH_POWERCAP"); }
    Host(const Host&) = delete;

    /// Epochs that take `joules` and 20 ms, which is enough for one window.
    void train(EnergyMeter& meter, int epochs, int warmups, int joules) {
        meter.begin();
        take(joules);
        std::this_thread::sleep_for(20ms);
        meter.end(epochs, warmups);
    }

    void take(int joules) {
        taken_j += joules;
        tree.count("intel-rapl:0", static_cast<std::uint64_t>(taken_j) * 1'000'000);
    }

    FakePowercap tree;
    int taken_j = 0;
    ProcessGroup alone = ProcessGroup::alone();
};

std::string reason(const EnergyMeter& meter, const char* of) { return meter.trial().at(of).value("reason", ""); }

}  // namespace

TEST_CASE("energy of a trial is that of its measured epochs; what lies between them does not count") {
    Host host;
    EnergyMeter meter(host.alone, "", "");
    REQUIRE(meter.reads());
    CHECK_THAT(reason(meter, "host"), Contains("no epoch was measured"));
    host.train(meter, 1, 1, 100);
    CHECK(meter.epoch().at("host_j") == Approx(100));  // a warm-up epoch has its own
    host.train(meter, 1, 0, 7);
    CHECK(meter.epoch() == json{{"host_j", 7.0}});
    host.take(50);  // an evaluation
    host.train(meter, 1, 0, 8);
    const json trial = meter.trial();
    CHECK(trial.at("host") == json{{"joules", 15.0}});
    CHECK(trial.at("joules") == 15.0);
    CHECK_THAT(reason(meter, "device"), Contains("no device"));
}

TEST_CASE("energy of epochs that follow without a pause is that of all together") {
    Host host;
    EnergyMeter meter(host.alone, "", "");
    host.train(meter, 3, 0, 30);
    CHECK(meter.epoch().is_null());
    CHECK(meter.trial().at("joules") == 30.0);
    EnergyMeter mixed(host.alone, "", "");
    host.train(mixed, 3, 1, 30);
    CHECK_THAT(reason(mixed, "host"), Contains("no reading separates warm-up"));
    CHECK_FALSE(mixed.trial().contains("joules"));
    CHECK_FALSE(mixed.reads());
    host.train(mixed, 1, 0, 5);
    CHECK_THAT(reason(mixed, "host"), Contains("no reading separates warm-up"));
}

TEST_CASE("energy that cannot be read has its reason, and no sum") {
    Host host;
    const EnergyMeter shared(host.alone, "", "other trials ran");
    CHECK_FALSE(shared.reads());
    CHECK(reason(shared, "host") == "other trials ran");

    const EnergyMeter gpu(host.alone, "GPU-none", "");
    CHECK_THAT(reason(gpu, "device"), Contains("nvml", Catch::CaseSensitive::No));

    EnergyMeter broken(host.alone, "", "");
    host.train(broken, 1, 0, 5);
    fs::remove(host.tree.path() / "intel-rapl:0/energy_uj");
    broken.begin();
    broken.end(1, 0);
    CHECK_THAT(reason(broken, "host"), Contains("energy_uj"));
    CHECK_FALSE(broken.trial().contains("joules"));

    host.tree.count("intel-rapl:0", 1);
    EnergyMeter still(host.alone, "", "");
    still.begin();
    std::this_thread::sleep_for(20ms);
    still.end(1, 0);
    CHECK_THAT(reason(still, "host"), Contains("stood still"));
}
