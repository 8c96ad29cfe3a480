#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "calibrate/calibrate.hpp"
#include "calibrate/machine_text.hpp"
#include "spec/machine_file.hpp"

// MachineSamples of a machine whose numbers are round, made up by the equations that calibration inverts.
namespace gnnbench {
namespace {

constexpr double memory_rate = 20e9, cache_rate = 80e9, gather_rate = 10e9, wide_gather_rate = 15e9;

MachineSamples round_samples(double slowdown) {
    MachineSamples s;
    for (const double bytes : {1e6, 100e6}) {
        const double rate = (bytes < 30e6 ? cache_rate : memory_rate) / slowdown;
        s.stream.push_back({bytes, bytes, bytes / rate});
        s.stream.push_back({bytes, bytes, bytes / rate});
        s.stream.push_back({bytes, bytes * 2 / 3, bytes / (2 * rate)});  // the median of three is the other's
    }
    // 50e6 bytes in order of 100e6 in all, at the memory's rate, and 30e6 in no order.
    s.gather.push_back({30e6, 128, 50e6, 50e6, (30e6 / gather_rate + 50e6 / memory_rate) * slowdown});
    s.gather.push_back({60e6, 512, 50e6, 50e6, (60e6 / wide_gather_rate + 50e6 / memory_rate) * slowdown});
    for (const double row_s : {1e-9, 5e-9, 7e-9})
        s.uneven.push_back(
            {1000, {30e6, 128, 50e6, 50e6, 1000 * row_s + 30e6 / gather_rate + 50e6 / memory_rate}});
    // 2 · 1000 · 32 · 50 operations; 20 columns take as long as one tile of 16 and two and a half. Operands in the cache.
    const auto gemm = [&](std::int64_t n, double bytes, double operations, double rate) {
        return GemmSample{1000, n, 50, operations / rate + bytes / cache_rate};
    };
    s.gemm_float32 = {gemm(20, 4 * (50000 + 1000 + 20000), 3.2e6 / 2 * 3.5, 80e9),
                      gemm(32, 4 * (50000 + 1600 + 32000), 3.2e6, 100e9),
                      gemm(32, 4 * (50000 + 1600 + 32000), 3.2e6, 50e9),
                      gemm(32, 4 * (50000 + 1600 + 32000), 3.2e6, 80e9)};
    s.gemm_float64 = {gemm(8, 8 * (50000 + 400 + 8000), 0.8e6, 40e9)};
    // Beside a product of 10 ms and 1e6 bytes in order at the cache's rate.
    const auto walk = [&](double rate) {
        const double product_s = 10e-3 * slowdown, in_order_s = 1e6 / cache_rate * slowdown;
        return AttentionSample{1e9, 1e6, product_s + in_order_s + 1e9 / rate, product_s};
    };
    s.attention = {walk(60e9), walk(70e9), walk(80e9)};
    s.dynamic_attention = {walk(30e9), walk(40e9), walk(20e9)};
    s.empty_kernel_s = 2e-7;
    s.loss = {{16, 17e-9}, {17, 35e-9}};
    s.sharded_loss = {{16, 90e-9}};
    s.tile_columns = 4096;
    s.copy_rate = 5e9;
    for (const char* name : {"exchange", "read_rows", "all_reduce", "all_reduce_later"})
        s.operations[name] = {{64, 1e-6}, {1e6, 500e-6}};
    return s;
}

const MachineFacts facts{.name = "mine",
                         .processor = "Round \"9\" Processor",
                         .date = "2026-11-23",
                         .devices = 4,
                         .threads = 2,
                         .memory_bytes = 64'000'000'000,
                         .cache_bytes = 2'000'000};

TEST_CASE("a calibrated machine has the numbers behind its samples") {
    const std::string text = machine_text(facts, round_samples(1), round_samples(2));
    const simulation::Machine m = read_machine(text, "mine.yaml");
    CHECK(m.name == "mine");
    CHECK(m.devices() == 4);
    CHECK(m.device.memory_bytes == Approx(16e9));
    CHECK(m.device.memory_bandwidth == Approx(memory_rate));
    CHECK(m.device.cache_bandwidth == Approx(cache_rate));
    CHECK(m.device.gather_efficiency == Approx(0.5));
    CHECK(m.device.float32_rate == Approx(100e9));
    CHECK(m.device.float64_rate == Approx(40e9));
    CHECK(m.device.gemm_efficiency == Approx(0.8));
    CHECK(m.device.gemm_part_tile == Approx(2.5));
    CHECK(m.device.least_kernel_s == Approx(2e-7));
    CHECK(m.device.launch_s == 0);
    CHECK(m.device.loss.rate(16) == Approx(17e-9));
    CHECK(m.device.loss.rate(30) == Approx(35e-9));
    CHECK(m.device.sharded_loss.rate(8) == Approx(90e-9));
    CHECK(m.device.tile_columns == 4096);
    CHECK(m.device.uneven_row_s == Approx(5e-9));
    CHECK(m.device.attention_rate == Approx(70e9));
    CHECK(m.device.dynamic_attention_rate == Approx(30e9));
    CHECK(m.device.streams == 1);
    REQUIRE(m.device.stream.points.size() == 2);
    CHECK(m.device.stream.rate(1e6) == Approx(cache_rate));
    CHECK(m.device.gather.rate(1) == Approx(gather_rate).epsilon(1e-3));
    CHECK(m.device.wide_gather.rate(1) == Approx(wide_gather_rate).epsilon(1e-3));
    CHECK(m.device.shared_wide_gather.rate(1) == Approx(wide_gather_rate / 2).epsilon(1e-3));
    CHECK(m.links.measured.at("read_rows").seconds(64) == Approx(1e-6));
    CHECK(m.device.shared_stream.rate(100e6) == Approx(memory_rate / 2));
    CHECK(m.device.shared_gather.rate(1) == Approx(gather_rate / 2).epsilon(1e-3));
    CHECK(m.links.link_bandwidth == Approx(2e9));
    CHECK(m.links.measured.at("all_reduce_later").seconds(2e6) == Approx(1e-3));
    CHECK(m.links.measured.size() == 4);
    for (const simulation::Quantity& q : m.quantities) {
        INFO(q.key);
        if (q.key.starts_with("device.float32") || q.key.starts_with("links.all_reduce"))
            CHECK_THAT(q.source, Catch::StartsWith("calibrate: ") && Catch::Contains("2026-11-23") &&
                                     Catch::Contains("Round '9' Processor"));
    }
}

TEST_CASE("calibration measures one device, then all at once") {
    std::vector<std::pair<int, int>> asked;
    const auto source = [&](int ranks, int threads) {
        asked.emplace_back(ranks, threads);
        return round_samples(1);
    };
    const simulation::Machine m = read_machine(calibrated_machine("home", 2, 9, source), "home.yaml");
    CHECK(asked == std::vector<std::pair<int, int>>{{1, 2}, {4, 2}});
    CHECK(m.name == "home");
    CHECK(m.devices_per_node == 4);
    CHECK_THROWS_WITH(calibrated_machine("home", 2, 3, source),
                      Catch::Contains("3 cores cannot be two devices of 2"));
    CHECK_THROWS_WITH(calibrated_machine("my home", 1, 2, source), Catch::Contains("found 'my home'"));
    CHECK(asked.size() == 2);
}

TEST_CASE("samples travel as JSON") {
    const nlohmann::json j = to_json(round_samples(1));
    CHECK(to_json(machine_samples_from(nlohmann::json::parse(j.dump()))) == j);
}

}  // namespace
}  // namespace gnnbench
